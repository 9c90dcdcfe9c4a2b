/**
 * `npm run backup -- FILE`: every row of the D1 database as SQL, for a new database after its migrations.
 * Read-only. If wrangler.toml binds `ANALYTICS_DB`, the rows of that database are in a second file,
 * `FILE.analytics.sql`. `--without a,b` leaves tables out. Arguments after `--` go to `wrangler d1 execute`,
 * instead of `--remote`. If wrangler.toml contains no database id, it reads the offline world that runs on
 * this machine.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { findWorld } from '../test/world/running-world.ts';
import { dumpRows, type Row, tablesOf } from './backup/dump.ts';
import { argumentsOrUsage, readArguments, UsageError } from './command-line.ts';
import { databasesOf } from './doctor/check-environments.ts';

const PAGE = 1_000;
const Cell = z.union([z.string(), z.number(), z.null()]);
const Rows = z.array(z.record(z.string(), Cell));
const Answer = z.array(z.object({ results: Rows }));
const PLACEHOLDER = '00000000-0000-0000-0000-000000000000';

const schema = readFileSync('schema.sql', 'utf8');
const toml = readFileSync('wrangler.toml', 'utf8');
const fileOf = (file: string, database: string) => (database === 'DB' ? file : `${file}.analytics.sql`);
const USAGE = 'npm run backup -- FILE [--without a,b] [-- ARGUMENTS OF wrangler d1 execute]';
const { file, left, where } = argumentsOrUsage(USAGE, (args) => {
  const cut = args.indexOf('--');
  const own = cut < 0 ? args : args.slice(0, cut);
  const { values, positionals } = readArguments(own, { without: { type: 'string' } }, 1);
  const [path] = positionals;
  if (path === undefined) throw new UsageError('FILE is missing');
  const existing = databasesOf(toml)
    .map((database) => fileOf(path, database))
    .find((one) => existsSync(one));
  if (existing !== undefined) throw new UsageError(`${existing} already exists`);
  const without = values.without?.split(',') ?? [];
  const unknown = without.find((table) => !tablesOf(schema).includes(table));
  if (unknown !== undefined) throw new UsageError(`--without: there is no table ${unknown}`);
  return { file: path, left: without, where: cut < 0 ? undefined : args.slice(cut + 1) };
});

function readByWrangler(database: string, queries: readonly string[]): Row[][] {
  const to = where ?? ['--remote'];
  const args = ['wrangler', 'd1', 'execute', database, '--json', '--command', queries.join('; '), ...to];
  const text = execFileSync('npx', args, { encoding: 'utf8', maxBuffer: 1 << 30 });
  return Answer.parse(JSON.parse(text)).map(({ results }) => results);
}

async function readFromWorld(controlUrl: string, queries: readonly string[]): Promise<Row[][]> {
  const all: Row[][] = [];
  for (const sql of queries) {
    const response = await fetch(`${controlUrl}/worker/query`, {
      method: 'POST',
      body: JSON.stringify({ sql }),
    });
    all.push(Rows.parse(await response.json()));
  }
  return all;
}

const deployed = !toml.includes(PLACEHOLDER);
const world = where === undefined && !deployed ? findWorld() : undefined;
// The offline world reads DB only.
for (const database of world ? (['DB'] as const) : databasesOf(toml)) {
  const statements = await dumpRows({ schema, without: left, page: PAGE }, (queries) =>
    world ? readFromWorld(world.controlUrl, queries) : readByWrangler(database, queries),
  );
  const path = fileOf(file, database);
  writeFileSync(path, `${statements.join('\n')}\n`, { flag: 'wx', mode: 0o600 });
  console.log(`${statements.length} rows${world ? ` of the offline world at ${world.url}` : ''} in ${path}`);
}
