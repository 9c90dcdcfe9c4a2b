/**
 * Swaps from D1, which mirrors the custodian's journal.
 * @module
 */
import * as z from 'zod';
import { bornAtColumn, DETAIL, IS_FINAL, olderThan } from '../../http/birth-store.ts';
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
  /**
   * True if the swap has ended and the custodian no longer checks for a late arrival, so the row never changes again.
   */
  final: z.int().transform(Boolean),
  bornAt: bornAtColumn,
});
export type SwapRow = Readonly<z.infer<typeof Row>>;

const COLUMNS = `seq, signature, status, reason, amount_lamports AS amountLamports, expected_sats AS expectedSats,
  btc_sats AS btcSats, btc_txid AS btcTxid, block_time AS blockTime,
  ${DETAIL} AS detail, ${IS_FINAL} AS final, ${olderThan('operations')} AS bornAt`;

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
