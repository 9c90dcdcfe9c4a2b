/**
 * Swaps from D1, which mirrors the custodian's journal. Read only.
 * @module
 */
import * as z from 'zod';
import type { D1Reads } from '../../http/read-session.ts';

export type SwapRow = {
  /** Position in the journal; null while only the custodian has the swap. */
  readonly seq: number | null;
  readonly signature: string;
  readonly status: 'waiting' | 'finished' | 'failed';
  readonly detail: string;
  readonly reason: string | null;
  readonly amountLamports: bigint;
  readonly expectedSats: bigint | null;
  readonly btcSats: bigint | null;
  readonly btcTxid: string | null;
  /** Unix seconds of the Solana block; null until it is final. */
  readonly blockTime: number | null;
  /** Ended, and the custodian no longer checks for a late arrival: the row never changes again. */
  readonly final: boolean;
};

const atoms = z.string().regex(/^\d+$/).transform(BigInt);
const Row = z
  .object({
    signature: z.string(),
    status: z.enum(['waiting', 'finished', 'failed']),
    detail: z.string(),
    reason: z.string().nullable(),
    amount_lamports: atoms,
    expected_sats: atoms.nullable(),
    btc_sats: atoms.nullable(),
    btc_txid: z.string().nullable(),
    block_time: z.int().nullable(),
    seq: z.int(),
    final: z.int(),
  })
  .transform(
    (row): SwapRow => ({
      seq: row.seq,
      signature: row.signature,
      status: row.status,
      detail: row.detail,
      reason: row.reason,
      amountLamports: row.amount_lamports,
      expectedSats: row.expected_sats,
      btcSats: row.btc_sats,
      btcTxid: row.btc_txid,
      blockTime: row.block_time,
      final: row.final === 1,
    }),
  );

const COLUMNS = `seq, signature, status, detail, reason, amount_lamports, expected_sats, btc_sats, btc_txid, block_time,
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
