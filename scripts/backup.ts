/**
 * `npm run backup -- FILE`: every row of the D1 database as SQL, for a new database after its migrations. Only reads.
 * `--without a,b` leaves tables out; what stands after `--` goes to `wrangler d1 execute`, in place of `--remote`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { dumpRows, type Row } from './backup/dump.ts';

const PAGE = 1_000;
const Cell = z.union([z.string(), z.number(), z.null()]);
const Answer = z.array(z.object({ results: z.array(z.record(z.string(), Cell)) }));

const own = process.argv.slice(2);
const cut = own.indexOf('--');
const where = cut < 0 ? ['--remote'] : own.slice(cut + 1);
const { values, positionals } = parseArgs({
  args: cut < 0 ? own : own.slice(0, cut),
  allowPositionals: true,
  options: { without: { type: 'string', default: '' } },
});
const [file] = positionals;
if (file === undefined || existsSync(file)) {
  console.error('npm run backup -- FILE [--without a,b]: FILE must be new');
  process.exit(2);
}

function read(queries: readonly string[]): Row[][] {
  const args = ['wrangler', 'd1', 'execute', 'sluice', '--json', '--command', queries.join('; '), ...where];
  const text = execFileSync('npx', args, { encoding: 'utf8', maxBuffer: 1 << 30 });
  return Answer.parse(JSON.parse(text)).map(({ results }) => results);
}

const schema = readFileSync('schema.sql', 'utf8');
const statements = dumpRows({ schema, without: values.without.split(','), page: PAGE }, read);
writeFileSync(file, `${statements.join('\n')}\n`, { flag: 'wx', mode: 0o600 });
console.log(`${statements.length} rows in ${file}`);
