/**
 * Reads D1 for the status: availability, columns, size and the newest operations.
 * @module
 */

import { z } from '@hono/zod-openapi';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { RECORD_TABLES } from '../../core/record-tables.ts';
import { DETAIL } from '../../http/birth-store.ts';
import type { D1Reads } from '../../http/read-session.ts';
import { within } from '../../http/within.ts';
import { inTime } from '../../providers/http.ts';

const TIMELY_MS = 10_000;

/** A call to D1 or KV that must not keep alarms from being sent. @throws AppError UPSTREAM_FAILED `timeout` */
export const timely = <T>(call: Promise<T>): Promise<T> => inTime(call, TIMELY_MS, 'storage', within);

const asOf = z.iso.datetime();

/** An operation for public display, without its natural key. */
export const OperationLine = z.object({
  kind: z.string(),
  status: z.enum(['waiting', 'finished', 'failed']),
  detail: z.string(),
  reason: z.string().nullable(),
  signature: z.string().nullable().describe('Solana signature once it is signed'),
  amountLamports: z
    .string()
    .nullable()
    .describe('Lamports that the operation moves, without network fees and rent'),
  createdAt: asOf,
  updatedAt: asOf,
});
export type OperationLine = z.infer<typeof OperationLine>;

/** Every table of schema.sql; a test compares them. */
export const TABLES = ['operations', 'alarms', 'mirror_marks', 'tokens_text', ...RECORD_TABLES] as const;

/** Names every table, so that a missing one is an error. LIMIT 0 reads no row, so the result is empty. */
const NAME_TABLES = `SELECT 1 WHERE ${TABLES.map((table) => `EXISTS (SELECT 1 FROM ${table} LIMIT 0)`).join(' OR ')}`;

export type DatabaseStore = ReturnType<typeof createDatabaseStore>;

export const createDatabaseStore = (db: D1Reads) => ({
  /** Does not read a row. @throws Error if the database does not respond, or `no such table` before its migrations */
  async ping(): Promise<void> {
    await db.prepare(NAME_TABLES).run();
  },

  /** Every column as `table.column`, including views, in no particular order; the platform's tables are excluded. */
  async columns(): Promise<string[]> {
    const { results } = await db
      .prepare(
        `SELECT m.name AS tab, c.name AS col FROM sqlite_master m, pragma_table_info(m.name) c
         WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!' AND m.name NOT LIKE '!_cf!_%' ESCAPE '!'
           AND m.name <> 'd1_migrations'`,
      )
      .all<{ tab: string; col: string }>();
    return results.map(({ tab, col }) => `${tab}.${col}`);
  },

  /** Size of the database in bytes. */
  async bytes(): Promise<number> {
    return (await db.prepare('SELECT 1').run()).meta.size_after;
  },

  /** The newest first. */
  async latestOperations(limit: number): Promise<OperationLine[]> {
    const { results } = await db
      .prepare(
        `SELECT kind, status, ${DETAIL} AS detail, reason, signature, amount_lamports AS amountLamports, created_at AS createdAt,
           updated_at AS updatedAt FROM operations ORDER BY seq DESC LIMIT ?`,
      )
      .bind(limit)
      .all<OperationLine>();
    return results;
  },
});

/**
 * A short name of a database schema: the same columns give the same name, regardless of their order and of
 * the statements that created them.
 *
 * @param columns each as `table.column`
 */
export const schemaFingerprint = (columns: readonly string[]): string =>
  bytesToHex(sha256(utf8ToBytes([...columns].sort().join('\n')))).slice(0, 12);
