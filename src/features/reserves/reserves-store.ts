/**
 * Mints of ABSR, swaps whose sats have arrived, and the archive of ownership proofs. Read from D1's mirror of
 * the custodian's journal.
 * @module
 */
import * as z from 'zod';
import { ProofRecord } from '../../custody/api.ts';
import type { D1Reads } from '../../http/read-session.ts';
import { atomsColumn, journalRow, rowsOf } from '../../http/stored-rows.ts';

const AbsrRow = z.object({
  /** Solana signature. */
  signature: z.string(),
  /** Bitcoin txid of the sats that a swap delivered (an issue); null for a mint. */
  txId: z.string().nullable(),
  type: z.enum(['mint', 'issue']),
  amountSats: atomsColumn,
  /** Micro-dollars per BTC when it was signed; null when no price was known. */
  btcUsd: atomsColumn.nullable(),
  /** Unix seconds of the Solana block. */
  blockTime: z.int().nullable(),
  /** Position in the journal. */
  seq: z.int(),
});
export type AbsrTransaction = Readonly<z.infer<typeof AbsrRow>>;

const rows = (where: string): string => `SELECT seq, signature, btc_txid AS txId, block_time AS blockTime,
    CASE kind WHEN 'absr' THEN 'mint' ELSE 'issue' END AS type,
    CASE kind WHEN 'swap' THEN btc_sats ELSE json_extract(journal, '$.plan.mintSats') END AS amountSats,
    json_extract(journal, '$.plan.priceBtcUsd') AS btcUsd
  FROM operations INDEXED BY operations_absr_by_time
  WHERE kind IN ('swap', 'absr') AND status = 'finished' AND ${where}`;

const SAME_TIME = `${rows('COALESCE(block_time, 0) = ?1 AND seq < ?2')} ORDER BY seq DESC LIMIT ?3`;
const EARLIER = `${rows('COALESCE(block_time, 0) < ?1')} ORDER BY COALESCE(block_time, 0) DESC, seq DESC LIMIT ?3`;
// Two index ranges: the planner does not use an expression index for the row value (at, seq) < (?1, ?2).
const NEWEST = `SELECT * FROM (${SAME_TIME}) UNION ALL SELECT * FROM (${EARLIER}) LIMIT ?3`;

/** Block time and journal position of a row; a row without a block time is treated as the oldest. */
export type AbsrKey = readonly [blockTime: number, seq: number];
export const absrKey = ({ blockTime, seq }: AbsrTransaction): AbsrKey => [blockTime ?? 0, seq];
const BEYOND_ALL: AbsrKey = [Number.MAX_SAFE_INTEGER, 0];

/** The newest change of an ended operation, token listing, refund or proof. A proof's id is its time. */
const LAST_CHANGE = `SELECT MAX(at) AS at FROM (
  SELECT MAX(updated_at) AS at FROM operations INDEXED BY operations_ended WHERE status <> 'waiting' AND updated_at <= ?1
  UNION ALL SELECT MAX(listed_at) FROM tokens INDEXED BY tokens_listed_at WHERE listed_at <= ?1
  UNION ALL SELECT MAX(created_at) FROM refunds WHERE created_at <= ?1
  UNION ALL SELECT MAX(id) FROM proofs WHERE id <= ?1)`;

/**
 * Unix ms of the last change of an ended operation or payment, or of the newest proof; 0 without any. A time in the
 * future was stored while a clock was ahead. If it were used, every value would be loaded again each second until that
 * time.
 * @param db the primary: a replica may lag
 */
export async function readLastChange(db: Pick<D1Database, 'prepare'>, now: number): Promise<number> {
  const at = await db.prepare(LAST_CHANGE).bind(new Date(now).toISOString()).first<string>('at');
  return at === null ? 0 : Date.parse(at);
}

export type AbsrStore = ReturnType<typeof createAbsrStore>;

export const createAbsrStore = (db: D1Reads) => ({
  /** Newest first. @param after key of the last row shown */
  newest: (limit: number, after: AbsrKey = BEYOND_ALL): Promise<AbsrTransaction[]> =>
    rowsOf(db, AbsrRow, NEWEST, ...after, limit),
});

const ProofRow = journalRow(ProofRecord);

export type ProofStore = ReturnType<typeof createProofStore>;

/** Length of the date in an ISO 8601 time. */
const DAY_LENGTH = 10;
/** Sorts after every time. */
const AFTER_ALL_TIMES = '~';

/**
 * Revisions follow the chain of hashes. Times do not: a proof that was signed while the clock was ahead has a later time
 * than the proofs that follow it.
 */
const chain = (where = ''): string => `SELECT journal FROM proofs ${where} ORDER BY revision DESC LIMIT ?1`;
const revisionAt = (condition: string): string =>
  `(SELECT revision FROM proofs WHERE id ${condition} ?2 ORDER BY id DESC LIMIT 1)`;
const NEWEST_PROOFS = chain();
const AFTER = chain(`WHERE revision < ${revisionAt('<=')}`);
const BEFORE = chain(`WHERE revision <= ${revisionAt('<')}`);

/** Searches the index once per day, regardless of the number of proofs on that day. */
const DAILY = `WITH RECURSIVE days (id) AS (
    SELECT MAX(id) FROM proofs WHERE id < ?2
    UNION ALL SELECT (SELECT MAX(id) FROM proofs WHERE id < substr(days.id, 1, 10)) FROM days WHERE days.id IS NOT NULL LIMIT ?1
  ) SELECT journal FROM days JOIN proofs USING (id) ORDER BY id DESC`;

/**
 * Where a page starts.
 * @property after time of the last proof that was shown
 * @property before the page starts at the newest proof from before this time
 */
export type ProofPlace = { readonly after?: string | undefined; readonly before?: string | undefined };

/** Ids are the times of the messages, ISO 8601 UTC. */
export const createProofStore = (db: D1Reads) => ({
  async newest(): Promise<ProofRecord | undefined> {
    const [newest] = await rowsOf(db, ProofRow, NEWEST_PROOFS, 1);
    return newest;
  },

  /** Newest first: each proof names the next one of the list. */
  list(limit: number, { after, before }: ProofPlace = {}): Promise<ProofRecord[]> {
    if (after !== undefined) return rowsOf(db, ProofRow, AFTER, limit, after);
    if (before !== undefined) return rowsOf(db, ProofRow, BEFORE, limit, before);
    return rowsOf(db, ProofRow, NEWEST_PROOFS, limit);
  },

  /** The last proof of each UTC day, by the proofs' times. The day of the last proof shown is over. */
  listDaily: (limit: number, { before = AFTER_ALL_TIMES, after }: ProofPlace = {}) =>
    rowsOf(db, ProofRow, DAILY, limit, after?.slice(0, DAY_LENGTH) ?? before),
});
