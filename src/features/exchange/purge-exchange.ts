import { DAY_MS } from '../../core/limits.ts';
import type { ExchangeStore } from './exchange-store.ts';

/** How long an Idempotency-Key is stored. */
const KEPT_MS = 7 * DAY_MS;

/** Deletes older creates and returns their number. Safe to repeat. */
export const purgeExchange = (d: {
  exchanges: Pick<ExchangeStore, 'purge'>;
  now: () => number;
}): Promise<number> => d.exchanges.purge(d.now() - KEPT_MS);
