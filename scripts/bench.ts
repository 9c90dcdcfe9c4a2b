/**
 * Measures the service's speed. Each figure and its comparison come from the same run on the same runtime. `npm run
 * bench -- [--only bundle,reads,search,page-views] [--routes /api/reserves] [--write]`; `--routes` measures only
 * these reads, `--write` stores the rows in docs/build/benchmarks.md.
 * BENCH_VIEWS and BENCH_TOKENS set the number of rows in those areas.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { bundle } from './bench/bundle.ts';
import { pageViews } from './bench/page-views.ts';
import { reads } from './bench/reads.ts';
import { isMet, pageRowsOf, type Row, tableOf } from './bench/row.ts';
import { search } from './bench/search.ts';
import { argumentsOrUsage, oneOf, readArguments } from './command-line.ts';

const PAGE = join(import.meta.dirname, '../docs/build/benchmarks.md');
const [BEGIN, END] = ['<!-- table -->', '<!-- end of table -->'];
const AREAS = { bundle, reads, search, 'page-views': pageViews };

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../node_modules', name, 'package.json'), 'utf8'))
    .version;

function machine(seconds: number): string {
  const [first] = cpus();
  const runtime = ['workerd', 'miniflare', 'hono'].map((name) => `${name} ${versionOf(name)}`).join(', ');
  return `${cpus().length} x ${first?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.versions.node}, ${runtime}; ${new Date().toISOString().slice(0, 10)}, ${seconds} s`;
}

const names = Object.keys(AREAS) as (keyof typeof AREAS)[];
const USAGE = `npm run bench -- [--only ${names.join(',')}] [--routes /api/reserves] [--write]`;
const { only, routes, write } = argumentsOrUsage(USAGE, (args) => {
  const { values } = readArguments(args, {
    only: { type: 'string', default: names.join(',') },
    routes: { type: 'string' },
    write: { type: 'boolean', default: false },
  });
  return {
    only: values.only.split(',').map((name) => oneOf('--only', name, names)),
    routes: values.routes?.split(','),
    write: values.write,
  };
});
const started = performance.now();
const rows: Row[] = [];
for (const name of only) {
  process.stderr.write(`${name}\n`);
  const found = await (name === 'reads' ? reads(routes) : AREAS[name]());
  process.stderr.write(`${tableOf(found)}\n`);
  rows.push(...found);
}
const heading = machine(Math.round((performance.now() - started) / 1_000));
console.log(`${heading}\n\n${tableOf(rows)}`);
const missed = rows.filter((row) => isMet(row) === false).length;
console.log(`\n${missed} aims missed`);
if (write) {
  const page = readFileSync(PAGE, 'utf8');
  const [head = '', rest = ''] = page.split(BEGIN);
  const [, tail = ''] = rest.split(END);
  writeFileSync(PAGE, `${head}${BEGIN}\n${heading}\n\n${tableOf(pageRowsOf(rows))}\n${END}${tail}`);
}
process.exit(0);
