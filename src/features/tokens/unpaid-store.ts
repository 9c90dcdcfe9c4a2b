/**
 * Deletes the rows of unpaid requests in D1.
 * @module
 */
import { DAY_MS } from '../../core/durations.ts';
import { REQUEST_TABLES } from '../../core/record-tables.ts';

/**
 * Longer than the custodian keeps its own rows. Otherwise `ops republish` would write rows again that D1 has deleted.
 */
const KEPT_MS = 9 * DAY_MS;

/** Deletes expired requests without a payment, and unlisted tokens without a listing request. Safe to repeat. */
export async function purgeUnpaid(db: D1Database, now: number): Promise<void> {
  const before = new Date(now - KEPT_MS).toISOString();
  const unpaid =
    "status = 'pending' AND created_at < ?1 AND json_extract(journal, '$.view.detail') = 'expired'";
  await db.batch(
    [
      ...Object.values(REQUEST_TABLES).map((table) => `DELETE FROM ${table} WHERE ${unpaid}`),
      `DELETE FROM tokens WHERE listed_at IS NULL AND created_at < ?1
       AND NOT EXISTS (SELECT 1 FROM listings WHERE listings.token_id = tokens.token_id)`,
    ].map((statement) => db.prepare(statement).bind(before)),
  );
}
