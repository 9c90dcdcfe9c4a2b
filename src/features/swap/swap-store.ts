/**
 * Swaps from D1, which mirrors the custodian's journal, and the budget of quotes for reads.
 * @module
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { CALL_LIMITS, QUOTE_WINDOW_MS } from '../../core/call-limits.ts';
import { LEAST_SHARE, networksOf, SHARES } from '../../core/client-network.ts';
import type { D1Reads } from '../../http/read-session.ts';
import { atomsColumn, rowsOf } from '../../http/stored-rows.ts';

const Row = z.object({
  /** Position in the journal; null while only the custodian has the swap. */
  seq: z.int().nullable(),
  signature: z.string(),
  status: z.enum(['waiting', 'finished', 'failed']),
  detail: z.string(),
  reason: z.string().nullable(),
  amountLamports: atomsColumn,
  expectedSats: atomsColumn.nullable(),
  btcSats: atomsColumn.nullable(),
  btcTxid: z.string().nullable(),
  /** Unix seconds of the Solana block; null until it is final. */
  blockTime: z.int().nullable(),
  /** Ended, and the custodian no longer checks for a late arrival: the row never changes again. */
  final: z.int().transform(Boolean),
});
export type SwapRow = Readonly<z.infer<typeof Row>>;

const COLUMNS = `seq, signature, status, detail, reason, amount_lamports AS amountLamports, expected_sats AS expectedSats,
  btc_sats AS btcSats, btc_txid AS btcTxid, block_time AS blockTime,
  status <> 'waiting' AND json_extract(journal, '$.dueAt') IS NULL AS final`;

export type SwapStore = ReturnType<typeof createSwapStore>;

export const createSwapStore = (db: D1Reads) => ({
  async bySignature(signature: string): Promise<SwapRow | undefined> {
    const sql = `SELECT ${COLUMNS} FROM operations WHERE signature = ? AND kind = 'swap'`;
    const [row] = await rowsOf(db, Row, sql, signature);
    return row;
  },

  /**
   * Swaps that landed on Solana, newest first. @param below exclusive upper bound of their journal positions
   */
  landed: (limit: number, below = Number.MAX_SAFE_INTEGER): Promise<SwapRow[]> =>
    rowsOf(
      db,
      Row,
      `SELECT ${COLUMNS} FROM operations WHERE kind = 'swap' AND landed_slot IS NOT NULL AND seq < ?
       ORDER BY seq DESC LIMIT ?`,
      below,
      limit,
    ),
});

export type QuoteTaken =
  | { readonly ok: true }
  | { readonly ok: false; readonly spentBy: 'client' | 'all'; readonly retryAfterSeconds: number };

const MAXIMUM = CALL_LIMITS.read_quotes.quota;

const hashOf = (network: string): string => bytesToHex(sha256(utf8ToBytes(network)).subarray(0, 16));

/** Counts the quotes of all clients together. */
const ALL = '*';

/**
 * Adds a quote to each row of ?2, or to no row if one has no quote left. All clients together may use ?3 quotes. A
 * network may use `times` the fair share of one client. D1 binds numbers as REAL, so the division needs the CAST.
 */
const TAKE = `WITH counted AS (
    SELECT value ->> 'client' AS client, value ->> 'times' AS times, COALESCE(used, 0) AS own
    FROM json_each(?2) LEFT JOIN quote_shares ON window = ?1 AND client = value ->> 'client'
  )
  INSERT INTO quote_shares (window, client, used)
  SELECT ?1, client, 1 FROM counted WHERE NOT EXISTS (
    SELECT 1 FROM counted, (SELECT own AS total FROM counted WHERE times IS NULL)
    WHERE own >= IIF(times IS NULL, ?3, times * MAX(?4, CAST((?3 - total + own) / ?5 AS INTEGER)))
  )
  ON CONFLICT (window, client) DO UPDATE SET used = used + 1 RETURNING client`;
const TOTAL = 'SELECT used FROM quote_shares WHERE window = ?1 AND client = ?2';

const windowOf = (nowMs: number): number => Math.floor(nowMs / QUOTE_WINDOW_MS);
const secondsLeft = (nowMs: number): number =>
  Math.ceil(((windowOf(nowMs) + 1) * QUOTE_WINDOW_MS - nowMs) / 1_000);

/**
 * Counts the routing provider's quotes used by reads, over all isolates. Creates have their own budget in the
 * custodian, so reads can never use it up.
 */
export class QuoteBudget {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /**
   * Takes one quote from the window. Returns the seconds until the next window when none is left, for this client or
   * for all.
   * @param client limited to a fair share; null for the service's own reads
   */
  async take(nowMs: number, client: string | null): Promise<QuoteTaken> {
    const window = windowOf(nowMs);
    // Stores a value that distinguishes addresses, not the addresses themselves.
    const levels = (client === null ? [] : networksOf(client)).map(({ network, times }) => ({
      client: hashOf(network),
      times,
    }));
    const counted = JSON.stringify([{ client: ALL, times: null }, ...levels]);
    const [taken, total] = await this.#db.batch<{ used: number }>([
      this.#db.prepare(TAKE).bind(window, counted, MAXIMUM, LEAST_SHARE, SHARES),
      this.#db.prepare(TOTAL).bind(window, ALL),
      this.#db.prepare('DELETE FROM quote_shares WHERE window < ?').bind(window),
    ]);
    if (taken?.results.length !== 0) return { ok: true };
    const used = total?.results[0]?.used ?? 0;
    return { ok: false, spentBy: used < MAXIMUM ? 'client' : 'all', retryAfterSeconds: secondsLeft(nowMs) };
  }
}
