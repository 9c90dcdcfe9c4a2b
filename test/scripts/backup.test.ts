import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { insertOf, tablesOf } from '../../scripts/backup/dump.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'sluice-backup-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
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

/** Texts that a careless dump would break on. */
const HOSTILE = ["O'Brien; DROP TABLE tokens; --", 'two\nlines "quoted" \\ back', '漢字 🪙', ''];

it('a database is the same after its backup went into a new one, search index included', async () => {
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
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
     INSERT INTO pageviews (id, at_ms, path, referrer, ip) SELECT i, 1763596800000 + i, '/p' || i, '', NULL FROM n;`,
    insertOf('pageview_periods', { period: 'total', pageviews: 1200, visitors: 0, bots: 1 }),
  ];
  const seedFile = join(folder, 'seed.sql');
  const schema = readFileSync('schema.sql', 'utf8');
  writeFileSync(seedFile, [schema, ...seed].join('\n'));
  await d1('old', '--file', seedFile);

  const backup = join(folder, 'backup.sql');
  const args = ['scripts/backup.ts', backup, '--', ...onDatabase('old')];
  const { stdout } = await run(process.execPath, args, { env });
  expect(stdout).toContain('1205 rows');
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
