/** @module-tag deep */

import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { dumpRows, insertOf, keyOf, tablesOf } from '../../scripts/backup/dump.ts';
import { useFolder } from '../kit/use-folder.ts';

const run = promisify(execFile);
const folder = useFolder('sluice-backup-');
const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_LOG_PATH: folder };

const onDatabase = (name: string) => ['--local', '--persist-to', join(folder, name)];
const d1 = async (name: string, ...args: string[]): Promise<{ results: unknown[] }[]> => {
  const { stdout } = await run(
    'npx',
    ['wrangler', 'd1', 'execute', 'sluice', '--json', '--yes', ...onDatabase(name), ...args],
    { env },
  );
  return JSON.parse(stdout) as { results: unknown[] }[];
};

/** Texts that break a dump without proper escaping. */
const HOSTILE = ["O'Brien; DROP TABLE tokens; --", 'two\nlines "quoted" \\ back', '漢字 🪙', ''];

it('a database restored from a backup equals the old one, including the search index', async () => {
  const seed = [
    ...HOSTILE.map((name, at) =>
      insertOf('tokens', {
        id: String(at),
        revision: at,
        token_id: at,
        mint_address: `mint-${at}`,
        creator_address: null,
        name: `${name} token`,
        symbol: 'TOK',
        listed_at: at === 3 ? null : '2026-11-20T00:00:00.000Z',
        created_at: '2026-11-20T00:00:00.000Z',
        journal: JSON.stringify({ name }),
      }),
    ),
    // More rows than one page has.
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5200)
     INSERT INTO alarms (name, since, things) SELECT 'n' || i, '2026-11-20', i % 2 FROM n;`,
    insertOf('mirror_marks', { name: 'journal', revision: 1200, filler: null }),
  ];
  const seedFile = join(folder, 'seed.sql');
  const schema = readFileSync('schema.sql', 'utf8');
  writeFileSync(seedFile, [schema, ...seed].join('\n'));
  await d1('old', '--file', seedFile);

  const backup = join(folder, 'backup.sql');
  const args = ['scripts/backup.ts', backup, '--', ...onDatabase('old')];
  const { stdout, stderr } = await run(process.execPath, args, { env });
  expect(stdout).toMatch(/^Target: D1 by wrangler --local /);
  expect(stdout).toContain('5205 rows');
  expect(stderr).toMatch(/^5000 rows of alarms read\n[\s\S]*^5200 rows of alarms read$/m);
  expect(statSync(backup).mode & 0o777).toBe(0o600);
  await expect(run(process.execPath, args, { env })).rejects.toMatchObject({ code: 2 });

  const restoreFile = join(folder, 'restore.sql');
  writeFileSync(restoreFile, schema + readFileSync(backup, 'utf8'));
  await d1('new', '--file', restoreFile);
  const all = tablesOf(schema)
    .map((table) => `SELECT '${table}', * FROM ${table} ORDER BY 1, 2`)
    .join('; ');
  const search = "SELECT rowid, name FROM tokens_text WHERE tokens_text MATCH 'token' ORDER BY rowid";
  const [old, restored] = await Promise.all(
    ['old', 'new'].map(async (name) =>
      (await d1(name, '--command', `${all}; ${search}`)).map(({ results }) => results),
    ),
  );
  expect(restored).toEqual(old);
  expect(old?.at(-1)).toHaveLength(3);
});

it('refuses to make a backup, with one line of explanation, when wrangler is not logged in', async () => {
  const file = join(folder, 'none.sql');
  const refused = run(process.execPath, ['scripts/backup.ts', file], {
    env: { ...env, HOME: folder, XDG_CONFIG_HOME: folder, CLOUDFLARE_API_TOKEN: '' },
  });
  const message = 'wrangler is not logged in: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.\n';
  await expect(refused).rejects.toMatchObject({ code: 1, stderr: message });
  expect(existsSync(file)).toBe(false);
});

describe('a database that is written while it is read', () => {
  const schema = readFileSync('schema.sql', 'utf8');
  const share = (name: string) =>
    insertOf('alarms', { name, since: '2026-11-20', sent_at: null, things: 1, ids: '[]' });
  const mark = (name: string) =>
    insertOf('mirror_marks', { name, revision: 1, born_after: null, born_at: null, filler: null });
  const database = (...statements: string[]): DatabaseSync => {
    const db = new DatabaseSync(':memory:');
    db.exec([schema, ...statements].join('\n'));
    return db;
  };
  const read = (db: DatabaseSync, queries: readonly string[]) =>
    queries.map((query) => db.prepare(query).all() as Record<string, string | number | null>[]);

  it('a backup includes every unchanged row once while other rows are inserted and deleted', async () => {
    const names = ['b', 'c', 'd', 'e', 'f', "g'; --"];
    const db = database(...names.map(share), ...names.map(mark));
    let pages = 0;
    const statements = await dumpRows({ schema, page: 2 }, (queries) => {
      const answers = read(db, queries);
      pages += 1;
      // Rows that sort before all read ones are inserted, and read rows are deleted.
      db.exec(share(`a${pages}`));
      db.exec(`DELETE FROM mirror_marks WHERE name = '${names[pages - 1]?.replaceAll("'", "''")}'`);
      return answers;
    });
    expect(statements.filter((text) => text.includes('mirror_marks'))).toEqual(names.map(mark));
    expect(statements.filter((text) => /INTO "?alarms/.test(text))).toEqual(names.map(share));
    expect(() => database(...statements)).not.toThrow();
  });

  it('the backup pages each table by the primary key that the database reports', () => {
    const db = database();
    for (const table of tablesOf(schema)) {
      const key = db.prepare(`SELECT name FROM pragma_table_info('${table}') WHERE pk > 0 ORDER BY pk`).all();
      expect(keyOf(schema, table), table).toEqual(key.map(({ name }) => name));
    }
    expect(() => keyOf(schema, 'nowhere')).toThrow('nowhere');
  });
});
