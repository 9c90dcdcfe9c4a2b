/**
 * Counts the routing provider's quotes used by reads, over all isolates. Creates have their own budget in the
 * custodian, so reads can never use it up.
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { fairShare, networksOf } from '../../core/client-network.ts';
import { QUOTE_WINDOW_MS } from '../../core/limits.ts';

export type QuoteBudgetStore = {
  /**
   * Takes one quote from the window. Returns the seconds until the next window when none is left.
   * @param client limited to a fair share; null for the service's own reads
   */
  take(
    nowMs: number,
    maximum: number,
    client: string | null,
  ): Promise<{ ok: true } | { ok: false; retryAfterSeconds: number }>;
};

const hashOf = (network: string): string => bytesToHex(sha256(utf8ToBytes(network)).subarray(0, 16));

export const createQuoteBudgetStore = (db: D1Database): QuoteBudgetStore => ({
  async take(nowMs, maximum, client) {
    const window = Math.floor(nowMs / QUOTE_WINDOW_MS);
    const spent = {
      ok: false as const,
      retryAfterSeconds: Math.ceil(((window + 1) * QUOTE_WINDOW_MS - nowMs) / 1_000),
    };
    // Stores a value that distinguishes addresses, not the addresses themselves.
    const levels = (client === null ? [] : networksOf(client)).map(({ network, times }) => ({
      network: hashOf(network),
      times,
    }));
    if (levels.length > 0) {
      const [total, shares] = await db.batch<{ client: string; used: number }>([
        db.prepare('SELECT used FROM quote_budget WHERE window = ?').bind(window),
        db
          .prepare(
            `SELECT client, used FROM quote_shares WHERE window = ? AND client IN (${levels.map(() => '?').join(', ')})`,
          )
          .bind(window, ...levels.map(({ network }) => network)),
      ]);
      const used = total?.results[0]?.used ?? 0;
      const isOver = levels.some(({ network, times }) => {
        const own = shares?.results.find((row) => row.client === network)?.used ?? 0;
        return own >= times * fairShare(maximum, used, own);
      });
      if (isOver) return spent;
    }
    const taken = await db
      .prepare(
        `INSERT INTO quote_budget (window, used) VALUES (?, 1)
         ON CONFLICT (window) DO UPDATE SET used = used + 1 WHERE used < ? RETURNING used`,
      )
      .bind(window, maximum)
      .first<{ used: number }>();
    if (!taken) return spent;
    if (levels.length > 0) {
      await db.batch([
        ...levels.map(({ network }) =>
          db
            .prepare(
              `INSERT INTO quote_shares (window, client, used) VALUES (?, ?, 1)
               ON CONFLICT (window, client) DO UPDATE SET used = used + 1`,
            )
            .bind(window, network),
        ),
        db.prepare('DELETE FROM quote_shares WHERE window < ?').bind(window),
      ]);
    }
    return { ok: true };
  },
});
