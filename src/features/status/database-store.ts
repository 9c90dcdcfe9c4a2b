/**
 * The status page's reads of D1: availability, columns, the newest operations, the quote count,
 * the checks of the last day.
 * @module
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { QUOTE_WINDOW_MS } from '../../core/call-limits.ts';
import type { D1Reads } from '../../http/read-session.ts';

/** An operation for public display: without its natural key. */
export type OperationLine = {
  readonly kind: string;
  readonly status: 'waiting' | 'finished' | 'failed';
  readonly detail: string;
  readonly reason: string | null;
  readonly signature: string | null;
  /** Decimal text; null if the operation moves no SOL of its own. */
  readonly amountLamports: string | null;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** Length of a period of the status history. */
export const STATUS_PERIOD_MS = 30 * 60_000;
/** Stored periods: a day, and the current one. */
const STATUS_PERIODS = 49;

export type StatusPeriod = {
  /** ISO 8601. */
  readonly startsAt: string;
  /** Checks that ran: one per minute while the cron was on time. */
  readonly checks: number;
  /** Only parts of the service that failed at least once. */
  readonly failures: { readonly name: string; readonly checks: number }[];
};

/** Every table of schema.sql; a test compares them. */
export const TABLES = [
  'operations',
  'quote_budget',
  'quote_shares',
  'exchange_requests',
  'status_periods',
  'alarms',
  'mirror_marks',
  'invoices',
  'tokens',
  'tokens_text',
  'tokens_short',
  'tokens_letters',
  'listings',
  'refunds',
  'asry_claims',
  'asry_epochs',
  'proofs',
] as const;

/** Names every table and returns nothing: no table has rows below the limit of 0. */
const NAME_TABLES = `SELECT 1 WHERE ${TABLES.map((table) => `EXISTS (SELECT 1 FROM ${table} LIMIT 0)`).join(' OR ')}`;

export type DatabaseStore = ReturnType<typeof createDatabaseStore>;

export const createDatabaseStore = (db: D1Reads) => ({
  /** Reads no row. @throws Error when the database does not answer, or `no such table` before its migrations */
  async ping(): Promise<void> {
    await db.prepare(NAME_TABLES).run();
  },

  /**
   * Every column as `table.column`, including views, in no particular order; the platform's tables are left
   * out.
   */
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

  /** The newest first. */
  async latestOperations(limit: number): Promise<OperationLine[]> {
    const { results } = await db
      .prepare(
        `SELECT kind, status, detail, reason, signature, amount_lamports AS amountLamports, created_at AS createdAt,
           updated_at AS updatedAt FROM operations ORDER BY seq DESC LIMIT ?`,
      )
      .bind(limit)
      .all<OperationLine>();
    return results;
  },

  /** Adds one check to the period of this time (Unix milliseconds), and deletes periods older than a day. */
  async recordCheck(nowMs: number, failed: readonly string[]): Promise<void> {
    const period = Math.floor(nowMs / STATUS_PERIOD_MS);
    await db.batch([
      db
        .prepare(
          `INSERT INTO status_periods (period, checks, failures) VALUES (?1, 1, ?2)
           ON CONFLICT (period) DO UPDATE SET checks = checks + 1, failures = (
             SELECT json_group_object(key, total) FROM (
               SELECT key, sum(value) AS total FROM (
                 SELECT key, value FROM json_each(status_periods.failures)
                 UNION ALL SELECT key, value FROM json_each(excluded.failures))
               GROUP BY key))`,
        )
        .bind(period, JSON.stringify(Object.fromEntries(failed.map((name) => [name, 1])))),
      db.prepare('DELETE FROM status_periods WHERE period <= ?').bind(period - STATUS_PERIODS),
    ]);
  },

  /** Periods of the last day in which checks ran, the oldest first. */
  async statusPeriods(nowMs: number): Promise<StatusPeriod[]> {
    const { results } = await db
      .prepare('SELECT period, checks, failures FROM status_periods WHERE period > ? ORDER BY period LIMIT ?')
      .bind(Math.floor(nowMs / STATUS_PERIOD_MS) - STATUS_PERIODS, STATUS_PERIODS)
      .all<{ period: number; checks: number; failures: string }>();
    return results.map(({ period, checks, failures }) => ({
      startsAt: new Date(period * STATUS_PERIOD_MS).toISOString(),
      checks,
      failures: Object.entries(JSON.parse(failures) as Record<string, number>).map(([name, count]) => ({
        name,
        checks: count,
      })),
    }));
  },

  /** Quotes that reads have used in the window of this time (Unix milliseconds). */
  async quotesUsed(nowMs: number): Promise<number> {
    const row = await db
      .prepare('SELECT used FROM quote_budget WHERE window = ?')
      .bind(Math.floor(nowMs / QUOTE_WINDOW_MS))
      .first<{ used: number }>();
    return row?.used ?? 0;
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
