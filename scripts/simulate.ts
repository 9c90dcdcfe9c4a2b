/**
 * Runs the whole custodian against seeded schedules: `npm run simulate -- --seeds 100000 --from 1`.
 * `--previous folder` rehearses upgrades and rollbacks: every second instance runs that earlier release.
 * `--liar` gives every seed three nodes, of which one lies in every response.
 * `--thief` lets a thief of the custodian's key attack the mint witness, with one node and one index of each side.
 * `--trace` prints one seed event by event.
 * A failing seed is reduced before it is shown. The exit code is 1 for a violation, 2 for wrong arguments.
 * @module
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { COVERED_FROM, missing, REQUIRED, REQUIRED_OF_THIEF } from '../test/simulator/coverage.ts';
import { loadProduction, OWN_SOURCE, type Production } from '../test/simulator/production.ts';
import { describe, reduce } from '../test/simulator/reduce.ts';
import { runScenario } from '../test/simulator/run-seed.ts';
import { type Scenario, scenarioOf, withLiar } from '../test/simulator/scenario.ts';
import { add, type Finding, type RangeResult, runRange } from '../test/simulator/seed-range.ts';
import { runThief } from '../test/simulator/thief.ts';
import type { Violation } from '../test/simulator/witness.ts';
import type { Trace } from '../test/simulator/world.ts';
import { argumentsOrUsage, readArguments, UsageError, wholeNumber } from './command-line.ts';
import { inThread, runShared } from './thread.ts';

type Share = {
  readonly previous: string | undefined;
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly liar: boolean;
  readonly thief: boolean;
};

const USAGE = 'npm run simulate -- [--seeds N] [--from N] [--previous folder] [--liar | --thief] [--trace]';
/** Lines of a reduced seed that are shown; `--trace` prints all of the seed. */
const LAST_LINES = 120;

const values = argumentsOrUsage(USAGE, (args) => {
  const given = readArguments(args, {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    previous: { type: 'string' },
    liar: { type: 'boolean', default: false },
    thief: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  }).values;
  const { previous } = given;
  if (previous !== undefined && !existsSync(join(previous, 'custody')))
    throw new UsageError(`--previous ${previous} is not a source folder`);
  if (given.thief && (given.liar || previous !== undefined))
    throw new UsageError('--thief takes neither --liar nor --previous');
  return {
    ...given,
    seeds: wholeNumber('--seeds', given.seeds, { min: 1, max: 10_000_000 }),
    from: wholeNumber('--from', given.from, { min: 1 }),
  };
});

function scenarioFor(seed: number): Scenario {
  const scenario = scenarioOf(seed);
  return values.liar ? withLiar(scenario) : scenario;
}

const runOne = (seed: number, production: Production, trace: Trace) =>
  values.thief ? runThief(seed, production, trace) : runScenario(scenarioFor(seed), production, trace);

async function main(): Promise<void> {
  const { from, seeds, previous, liar, thief, trace } = values;
  const step = availableParallelism();
  if (trace) {
    const production = await loadProduction(OWN_SOURCE, previous);
    const { violations } = await runOne(from, production, (line) => console.log(line()));
    printBroken(violations);
    return;
  }
  const to = from + seeds;
  const started = performance.now();
  const results = await Promise.all(
    Array.from({ length: step }, (_none, index) =>
      inThread<Share, RangeResult>(import.meta.url, { previous, from: from + index, to, step, liar, thief }),
    ),
  );
  const seconds = (performance.now() - started) / 1_000;
  const counts: Record<string, number> = {};
  for (const result of results) add(counts, result.counts);
  const findings = results.flatMap((result) => result.findings).toSorted((a, b) => a.seed - b.seed);
  for (const name of Object.keys(counts).toSorted())
    console.log(`${String(counts[name]).padStart(9)}  ${name}`);
  console.log(`${seeds} seeds from ${from} in ${seconds.toFixed(1)} s, ${findings.length} violations`);
  const unmet = seeds < COVERED_FROM ? [] : missing(counts, thief ? REQUIRED_OF_THIEF : REQUIRED);
  if (unmet.length > 0) console.log(`never happened: ${unmet.join(', ')}`);
  if (findings.length > 0 || unmet.length > 0) process.exitCode = 1;
  report(findings);
  const [first] = findings;
  if (first) await show(first, await loadProduction(OWN_SOURCE, previous));
}

/** Each invariant that broke, how often and where first. */
function report(findings: readonly Finding[]): void {
  for (const [invariant, found] of Map.groupBy(findings, ({ invariant }) => invariant))
    console.log(`${invariant}: ${found.length} times, first seed ${found[0]?.seed}: ${found[0]?.detail}`);
}

/** The smallest scenario that still breaks the same invariant, and its trace. */
async function show({ seed, invariant }: Finding, production: Production): Promise<void> {
  if (values.thief) return console.log(`--thief --from ${seed} --trace prints the whole seed`);
  const smallest = await reduce(scenarioFor(seed), production, invariant);
  const lines: string[] = [];
  const { violations } = await runScenario(smallest, production, (line) => lines.push(line()));
  console.log(`\nseed ${seed}, reduced (--from ${seed} --trace prints the whole seed):`);
  for (const line of describe(smallest)) console.log(`  ${line}`);
  for (const line of lines.slice(-LAST_LINES)) console.log(line);
  printBroken(violations);
}

function printBroken(violations: readonly Violation[]): void {
  for (const { invariant, detail } of violations) console.log(`broken: ${invariant}: ${detail}`);
  if (violations.length > 0) process.exitCode = 1;
}

await runShared(main, async ({ previous, ...range }: Share) =>
  runRange(await loadProduction(OWN_SOURCE, previous), range),
);
