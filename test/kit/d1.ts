/** D1 with the service's own schema, over SQLite in memory. Batches are atomic. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SqlRow, SqlValue } from '../../src/custody/kernel/ports.ts';
import { openSql } from './sql.ts';

export type Statement = { readonly sql: string; readonly params: readonly SqlValue[] };
type Results = { results: SqlRow[] }[];
/** What may keep a call from the database: throws, or decides when and whether a batch is committed. */
export type Gate = { reach(): void; write(batch: readonly Statement[], commit: () => Results): Results };

const SCHEMA = readFileSync(join(import.meta.dirname, '../../schema.sql'), 'utf8');
const OPEN: Gate = { reach: () => undefined, write: (_batch, commit) => commit() };
/** Tables that the custodian writes. */
export const TABLES = [
  ...['operations', 'invoices', 'listings', 'tokens', 'refunds', 'asry_claims', 'asry_epochs', 'proofs'],
  'mirror_marks',
];

/** @param schema its text, or a part of it */
export function createDatabase(schema = SCHEMA): DatabaseSync {
  const db = new DatabaseSync(':memory:');
  db.exec(schema);
  return db;
}

export function openD1(gate: Gate = OPEN, db = createDatabase()) {
  const { all: run, transaction } = openSql(db);
  const atomically = (batch: readonly Statement[]): Results =>
    transaction(() => batch.map(({ sql, params }) => ({ results: run(sql, params) })));
  const prepare = (sql: string, params: readonly SqlValue[] = []) => ({
    sql,
    params,
    bind: (...values: SqlValue[]) => prepare(sql, values),
    async first() {
      gate.reach();
      return run(sql, params)[0] ?? null;
    },
    async all() {
      gate.reach();
      return { results: run(sql, params) };
    },
  });
  const d1 = {
    prepare: (sql: string) => prepare(sql),
    async batch(batch: readonly Statement[]) {
      gate.reach();
      return gate.write(batch, () => atomically(batch));
    },
  };
  /** Rows of a table in the order of their ids, whatever the gate does. */
  const rows = (table: string): SqlRow[] => run(`SELECT * FROM ${table} ORDER BY 1`);
  /** Also empties the search index: no trigger does so when a token is deleted. */
  const clear = (): void => {
    for (const table of [...TABLES, 'tokens_text']) run(`DELETE FROM ${table}`);
  };
  return {
    db,
    model: d1,
    d1: d1 as never as D1Database,
    rows,
    clear,
    /** The returned function restores the present rows. */
    remember(): () => void {
      const kept = TABLES.map((table) => [table, rows(table)] as const);
      return () => {
        clear();
        for (const [table, list] of kept)
          for (const row of list) {
            const columns = Object.keys(row);
            const places = columns.map(() => '?').join(', ');
            run(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`, Object.values(row));
          }
      };
    },
  };
}
