/**
 * The birth of the custodian's records, stored in D1 in the row of the outbox's mark. Rows of a lost journal have
 * revisions up to the birth's revision, and never change again.
 * @module
 */
import * as z from 'zod';

/**
 * SQL: if the row is older than the birth, the time of the birth in Unix milliseconds; null for a row of the present
 * records.
 */
export const olderThan = (table: 'operations' | 'invoices' | 'listings' | 'asry_claims'): string =>
  `(SELECT born_at FROM mirror_marks WHERE name = 'journal' AND ${table}.revision <= born_after)`;

/** The column that `olderThan` fills. */
export const bornAtColumn = z.int().nullable();

/**
 * SQL: whether an operation has ended and the custodian no longer checks for a late arrival, so its row never changes
 * again.
 */
export const IS_FINAL = `status <> 'waiting' AND json_extract(operations.journal, '$.dueAt') IS NULL`;

/** SQL: an operation's detail, with a special value for an operation that a lost journal left open. */
export const DETAIL = `CASE WHEN ${IS_FINAL} OR ${olderThan('operations')} IS NULL THEN detail ELSE 'older_than_records' END`;
