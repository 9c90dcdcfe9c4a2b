/**
 * The durable storage of one object: SQLite in memory, with one transaction open around everything that is not durable
 * yet. A crash rolls it back, a sync commits it.
 * @module
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { SqlRow, SqlValue } from '../../src/custody/kernel/ports.ts';

/** All rows of all tables. */
export type Contents = readonly { readonly table: string; readonly rows: readonly SqlRow[] }[];

export type Disk = {
  exec(query: string, params: readonly SqlValue[]): SqlRow[];
  transaction<T>(work: () => T): T;
  /** What is written so far survives a crash. */
  commit(): void;
  /** What was not committed is gone. */
  rollback(): void;
  contents(): Contents;
  /** Replaces everything, durably. */
  load(contents: Contents): void;
};

type Pooled = Disk & { readonly schema: () => string[] };

const free: Pooled[] = [];

/** An empty disk. Tables of an earlier use may exist; their rows do not. */
export function takeDisk(): Disk {
  const disk = free.pop() ?? openDisk();
  disk.load([]);
  return disk;
}

export function returnDisk(disk: Disk): void {
  free.push(disk as Pooled);
}

/** A second disk with the same rows: what a replaced instance goes on with. */
export function copyDisk(disk: Disk): Disk {
  const copy = takeDisk();
  for (const statement of (disk as Pooled).schema()) copy.exec(statement, []);
  copy.load(disk.contents());
  return copy;
}

function openDisk(): Pooled {
  const db = new DatabaseSync(':memory:');
  const statements = new Map<string, StatementSync>();
  const prepared = (query: string): StatementSync => {
    let statement = statements.get(query);
    if (!statement) {
      statement = db.prepare(query);
      statements.set(query, statement);
    }
    return statement;
  };
  const exec = (query: string, params: readonly SqlValue[]): SqlRow[] => {
    isDirty ||= !query.startsWith('SELECT');
    return prepared(query).all(...params) as SqlRow[];
  };
  const run = (query: string): void => void prepared(query).run();
  let depth = 0;
  /** Something was written since the last commit. */
  let isDirty = false;
  run('BEGIN');

  const tables = (): string[] =>
    exec(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`, []).map((row) =>
      String(row.name),
    );

  return {
    exec,

    transaction(work) {
      const name = `nested${depth}`;
      run(`SAVEPOINT ${name}`);
      depth++;
      try {
        const result = work();
        run(`RELEASE ${name}`);
        return result;
      } catch (error) {
        run(`ROLLBACK TO ${name}`);
        run(`RELEASE ${name}`);
        throw error;
      } finally {
        depth--;
      }
    },

    commit() {
      if (!isDirty) return;
      isDirty = false;
      run('COMMIT');
      run('BEGIN');
    },

    rollback() {
      isDirty = false;
      run('ROLLBACK');
      run('BEGIN');
    },

    contents: () => tables().map((table) => ({ table, rows: exec(`SELECT * FROM ${table}`, []) })),

    load(contents) {
      for (const table of tables()) exec(`DELETE FROM ${table}`, []);
      for (const { table, rows } of contents) {
        for (const row of rows) {
          const columns = Object.keys(row);
          const values = columns.map(() => '?').join(', ');
          exec(
            `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values})`,
            columns.map((column) => row[column] ?? null),
          );
        }
      }
      run('COMMIT');
      run('BEGIN');
    },

    schema: () =>
      exec(
        `SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, name`,
        [],
      ).map((row) => String(row.sql).replace(/^CREATE (TABLE|INDEX) (?!IF)/, 'CREATE $1 IF NOT EXISTS ')),
  };
}
