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

/** One statement, with what is needed to know its answer without running it. */
type Prepared = {
  readonly statement: StatementSync;
  readonly isRead: boolean;
  /** Tables that the answer depends on; for a write, the table that it changes. */
  readonly tables: readonly Table[];
  /** The table whose rows it returns or changes: without rows there, nothing is returned or changed. */
  readonly rows: Table | undefined;
  /** The last answers of a read, by parameters. */
  readonly answers: Map<string, { readonly version: number; readonly rows: SqlRow[] }>;
};

/** `version` grows with every change; `isEmpty` is undefined until it is read. */
type Table = { readonly name: string; version: number; isEmpty: boolean | undefined };

const NO_ROWS: SqlRow[] = [];
const MOST_ANSWERS = 64;
const IS_READ = /^\s*SELECT\b/;
const IS_AGGREGATE = /^\s*SELECT\s+(?:COUNT|MAX|MIN|SUM|COALESCE|EXISTS)\b|\bSUM\(|\bCOUNT\(/;

function openDisk(): Pooled {
  const db = new DatabaseSync(':memory:');
  const statements = new Map<string, Prepared>();
  const known = new Map<string, Table>();
  const tableOf = (name: string): Table => {
    const table = known.get(name) ?? { name, version: 0, isEmpty: undefined };
    known.set(name, table);
    return table;
  };

  function prepared(query: string): Prepared {
    const found = statements.get(query);
    if (found) return found;
    const isRead = IS_READ.test(query);
    const pattern = isRead
      ? /\b(?:FROM|JOIN)\s+(\w+)\b(?!\()/g
      : /^\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)/g;
    const names = [...query.matchAll(pattern)].map(([, name = '']) => name);
    const isStored = names.every((name) => !/^(?:sqlite_|pragma_|json_)/.test(name));
    const tables = isStored ? [...new Set(names)].map(tableOf) : [];
    const needsRows = isRead ? !IS_AGGREGATE.test(query) : !/^\s*INSERT/.test(query);
    const statement = db.prepare(query);
    const made = { statement, isRead, tables, rows: needsRows ? tables[0] : undefined, answers: new Map() };
    statements.set(query, made);
    return made;
  }

  /** Whatever was remembered of the rows is not known any more. */
  function forget(): void {
    for (const table of known.values()) {
      table.version++;
      table.isEmpty = undefined;
    }
  }

  function isEmpty(table: Table): boolean {
    table.isEmpty ??= prepared(`SELECT 1 FROM ${table.name} LIMIT 1`).statement.all().length === 0;
    return table.isEmpty;
  }

  /** The custodian asks the same question many times between two changes: the answer is read once. */
  function read(query: Prepared, params: readonly SqlValue[]): SqlRow[] {
    const { tables, rows, answers, statement } = query;
    if (tables.length === 0) return statement.all(...params) as SqlRow[];
    if (rows && isEmpty(rows)) return NO_ROWS;
    let version = 0;
    for (const table of tables) version += table.version;
    const asked = params.length === 0 ? '' : params.join('\n');
    const known = answers.get(asked);
    if (known?.version === version) return known.rows;
    const answer = { version, rows: statement.all(...params) as SqlRow[] };
    for (const row of answer.rows) Object.freeze(row);
    Object.freeze(answer.rows);
    if (answers.size >= MOST_ANSWERS) answers.clear();
    answers.set(asked, answer);
    return answer.rows;
  }

  function exec(sql: string, params: readonly SqlValue[]): SqlRow[] {
    const query = prepared(sql);
    if (query.isRead) return read(query, params);
    if (query.rows && isEmpty(query.rows)) return NO_ROWS;
    const { changes } = query.statement.run(...params);
    const [table] = query.tables;
    if (!table) {
      isDirty = true;
      forget();
    } else if (Number(changes) > 0) {
      isDirty = true;
      table.version++;
      table.isEmpty = query.rows ? undefined : false;
    }
    return NO_ROWS;
  }
  const run = (query: string): void => void prepared(query).statement.run();
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
        forget();
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
      forget();
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
