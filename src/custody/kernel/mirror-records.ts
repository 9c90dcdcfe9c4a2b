/**
 * Reads a table of the mirror from its first row to its last.
 * @module
 */
import type { Mirror, RecordTable } from './ports.ts';

const PAGE = 200;

/** @throws when D1 cannot be read */
export async function eachRecord(
  mirror: Pick<Mirror, 'recordsAfter'>,
  table: RecordTable,
  take: (journal: string) => void,
): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await mirror.recordsAfter(table, after, PAGE);
    for (const row of rows) take(row.journal);
    const last = rows[rows.length - 1];
    if (!last || rows.length < PAGE) return;
    after = last.id;
  }
}
