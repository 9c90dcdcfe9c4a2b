/**
 * Swaps from D1, which mirrors the custodian's journal, and the budget of quotes for reads.
 * @module
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { QUOTE_WINDOW_MS } from '../../core/call-limits.ts';
import { fairShare, networksOf } from '../../core/client-network.ts';
import type { SwapView } from '../../custody/api.ts';
import type { D1Reads } from '../../http/read-session.ts';

export type SwapRow = Omit<SwapView, 'expectedSats' | 'minimumSats' | 'route'> & {
  /** Position in the journal; null while only the custodian has the swap. */
  readonly seq: number | null;
  readonly expectedSats: bigint | null;
  /** Unix seconds of the Solana block; null until it is final. */
  readonly blockTime: number | null;
  /** Ended, and the custodian no longer checks for a late arrival: the row never changes again. */
  readonly final: boolean;
};

const atoms = z.string().regex(/^\d+$/).transform(BigInt);
const Row: z.ZodType<SwapRow> = z.object({
  seq: z.int(),
  signature: z.string(),
  status: z.enum(['waiting', 'finished', 'failed']),
  detail: z.string(),
  reason: z.string().nullable(),
  amountLamports: atoms,
  expectedSats: atoms.nullable(),
  btcSats: atoms.nullable(),
  btcTxid: z.string().nullable(),
  blockTime: z.int().nullable(),
  final: z.int().transform(Boolean),
});

const COLUMNS = `seq, signature, status, detail, reason, amount_lamports AS amountLamports, expected_sats AS expectedSats,
  btc_sats AS btcSats, btc_txid AS btcTxid, block_time AS blockTime,
  status <> 'waiting' AND json_extract(journal, '$.dueAt') IS NULL AS final`;

export type SwapStore = ReturnType<typeof createSwapStore>;

export const createSwapStore = (db: D1Reads) => ({
  async bySignature(signature: string): Promise<SwapRow | undefined> {
    const row = await db
      .prepare(`SELECT ${COLUMNS} FROM operations WHERE signature = ? AND kind = 'swap'`)
      .bind(signature)
      .first();
    return row ? Row.parse(row) : undefined;
  },

  /**
   * Swaps that landed on Solana, newest first. @param below exclusive upper bound of their journal positions
   */
  async landed(limit: number, below = Number.MAX_SAFE_INTEGER): Promise<SwapRow[]> {
    const { results } = await db
      .prepare(
        `SELECT ${COLUMNS} FROM operations WHERE kind = 'swap' AND landed_slot IS NOT NULL AND seq < ?
         ORDER BY seq DESC LIMIT ?`,
      )
      .bind(below, limit)
      .all();
    return results.map((row) => Row.parse(row));
  },
});

/**
 * Counts the routing provider's quotes used by reads, over all isolates. Creates have their own budget in the
 * custodian, so reads can never use it up.
 */
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
