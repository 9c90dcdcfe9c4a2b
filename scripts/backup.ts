/**
 * `npm run backup -- FILE`: every row of the D1 database as SQL, for a new database after its migrations, and the page
 * views in a second file, `FILE.page-views`. Read-only. `--without a,b` leaves tables out, and `page-views` the second
 * file, which needs API_BASE_URL and OPS_SECRET. Arguments after `--` go to `wrangler d1 execute`, instead of
 * `--remote`. If wrangler.toml contains no database id, it reads the offline world that runs on this machine.
 * `--restore FILE.page-views` puts the page views of such a file back.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { findWorld, type RunningWorld } from '../test/world/running-world.ts';
import { dumpRows, type Row, tablesOf } from './backup/dump.ts';
import { dumpPageViews, restorePageViews, type Service } from './backup/page-views.ts';
import { argumentsOrUsage, readArguments, UsageError } from './command-line.ts';

const PAGE = 1_000;
const PAGE_VIEWS = 'page-views';
const Cell = z.union([z.string(), z.number(), z.null()]);
const Rows = z.array(z.record(z.string(), Cell));
const Answer = z.array(z.object({ results: Rows }));
const PLACEHOLDER = '00000000-0000-0000-0000-000000000000';

const schema = readFileSync('schema.sql', 'utf8');
const deployed = !readFileSync('wrangler.toml', 'utf8').includes(PLACEHOLDER);
const { API_BASE_URL: url, OPS_SECRET: secret } = process.env;
const worldOfMachine = (): RunningWorld | undefined => (deployed || url ? undefined : findWorld());

/** The service whose operator's route has the page views. */
function serviceOf(world: RunningWorld | undefined): Service {
  const service = world ? { url: world.url, secret: world.bindings.OPS_SECRET } : { url, secret };
  if (service.url && service.secret) return { url: service.url, secret: service.secret };
  throw new UsageError(`Set API_BASE_URL and OPS_SECRET for the page views, or pass --without ${PAGE_VIEWS}`);
}

const USAGE = `npm run backup -- FILE [--without a,b] [-- ARGUMENTS OF wrangler d1 execute]
npm run backup -- --restore FILE.${PAGE_VIEWS}`;
const asked = argumentsOrUsage(USAGE, (args) => {
  const cut = args.indexOf('--');
  const options = { without: { type: 'string' }, restore: { type: 'string' } } as const;
  const { values, positionals } = readArguments(cut < 0 ? args : args.slice(0, cut), options, 1);
  if (values.restore !== undefined) {
    if (!existsSync(values.restore)) throw new UsageError(`${values.restore} does not exist`);
    return { restore: values.restore, service: serviceOf(worldOfMachine()) };
  }
  const [file] = positionals;
  if (file === undefined) throw new UsageError('FILE is missing');
  const existing = [file, `${file}.${PAGE_VIEWS}`].find((one) => existsSync(one));
  if (existing !== undefined) throw new UsageError(`${existing} already exists`);
  const without = values.without?.split(',') ?? [];
  const unknown = without.find((table) => table !== PAGE_VIEWS && !tablesOf(schema).includes(table));
  if (unknown !== undefined) throw new UsageError(`--without: there is no table ${unknown}`);
  const where = cut < 0 ? undefined : args.slice(cut + 1);
  const world = where === undefined ? worldOfMachine() : undefined;
  return {
    file,
    without,
    where,
    world,
    service: without.includes(PAGE_VIEWS) ? undefined : serviceOf(world),
  };
});

function readByWrangler(queries: readonly string[], where: readonly string[]): Row[][] {
  const args = ['wrangler', 'd1', 'execute', 'DB', '--json', '--command', queries.join('; '), ...where];
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

if (asked.restore !== undefined) {
  const rows = await restorePageViews(asked.service, readFileSync(asked.restore, 'utf8'));
  console.log(`${rows} rows of ${asked.restore} are restored.`);
} else {
  const { file, without, where, world, service } = asked;
  const statements = await dumpRows({ schema, without, page: PAGE }, (queries) =>
    world ? readFromWorld(world.controlUrl, queries) : readByWrangler(queries, where ?? ['--remote']),
  );
  writeFileSync(file, `${statements.join('\n')}\n`, { flag: 'wx', mode: 0o600 });
  console.log(`${statements.length} rows${world ? ` of the offline world at ${world.url}` : ''} in ${file}`);
  if (service) {
    const path = `${file}.${PAGE_VIEWS}`;
    writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
    const rows = await dumpPageViews(service, (lines) => appendFileSync(path, lines));
    console.log(`${rows} rows of page views of ${service.url} in ${path}`);
  }
}
