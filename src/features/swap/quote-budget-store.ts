/**
 * Counts quotes that reads ask of the routing provider, over all isolates. Creates have a share of their own in the
 * custodian, so reads can never use up what creates need.
 * @module
 */
import { QUOTE_WINDOW_MS } from '../../core/limits.ts';

export type QuoteBudgetStore = {
  /** Takes one quote from the window. Seconds until there is one again when it is empty. */
  take(nowMs: number, maximum: number): Promise<{ ok: true } | { ok: false; retryAfterSeconds: number }>;
};

export const createQuoteBudgetStore = (db: D1Database): QuoteBudgetStore => ({
  async take(nowMs, maximum) {
    const window = Math.floor(nowMs / QUOTE_WINDOW_MS);
    const taken = await db
      .prepare(
        `INSERT INTO quote_budget (window, used) VALUES (?, 1)
         ON CONFLICT (window) DO UPDATE SET used = used + 1 WHERE used < ? RETURNING used`,
      )
      .bind(window, maximum)
      .first<{ used: number }>();
    if (taken) return { ok: true };
    return { ok: false, retryAfterSeconds: Math.ceil(((window + 1) * QUOTE_WINDOW_MS - nowMs) / 1_000) };
  },
});
