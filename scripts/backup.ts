/**
 * `npm run backup -- FILE`: writes every row of the D1 database as SQL, for a new database after its migrations. A
 * second file, `FILE.page-views`, gets the page views. A backup only reads. `--without page-views` leaves out the second
 * file. API_BASE_URL and OPS_SECRET name the service that has the page views; wrangler reads D1. Arguments after `--`
 * replace `--remote` for `wrangler d1 execute`. `--world` backs up the offline world of this machine. `--restore FILE.page-views` writes the page views of such a file back to the service.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import * as z from 'zod';
import { tryJson } from '../src/core/json.ts';
import { dumpRows, type Row } from './backup/dump.ts';
import { askForPageViews, dumpPageViews, Rows, restorePageViews, type Service } from './backup/page-views.ts';
import { argumentsOrUsage, createFile, oneLine, oneOf, readArguments, UsageError } from './command-line.ts';
import { chooseTarget, type Target, targetLine } from './target.ts';

/** Rows of one query. A row has at most a few kilobytes, and each call of wrangler takes seconds. */
const PAGE = 5_000;
const PAGE_VIEWS = 'page-views';
const Answer = z.array(z.object({ results: Rows }));
const Refused = z.object({ error: z.object({ text: z.string() }) });

const schema = readFileSync('schema.sql', 'utf8');
const { API_BASE_URL } = process.env;

const USAGE = `npm run backup -- FILE [--without ${PAGE_VIEWS}] [--world] [-- ARGUMENTS OF wrangler d1 execute]
npm run backup -- --restore FILE.${PAGE_VIEWS} [--world]`;

/** The service whose operator's route has the page views. */
function serviceOf({ origin, secret }: Target): Service {
  if (secret !== undefined) return { url: origin, secret };
  throw new UsageError(`Set OPS_SECRET for the page views, or pass --without ${PAGE_VIEWS}`);
}

const asked = argumentsOrUsage(USAGE, (args) => {
  const cut = args.indexOf('--');
  const options = {
    without: { type: 'string' },
    restore: { type: 'string' },
    world: { type: 'boolean', default: false },
  } as const;
  const { values, positionals } = readArguments(cut < 0 ? args : args.slice(0, cut), options, 1);
  const choose = () =>
    chooseTarget({ named: ['API_BASE_URL', API_BASE_URL], world: values.world, changes: true });
  if (values.restore !== undefined) {
    if (!existsSync(values.restore)) throw new UsageError(`${values.restore} does not exist`);
    const target = choose();
    return { restore: values.restore, target, service: serviceOf(target) };
  }
  const [file] = positionals;
  if (file === undefined) throw new UsageError('FILE is missing');
  const existing = [file, `${file}.${PAGE_VIEWS}`].find((one) => existsSync(one));
  if (existing !== undefined) throw new UsageError(`${existing} already exists`);
  const where = cut < 0 ? undefined : args.slice(cut + 1);
  const isWithoutViews =
    values.without !== undefined && oneOf('--without', values.without, [PAGE_VIEWS]) === PAGE_VIEWS;
  // Without page views, the arguments of wrangler alone name the database.
  const target = where && isWithoutViews && !values.world ? undefined : choose();
  return { file, where, target, service: target && !isWithoutViews ? serviceOf(target) : undefined };
});

const run = promisify(execFile);

async function readByWrangler(queries: readonly string[], where: readonly string[]): Promise<Row[][]> {
  const args = ['d1', 'execute', 'DB', '--json', '--command', queries.join('; '), ...where];
  try {
    const { stdout } = await run('npx', ['wrangler', ...args], { maxBuffer: 1 << 30 });
    return Answer.parse(JSON.parse(stdout)).map(({ results }) => results);
  } catch (error) {
    throw new Error(wranglerFailure(error));
  }
}

/** Wrangler writes a refusal as JSON to stdout, and its other failures to stderr. */
function wranglerFailure(error: unknown): string {
  const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
  const text = Refused.safeParse(tryJson(stdout)).data?.error.text ?? (stderr.trim() || oneLine(error));
  if (/CLOUDFLARE_API_TOKEN|not logged in|wrangler login/.test(text))
    return 'wrangler is not logged in: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.';
  return `wrangler: ${oneLine(text)}`;
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

async function backUp({ file, where, target, service }: Extract<typeof asked, { file: string }>) {
  const world = where === undefined ? target?.world : undefined;
  const byWrangler = where ?? ['--remote'];
  // Reading the database takes minutes, so this call first shows whether the service refuses.
  if (service) await askForPageViews(service);
  const statements = await dumpRows(
    {
      schema,
      page: PAGE,
      onProgress: (table, rows) => console.error(`${rows} rows of ${table} read`),
    },
    (queries) => (world ? readFromWorld(world.controlUrl, queries) : readByWrangler(queries, byWrangler)),
  );
  await createFile(file, (append) => append(`${statements.join('\n')}\n`));
  console.log(`${statements.length} rows in ${file}`);
  if (!service) return;
  const path = `${file}.${PAGE_VIEWS}`;
  const rows = await createFile(path, (append) => dumpPageViews(service, append));
  console.log(`${rows} rows of page views in ${path}`);
}

async function firstLine(): Promise<string> {
  const { target, where = ['--remote'] } = asked;
  const database = `D1 by wrangler ${where.join(' ')}`;
  if (target === undefined) return `Target: ${database}`;
  const line = await targetLine(target);
  return asked.restore !== undefined || (target.world && !asked.where) ? line : `${line}, ${database}`;
}

try {
  console.log(await firstLine());
  if (asked.restore === undefined) await backUp(asked);
  else {
    const rows = await restorePageViews(asked.service, readFileSync(asked.restore, 'utf8'));
    console.log(`${rows} rows of ${asked.restore} are restored.`);
  }
} catch (error) {
  console.error(oneLine(error));
  process.exitCode = 1;
}
