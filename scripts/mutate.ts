/**
 * Makes small changes to the code that guards money, one at a time, and counts those that unit tests or seeds of the
 * simulator detect. The exit code is 1 if unit tests detect fewer than 85 % of an area.
 * @module
 */
import { argumentsOrUsage, oneOf, readArguments, UsageError, wholeNumber } from './command-line.ts';
import { AREAS, type Area, testsOf } from './mutate/areas.ts';
import { judgeBySeeds } from './mutate/judge-by-seeds.ts';
import { judgeByTests } from './mutate/judge-by-tests.ts';
import { choose, judgeAll, mutantsIn, type Result } from './mutate/mutants.ts';
import type { Change } from './mutate/mutations.ts';

const USAGE = `npm run mutate -- [--judge tests|seeds] [--area NAME] [--sample N] [--seeds N]
--judge   unit tests of the area (default), or seeds of the simulator
--sample  tries N mutants of each area, always the same ones of the same source
--seeds   runs seeds 1 to N, 200 by default
areas: ${AREAS.map(({ name }) => name).join(', ')}`;
const GOAL = 0.85;
const NOTE_CHARS = 200;

const values = argumentsOrUsage(USAGE, (args) => {
  const given = readArguments(args, {
    judge: { type: 'string', default: 'tests' },
    area: { type: 'string', default: '' },
    sample: { type: 'string', default: '0' },
    seeds: { type: 'string', default: '200' },
  }).values;
  const areas = AREAS.filter(({ name }) => name.includes(given.area));
  if (areas.length === 0) throw new UsageError(`No area '${given.area}'`);
  const judge = oneOf('--judge', given.judge, ['tests', 'seeds']);
  const sample = wholeNumber('--sample', given.sample);
  return { ...given, areas, judge, sample, seeds: wholeNumber('--seeds', given.seeds, { min: 1 }) };
});
const { areas, judge, sample, seeds } = values;

function print({ mutant, fate, note }: Result): void {
  console.log(`${mutant.name}: ${fate} (${note.slice(0, NOTE_CHARS)})`);
}

async function judgeArea(area: Area): Promise<Result[]> {
  const tests = testsOf(area);
  const run = async (change?: Change) => {
    if (judge === 'seeds') return judgeBySeeds(change, seeds);
    const judged = await judgeByTests(change, tests);
    // The next mutant is in the same code, so the file that detected this one runs first.
    if (judged.test !== undefined) tests.unshift(...tests.splice(tests.indexOf(judged.test), 1));
    return judged;
  };
  const unchanged = await run();
  if (unchanged.fate !== 'survived') throw new Error(`Without a mutant: ${unchanged.note}`);
  return judgeAll(choose(mutantsIn(area), sample), run, print);
}

const rows: string[] = [];
for (const area of areas) {
  const started = performance.now();
  const results = await judgeArea(area);
  const count = (fate: Result['fate']): number => results.filter((each) => each.fate === fate).length;
  const share = results.length === 0 ? 1 : count('killed') / results.length;
  if (judge === 'tests' && share < GOAL) process.exitCode = 1;
  const seconds = Math.round((performance.now() - started) / 1_000);
  const fates = [results.length, count('killed'), count('survived'), count('error')];
  rows.push(`| ${area.name} | ${fates.join(' | ')} | ${(100 * share).toFixed(1)} % | ${seconds} s |`);
}
console.log('| area | mutants | killed | survived | error | share | time |\n|---|---|---|---|---|---|---|');
for (const row of rows) console.log(row);
process.exit();
