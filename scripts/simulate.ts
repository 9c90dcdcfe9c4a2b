/**
 * Runs the custodian against seeded schedules: `npm run simulate -- --seeds 100000 --from 1`.
 * `--trace` tells one seed event by event; `--src folder` takes the code from elsewhere; `--workers N` threads;
 * `--routes near-intents,lifi` lets swaps fall over to transactions of a third party.
 * @module
 */
import { parseArgs } from 'node:util';
import { ROUTE_NAMES, type RouteName } from '../src/bridges/route.ts';
import { loadProduction, OWN_SOURCE } from '../test/simulator/production.ts';
import { runSeed } from '../test/simulator/run-seed.ts';
import { add, type Finding, type RangeResult, runRange } from '../test/simulator/seed-range.ts';
import { inThread, runShared } from './thread.ts';

type Share = {
  readonly source: string;
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly routes: readonly RouteName[];
};

/** Lines of a failing seed that are worth a screen; the whole is told by `--trace`. */
const LAST_LINES = 150;

async function traceOf(seed: number, source: string, routes: readonly RouteName[]): Promise<string[]> {
  const lines: string[] = [];
  await runSeed(seed, await loadProduction(source), (line) => lines.push(line()), routes);
  return lines;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      workers: { type: 'string', default: '2' },
      src: { type: 'string', default: OWN_SOURCE },
      routes: { type: 'string', default: 'near-intents' },
      trace: { type: 'boolean', default: false },
    },
  });
  const from = Number(values.from);
  const routes = ROUTE_NAMES.filter((name) => values.routes.split(',').includes(name));
  if (values.trace) {
    for (const line of await traceOf(from, values.src, routes)) console.log(line);
    return;
  }
  const to = from + Number(values.seeds);
  const step = Number(values.workers);
  const started = performance.now();
  const results = await Promise.all(
    Array.from({ length: step }, (_none, index) =>
      inThread<Share, RangeResult>(import.meta.url, {
        source: values.src,
        from: from + index,
        to,
        step,
        routes,
      }),
    ),
  );
  const seconds = (performance.now() - started) / 1_000;
  const counts: Record<string, number> = {};
  for (const result of results) add(counts, result.counts);
  const findings = results.flatMap((result) => result.findings).toSorted((a, b) => a.seed - b.seed);
  for (const name of Object.keys(counts).toSorted())
    console.log(`${String(counts[name]).padStart(9)}  ${name}`);
  console.log(`${values.seeds} seeds from ${from} in ${seconds.toFixed(1)} s, ${findings.length} violations`);
  report(findings);
  const [first] = findings;
  if (!first) return;
  const lines = await traceOf(first.seed, values.src, routes);
  console.log(
    `\nseed ${first.seed}, the last of ${lines.length} events (--from ${first.seed} --trace tells all):`,
  );
  for (const line of lines.slice(-LAST_LINES)) console.log(line);
  process.exitCode = 1;
}

/** Each invariant that broke, how often and where first. */
function report(findings: readonly Finding[]): void {
  const first = new Map<string, { finding: Finding; count: number }>();
  for (const finding of findings) {
    const known = first.get(finding.invariant);
    if (known) known.count++;
    else first.set(finding.invariant, { finding, count: 1 });
  }
  for (const [invariant, { finding, count }] of first) {
    console.log(`${invariant}: ${count} times, first seed ${finding.seed}: ${finding.detail}`);
  }
}

await runShared(main, async ({ source, ...range }: Share) => runRange(await loadProduction(source), range));
