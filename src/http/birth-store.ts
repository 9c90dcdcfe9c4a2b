/**
 * The birth of the custodian's records as D1 has it, in the row of the outbox's mark. Rows of a lost journal have revisions up
 * to that of the birth, and nothing changes them any more.
 * @module
 */
import * as z from 'zod';

/** SQL: the time of the birth that a row is older than, in Unix milliseconds; null for a row of the present records. */
export const olderThan = (table: 'operations' | 'invoices' | 'listings' | 'asry_claims'): string =>
  `(SELECT born_at FROM mirror_marks WHERE name = 'journal' AND ${table}.revision <= born_after)`;

/** The column that `olderThan` fills. */
export const bornAtColumn = z.int().nullable();

/** SQL: whether an operation has ended, and the custodian no longer checks for a late arrival: its row never changes again. */
export const IS_FINAL = `status <> 'waiting' AND json_extract(operations.journal, '$.dueAt') IS NULL`;

/** SQL: the detail of an operation, which names one that a lost journal left open. */
export const DETAIL = `CASE WHEN ${IS_FINAL} OR ${olderThan('operations')} IS NULL THEN detail ELSE 'older_than_records' END`;
