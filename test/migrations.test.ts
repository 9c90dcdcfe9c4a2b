import { readdirSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';

type Row = Record<string, string | number | null>;

const FOLDER = 'migrations';
const FILES = readdirSync(FOLDER).sort();
const SCHEMA = readFileSync('schema.sql', 'utf8');

function open(...scripts: readonly string[]): DatabaseSync {
  const db = new DatabaseSync(':memory:');
  for (const script of scripts) db.exec(script);
  return db;
}

const migrate = (db: DatabaseSync, files: readonly string[]): void => {
  for (const file of files) db.exec(readFileSync(`${FOLDER}/${file}`, 'utf8'));
};

/** Every object of the database with its statement, without comments and layout. */
function objectsOf(db: DatabaseSync): string[] {
  const rows = db.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY type, name').all() as Row[];
  return rows.map(({ type, name, sql }) => {
    const plain = String(sql).replaceAll(/--[^\n]*/g, ' ');
    return `${type} ${name}: ${plain.replaceAll(/\s+/g, ' ').replaceAll(/ ?([(),]) ?/g, '$1')}`;
  });
}

/** Tables that hold rows of their own; those of the search index are filled by triggers. */
const tablesOf = (db: DatabaseSync): string[] =>
  (
    db.prepare(`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'`).all() as Row[]
  ).flatMap(({ name }) => (String(name).startsWith('sqlite_') ? [] : [String(name)]));

/** Inserts rows that satisfy every constraint, with a value in each column. */
function fill(db: DatabaseSync, table: string): void {
  const sql = String(db.prepare('SELECT sql FROM sqlite_master WHERE name = ?').get(table)?.sql);
  const columns = db.prepare('SELECT name, type FROM pragma_table_info(?)').all(table) as Row[];
  const only = /CHECK \(\w+ = 1\)/.test(sql);
  for (const n of only ? [1] : [1, 2, 3]) {
    const values = columns.map(({ name, type }) => {
      const allowed = new RegExp(`CHECK \\(${name} IN \\('([^']+)'`).exec(sql)?.[1];
      return allowed ?? (type === 'INTEGER' ? n : `${name}-${n}`);
    });
    const places = columns.map(() => '?').join(', ');
    db.prepare(`INSERT INTO ${table} VALUES (${places})`).run(...values);
  }
}

const rowsOf = (db: DatabaseSync, tables: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    tables.map((table) => [table, db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()]),
  );

it('numbers the migrations without a gap', () => {
  expect(FILES.map((file) => /^(\d{4})_\w+\.sql$/.exec(file)?.[1])).toEqual(
    FILES.map((_file, at) => String(at + 1).padStart(4, '0')),
  );
});

it('all migrations together produce the schema of schema.sql', () => {
  const db = open();
  migrate(db, FILES);
  expect(objectsOf(db)).toEqual(objectsOf(open(SCHEMA)));
});

it('every migration can be applied to a database created from schema.sql', () => {
  const db = open(SCHEMA);
  for (const table of tablesOf(db)) fill(db, table);
  const before = rowsOf(db, tablesOf(db));
  migrate(db, FILES);
  expect(objectsOf(db)).toEqual(objectsOf(open(SCHEMA)));
  expect(rowsOf(db, tablesOf(db))).toEqual(before);
});

describe.each(FILES.map((file, at) => ({ file, at })))('a database with rows as of $file', ({ at }) => {
  const old = (): DatabaseSync => {
    const db = open();
    migrate(db, FILES.slice(0, at + 1));
    for (const table of tablesOf(db)) fill(db, table);
    return db;
  };

  it('keeps every row through the later migrations', () => {
    const db = old();
    const tables = tablesOf(db);
    const before = rowsOf(db, tables);
    for (const table of tables) expect(before[table], table).not.toEqual([]);
    migrate(db, FILES.slice(at + 1));
    expect(rowsOf(db, tables)).toEqual(before);
    expect(objectsOf(db)).toEqual(objectsOf(open(SCHEMA)));
  });

  it('finds listed tokens by name after the later migrations', () => {
    const db = old();
    migrate(db, FILES.slice(at + 1));
    const found = db
      .prepare(`SELECT rowid FROM tokens_text WHERE tokens_text MATCH '"name-2"'`)
      .all() as Row[];
    expect(found.map(({ rowid }) => rowid)).toEqual([2]);
  });
});
