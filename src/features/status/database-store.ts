/**
 * Reads D1 for the status: availability, columns, the newest operations, the quote count, the checks of a day and of
 * 90 days, and the resulting incidents.
 * @module
 */
import { z } from '@hono/zod-openapi';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { QUOTE_WINDOW_MS } from '../../core/call-limits.ts';
import { DAY_MS } from '../../core/durations.ts';
import type { D1Reads } from '../../http/read-session.ts';
import { component } from '../../http/router.ts';

const asOf = z.iso.datetime();

/** An operation for public display: without its natural key. */
export const OperationLine = z.object({
  kind: z.string(),
  status: z.enum(['waiting', 'finished', 'failed']),
  detail: z.string(),
  reason: z.string().nullable(),
  signature: z.string().nullable().describe('Solana signature once it is signed'),
  amountLamports: z.string().nullable().describe('Lamports that the operation moves'),
  createdAt: asOf,
  updatedAt: asOf,
});
type OperationLine = z.infer<typeof OperationLine>;

/** Length of a period of the status history. */
export const STATUS_PERIOD_MS = 30 * 60_000;
type PeriodKind = { readonly ms: number; readonly kept: number };
/** The history keeps the half hours of a day, and 90 days, plus the current half hour and day. */
const HALF_HOURS: PeriodKind = { ms: STATUS_PERIOD_MS, kept: 49 };
const DAYS: PeriodKind = { ms: DAY_MS, kept: 91 };
/** A part that fails in a single check is no incident: the next check runs a minute later. */
const SHORTEST_INCIDENT_MS = 90_000;
/** After this time without a check, the gap itself is an incident. */
const LONGEST_PAUSE_MS = 5 * 60_000;
const SHOWN_INCIDENTS = 50;

export const StatusPeriod = component('StatusPeriod', {
  startsAt: asOf,
  checks: z.int().describe('Checks that ran, one per minute'),
  failures: z.array(
    z.object({
      name: z.string().describe('custody, backing, database, or an upstream'),
      checks: z.int().describe('Checks that found it failing'),
    }),
  ),
});
type StatusPeriod = z.infer<typeof StatusPeriod>;

/** Every table of schema.sql; a test compares them. */
export const TABLES = [
  'operations',
  'quote_shares',
  'exchange_requests',
  'status_periods',
  'incidents',
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

/** Names every table, so that a missing one is an error. LIMIT 0 reads no row, so the result is empty. */
const NAME_TABLES = `SELECT 1 WHERE ${TABLES.map((table) => `EXISTS (SELECT 1 FROM ${table} LIMIT 0)`).join(' OR ')}`;

/** `effect` is one sentence about what callers noticed; `to` is null while the incident lasts. */
export const Incident = z.object({
  part: z.string().describe('A name as in failures, or checks if none ran'),
  effect: z.string(),
  from: asOf,
  to: asOf.nullable(),
});
export type Incident = z.infer<typeof Incident>;

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

  /**
   * Adds one check to the half hour and the day of this time (Unix milliseconds), begins and ends incidents, and deletes
   * what is too old.
   * @param failed failing parts with their effects
   */
  async recordCheck(nowMs: number, failed: Readonly<Record<string, string>>): Promise<void> {
    await db.batch([
      ...incidentStatements(db, nowMs, failed),
      ...periodStatements(db, nowMs, Object.keys(failed)),
    ]);
  },

  /** Half hours of the last day in which checks ran, the oldest first. */
  halfHours: (nowMs: number): Promise<StatusPeriod[]> => periodsOf(db, HALF_HOURS, nowMs),

  /** Days of the last 90 in which checks ran, the oldest first. */
  days: (nowMs: number): Promise<StatusPeriod[]> => periodsOf(db, DAYS, nowMs),

  /** The newest incidents first. */
  async incidents(nowMs: number): Promise<Incident[]> {
    const { results } = await db
      .prepare(
        `SELECT part, effect, began_at AS "from", ended_at AS "to" FROM incidents
         WHERE ended_at IS NOT NULL OR began_at <= ?1 ORDER BY began_at DESC, part LIMIT ?2`,
      )
      .bind(new Date(nowMs - SHORTEST_INCIDENT_MS).toISOString(), SHOWN_INCIDENTS)
      .all<Incident>();
    return results;
  },

  /** Quotes that reads have used in the two-hour window that contains this time (Unix milliseconds). */
  async quotesUsed(nowMs: number): Promise<number> {
    const row = await db
      .prepare("SELECT used FROM quote_shares WHERE window = ? AND client = '*'")
      .bind(Math.floor(nowMs / QUOTE_WINDOW_MS))
      .first<{ used: number }>();
    return row?.used ?? 0;
  },
});

