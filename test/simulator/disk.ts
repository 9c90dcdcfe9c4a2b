/**
 * The durable storage of one object: SQLite in memory, with one transaction open around everything that is not durable
 * yet. A crash rolls it back, a sync commits it.
 * @module
 */
import type { SqlRow, SqlValue } from '../../src/custody/kernel/ports.ts';
import { openSql } from '../kit/sql.ts';

/** All rows of all tables. */
export type Contents = readonly { readonly table: string; readonly rows: readonly SqlRow[] }[];

export type Disk = {
  exec(query: string, params: readonly SqlValue[]): SqlRow[];
  transaction<T>(work: () => T): T;
  /** Makes all writes so far survive a crash. */
  commit(): void;
  /** Drops uncommitted writes. */
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

/** A second disk with the same rows, which a replaced instance continues to use. */
export function copyDisk(disk: Disk): Disk {
  const copy = takeDisk();
  for (const statement of (disk as Pooled).schema()) copy.exec(statement, []);
  copy.load(disk.contents());
  return copy;
}

const NO_ROWS: SqlRow[] = [];
const IS_READ = /^\s*SELECT\b/;
const HAS_LIMIT = /\bLIMIT \?\s*$/;
const IS_WRITE = /^\s*(?:INSERT|UPDATE|DELETE)\b/;
/** For a few rows, an index costs more than it saves. A unique index is a rule and stays. */
const IS_INDEX = /^\s*CREATE INDEX\b/;

function openDisk(): Pooled {
  const { prepared, all, transaction } = openSql();

  function exec(sql: string, params: readonly SqlValue[]): SqlRow[] {
    if (IS_INDEX.test(sql)) return NO_ROWS;
    // SQLite plans a statement again whenever the parameter of a LIMIT is bound, which costs more than its execution.
    if (HAS_LIMIT.test(sql))
      return exec(sql.replace(HAS_LIMIT, `LIMIT ${Number(params.at(-1))}`), params.slice(0, -1));
    if (IS_READ.test(sql)) return all(sql, params);
    const { changes } = prepared(sql).run(...params);
    if (changes !== 0 || !IS_WRITE.test(sql)) isDirty = true;
    return NO_ROWS;
  }
  const run = (query: string): void => void prepared(query).run();
  /** Something was written since the last commit. */
  let isDirty = false;
  run('BEGIN');

  const tables = (): string[] =>
    exec(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`, []).map((row) =>
      String(row.name),
    );

  return {
    exec,

    transaction,

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
