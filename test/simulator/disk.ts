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

/** A statement, with the data that find its cached result. */
type Prepared = {
  readonly statement: StatementSync;
  readonly isRead: boolean;
  /** Tables on which the result depends; for a write, the table that it changes. */
  readonly tables: readonly Table[];
  /** The table whose rows it returns or changes; if the table is empty, it returns or changes nothing. */
  readonly rows: Table | undefined;
  /**
   * A column whose value, the first parameter, selects the rows of a read. For a write, the column by which it
   * inserts or replaces exactly the row of its first parameter.
   */
  readonly key: string | undefined;
  /** The last results of a read, by parameters. */
  readonly answers: Map<string, { readonly version: number; readonly rows: SqlRow[] }>;
  /** The same statement with the number in place of the parameter of its LIMIT; undefined when it has none. */
  readonly limited: Map<SqlValue, Prepared> | undefined;
};

type Table = {
  readonly name: string;
  /** Grows with every change. */
  version: number;
  /** Number of changes to rows selected by one value of a column: by column, and by column and value. */
  readonly keyed: Map<string, number>;
  /** Undefined until it is read. */
  isEmpty: boolean | undefined;
};

const NO_ROWS: SqlRow[] = [];
const MOST_ANSWERS = 64;
const IS_READ = /^\s*SELECT\b/;
/** For a few rows, an index costs more than it saves. A unique index is a rule and stays. */
const IS_INDEX = /^\s*CREATE INDEX\b/;
const HAS_LIMIT = /\bLIMIT \?\s*$/;
/** A read selects rows by one value of a column; a write changes the row with one value of its first column. */
const READ_KEY = /^SELECT (?!DISTINCT)[\w, *]+ FROM \w+ WHERE (\w+) = \?$/;
const WRITE_KEY =
  /^INSERT INTO \w+ \((\w+)[^)]*\)\s+VALUES \(\?[^)]*\)(?:\s+ON CONFLICT (?:\((\w+)\) )?DO |$)/;
const IS_AGGREGATE = /^\s*SELECT\s+(?:COUNT|MAX|MIN|SUM|COALESCE|EXISTS)\b|\bSUM\(|\bCOUNT\(/;

/** Grows with every change, except changes to rows with other values of the column. */
const versionOf = ({ version, keyed }: Table, column: string, value: string): number =>
  version - (keyed.get(column) ?? 0) + (keyed.get(`${column} ${value}`) ?? 0);

function keyOf(query: string, isRead: boolean): string | undefined {
  if (isRead) return READ_KEY.exec(query)?.[1];
  const [, first, replaced = first] = WRITE_KEY.exec(query) ?? [];
  return replaced === first ? first : undefined;
}

function openDisk(): Pooled {
  const db = new DatabaseSync(':memory:');
  const statements = new Map<string, Prepared>();
  const known = new Map<string, Table>();
  const tableOf = (name: string): Table => {
    const table = known.get(name) ?? { name, version: 0, keyed: new Map(), isEmpty: undefined };
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
    const made: Prepared = {
      statement: db.prepare(query),
      isRead,
      tables,
      rows: needsRows ? tables[0] : undefined,
      key: tables.length === 1 ? keyOf(query, isRead) : undefined,
      answers: new Map(),
      limited: isRead && HAS_LIMIT.test(query) ? new Map() : undefined,
    };
    statements.set(query, made);
    return made;
  }

  /**
   * SQLite plans a statement again whenever the parameter of a LIMIT is bound, which costs more than its
   * execution.
   */
  function withLimit(query: Prepared, sql: string, limit: SqlValue): Prepared {
    const known = query.limited?.get(limit);
    if (known) return known;
    const made = prepared(sql.replace(HAS_LIMIT, `LIMIT ${Number(limit)}`));
    query.limited?.set(limit, made);
    return made;
  }

  /** Discards all cached results. */
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

  /** The custodian repeats the same reads between two changes, so their results are cached. */
  function read(query: Prepared, params: readonly SqlValue[]): SqlRow[] {
    const { tables, rows, answers, statement, key } = query;
    if (tables.length === 0) return statement.all(...params) as SqlRow[];
    if (rows && isEmpty(rows)) return NO_ROWS;
    const asked = params.length === 0 ? '' : params.join('\n');
    let version = 0;
    if (key !== undefined && rows) version = versionOf(rows, key, asked);
    else for (const table of tables) version += table.version;
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
    if (IS_INDEX.test(sql)) return NO_ROWS;
    const query = prepared(sql);
    if (query.limited) return read(withLimit(query, sql, params.at(-1) ?? null), params.slice(0, -1));
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
      if (query.key !== undefined)
        for (const name of [query.key, `${query.key} ${params[0]}`])
          table.keyed.set(name, (table.keyed.get(name) ?? 0) + 1);
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
