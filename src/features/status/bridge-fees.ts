/**
 * Whether the fees of 1Click's last checked quote exceeded our cap. The API and the custodian request quotes
 * in different isolates, so KV holds the answer; it may be up to a minute old.
 * @module
 */
import type { TextStore } from './heartbeat.ts';

const KEY = 'bridge:fees';
const OVER = 'over-cap';
const WITHIN = 'within-cap';

export const createFeeWatch = (kv: TextStore) => ({
  /** Writes only changes: KV allows one write per second and key. */
  async note(isOverCap: boolean): Promise<void> {
    const state = isOverCap ? OVER : WITHIN;
    if ((await kv.get(KEY, 'text')) !== state) await kv.put(KEY, state);
  },
  isOverCap: async (): Promise<boolean> => (await kv.get(KEY, 'text')) === OVER,
});
