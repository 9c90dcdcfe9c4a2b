import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

const SCHEMA = join(import.meta.dirname, '../../schema.sql');

/** SQLite in memory with the service's own schema, and the part of D1 over it that the stores of features use. */
export function openD1(): { readonly db: DatabaseSync; readonly d1: D1Database } {
  const db = new DatabaseSync(':memory:');
  db.exec(readFileSync(SCHEMA, 'utf8'));
  const prepare = (sql: string, params: readonly SQLInputValue[] = []) => ({
    bind: (...values: SQLInputValue[]) => prepare(sql, values),
    first: async () => db.prepare(sql).get(...params) ?? null,
    all: async () => ({ results: db.prepare(sql).all(...params) }),
  });
  const batch = (statements: readonly ReturnType<typeof prepare>[]) =>
    Promise.all(statements.map((statement) => statement.all()));
  return { db, d1: { prepare, batch } as never };
}
