/**
 * `npm run backup -- FILE`: every row of the D1 database as SQL, for a new database after `schema.sql`. Only reads.
 * `--without a,b` leaves tables out; what stands after `--` goes to `wrangler d1 execute`, in place of `--remote`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { insertOf, pageQuery, tablesOf } from './backup/dump.ts';

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

function read(tables: readonly string[], offset: number) {
  const command = pageQuery(tables, PAGE, offset);
  const args = ['wrangler', 'd1', 'execute', 'sluice', '--json', '--command', command, ...where];
  const text = execFileSync('npx', args, { encoding: 'utf8', maxBuffer: 1 << 30 });
  const answers = Answer.parse(JSON.parse(text));
  if (answers.length !== tables.length) throw new Error('not one answer for each table');
  return tables.map((table, at) => ({ table, rows: answers[at]?.results ?? [] }));
}

let tables = tablesOf(readFileSync('schema.sql', 'utf8')).filter(
  (table) => !values.without.split(',').includes(table),
);
const statements: string[] = [];
for (let offset = 0; tables.length > 0; offset += PAGE) {
  const pages = read(tables, offset);
  for (const { table, rows } of pages) statements.push(...rows.map((row) => insertOf(table, row)));
  tables = pages.filter(({ rows }) => rows.length === PAGE).map(({ table }) => table);
}
writeFileSync(file, `${statements.join('\n')}\n`, { flag: 'wx', mode: 0o600 });
console.log(`${statements.length} rows in ${file}`);