/** @param failed names of the failing parts */
function periodStatements(db: D1Reads, nowMs: number, failed: readonly string[]): D1PreparedStatement[] {
  const failures = JSON.stringify(Object.fromEntries(failed.map((name) => [name, 1])));
  return [HALF_HOURS, DAYS].flatMap(({ ms, kept }) => {
    const period = Math.floor(nowMs / ms);
    return [
      db.prepare(ADD_CHECK).bind(ms / 1_000, period, failures, new Date(nowMs).toISOString()),
      db
        .prepare('DELETE FROM status_periods WHERE seconds = ? AND period <= ?')
        .bind(ms / 1_000, period - kept),
    ];
  });
}

const ADD_CHECK = `INSERT INTO status_periods (seconds, period, checks, failures, last_at) VALUES (?1, ?2, 1, ?3, ?4)
  ON CONFLICT (seconds, period) DO UPDATE SET checks = checks + 1, last_at = excluded.last_at, failures = (
    SELECT json_group_object(key, total) FROM (
      SELECT key, sum(value) AS total FROM (
        SELECT key, value FROM json_each(status_periods.failures)
        UNION ALL SELECT key, value FROM json_each(excluded.failures))
      GROUP BY key))`;

/** Runs before the check itself is added: the time of the previous check shows whether checks were missed. */
function incidentStatements(db: D1Reads, nowMs: number, failed: Readonly<Record<string, string>>) {
  const at = (ago: number): string => new Date(nowMs - ago).toISOString();
  const parts = JSON.stringify(failed);
  const over = 'ended_at IS NULL AND part NOT IN (SELECT key FROM json_each(?1))';
  return [
    db
      .prepare(
        `INSERT OR IGNORE INTO incidents (began_at, part, effect, ended_at)
         SELECT max(last_at), 'checks', 'No check ran: the scheduled work or the database was down.', ?1
         FROM status_periods HAVING max(last_at) < ?2`,
      )
      .bind(at(0), at(LONGEST_PAUSE_MS)),
    db.prepare(`DELETE FROM incidents WHERE ${over} AND began_at > ?2`).bind(parts, at(SHORTEST_INCIDENT_MS)),
    db.prepare(`UPDATE incidents SET ended_at = ?2 WHERE ${over}`).bind(parts, at(0)),
    db
      .prepare(
        'INSERT OR IGNORE INTO incidents (began_at, part, effect) SELECT ?2, key, value FROM json_each(?1)',
      )
      .bind(parts, at(0)),
    db.prepare('DELETE FROM incidents WHERE began_at < ?1 AND ended_at < ?1').bind(at(DAYS.kept * DAYS.ms)),
  ];
}

async function periodsOf(db: D1Reads, { ms, kept }: PeriodKind, nowMs: number): Promise<StatusPeriod[]> {
  const { results } = await db
    .prepare(
      'SELECT period, checks, failures FROM status_periods WHERE seconds = ? AND period > ? ORDER BY period LIMIT ?',
    )
    .bind(ms / 1_000, Math.floor(nowMs / ms) - kept, kept)
    .all<{ period: number; checks: number; failures: string }>();
  return results.map(({ period, checks, failures }) => ({
    startsAt: new Date(period * ms).toISOString(),
    checks,
    failures: Object.entries(JSON.parse(failures) as Record<string, number>).map(([name, count]) => ({
      name,
      checks: count,
    })),
  }));
}

/**
 * A short name of a database schema: the same columns give the same name, regardless of their order and of
 * the statements that created them.
 *
 * @param columns each as `table.column`
 */
export const schemaFingerprint = (columns: readonly string[]): string =>
  bytesToHex(sha256(utf8ToBytes([...columns].sort().join('\n')))).slice(0, 12);
