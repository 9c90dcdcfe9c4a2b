/**
 * The archive of ownership proofs from D1, which the custodian mirrors. Read only.
 * @module
 */
import * as z from 'zod';
import type { ProofRecord } from '../../custody/api.ts';
import type { D1Reads } from '../../http/read-session.ts';

const signed = z.object({ scheme: z.string(), signature: z.string() });
const Proof: z.ZodType<ProofRecord> = z.object({
  message: z.string(),
  timestamp: z.iso.datetime(),
  hash: z.string(),
  bitcoin: signed.extend({ unprefixed: z.string().nullable() }),
  solana: signed,
  offline: z.boolean(),
});
const Row = z.object({ journal: z.string() }).transform(({ journal }) => Proof.parse(JSON.parse(journal)));

export type ProofStore = ReturnType<typeof createProofStore>;

/** Ids are the times of the messages, ISO 8601 UTC, so they sort by time. */
export const createProofStore = (db: D1Reads) => ({
  async newest(): Promise<ProofRecord | undefined> {
    const row = await db.prepare('SELECT journal FROM proofs ORDER BY id DESC LIMIT 1').first();
    return row ? Row.parse(row) : undefined;
  },

  /** The last proof of a UTC date, `2026-11-20`. */
  async ofDay(day: string): Promise<ProofRecord | undefined> {
    const row = await db
      .prepare('SELECT journal FROM proofs WHERE id >= ? AND id <= ? ORDER BY id DESC LIMIT 1')
      .bind(day, `${day}T24`)
      .first();
    return row ? Row.parse(row) : undefined;
  },

  /** Newest first, signed before a time. */
  async before(timestamp: string, limit: number): Promise<ProofRecord[]> {
    const { results } = await db
      .prepare('SELECT journal FROM proofs WHERE id < ? ORDER BY id DESC LIMIT ?')
      .bind(timestamp, limit)
      .all();
    return results.map((row) => Row.parse(row));
  },
});
