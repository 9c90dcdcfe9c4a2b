import { DAY_MS } from '../../core/limits.ts';
import type { ExchangeStore } from './exchange-store.ts';

/** How long an Idempotency-Key is known. */
const KEPT_MS = 7 * DAY_MS;

/** Forgets creates that are older; answers how many. Safe to repeat. */
export const purgeExchange = (d: {
  exchanges: Pick<ExchangeStore, 'purge'>;
  now: () => number;
}): Promise<number> => d.exchanges.purge(d.now() - KEPT_MS);
