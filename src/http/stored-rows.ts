/**
 * Reads rows of D1 and checks them against a schema.
 * @module
 */
import * as z from 'zod';
import type { D1Reads } from './read-session.ts';

/** An amount that is stored as decimal text. */
export const atomsColumn = z.string().regex(/^\d+$/).transform(BigInt);

/** The column `journal`, which has the record as JSON. */
export const journalText = <T>(record: z.ZodType<T>) =>
  z.string().transform((journal) => record.parse(JSON.parse(journal)));

/** A row from which only the record is used. */
export const journalRow = <T>(record: z.ZodType<T>) =>
  z.object({ journal: journalText(record) }).transform(({ journal }) => journal);

/** Parses a row: a zod schema, or a function for rows that only the custodian writes. */
export type RowSchema<T> = { readonly parse: (row: unknown) => T };

export async function rowsOf<T>(
  db: D1Reads,
  row: RowSchema<T>,
  sql: string,
  ...params: (string | number)[]
): Promise<T[]> {
  const { results } = await db
    .prepare(sql)
    .bind(...params)
    .all();
  return results.map((found) => row.parse(found));
}
