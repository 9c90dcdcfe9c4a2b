/**
 * `npm run backup -- FILE`: writes every row of the D1 database as SQL, for a new database after its migrations. A backup
 * only reads. Arguments after `--` replace `--remote` for `wrangler d1 execute`. `--world` backs up the offline world of
 * this machine; API_BASE_URL names it if several run.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import * as z from 'zod';
import { tryJson } from '../src/core/json.ts';
import { dumpRows, type Row } from './backup/dump.ts';
import { argumentsOrUsage, createFile, oneLine, readArguments, UsageError } from './command-line.ts';
import { chooseTarget, targetLine } from './target.ts';

/** Rows of one query. A row has at most a few kilobytes, and each call of wrangler takes seconds. */
const PAGE = 5_000;
const Rows = z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()])));
const Answer = z.array(z.object({ results: Rows }));
const Refused = z.object({ error: z.object({ text: z.string() }) });

const schema = readFileSync('schema.sql', 'utf8');

const USAGE = 'npm run backup -- FILE [--world | -- ARGUMENTS OF wrangler d1 execute]';

const asked = argumentsOrUsage(USAGE, (args) => {
  const cut = args.indexOf('--');
  const options = { world: { type: 'boolean', default: false } } as const;
  const { values, positionals } = readArguments(cut < 0 ? args : args.slice(0, cut), options, 1);
  const [file] = positionals;
  if (file === undefined) throw new UsageError('FILE is missing');
  if (existsSync(file)) throw new UsageError(`${file} already exists`);
  const where = cut < 0 ? ['--remote'] : args.slice(cut + 1);
  if (!values.world) return { file, where, world: undefined };
  if (cut >= 0) throw new UsageError('--world takes no arguments of wrangler');
  const { origin, world } = chooseTarget({
    named: ['API_BASE_URL', process.env.API_BASE_URL],
    world: true,
    changes: true,
  });
  return { file, where, world: world && { origin, world } };
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

async function backUp(): Promise<void> {
  const { file, where, world: target } = asked;
  console.log(target ? await targetLine(target) : `Target: D1 by wrangler ${where.join(' ')}`);
  const statements = await dumpRows(
    {
      schema,
      page: PAGE,
      onProgress: (table, rows) => console.error(`${rows} rows of ${table} read`),
    },
    (queries) => (target ? readFromWorld(target.world.controlUrl, queries) : readByWrangler(queries, where)),
  );
  await createFile(file, (append) => append(`${statements.join('\n')}\n`));
  console.log(`${statements.length} rows in ${file}`);
}

try {
  await backUp();
} catch (error) {
  console.error(oneLine(error));
  process.exitCode = 1;
}
