/**
 * Makes small changes to the code that guards money, one at a time, and counts those that its unit tests
 * detect. `npm run mutate -- [--area machine] [--file machine.ts] [--at machine.ts:40] [--every 5] [--first
 * 2]`: one mutant in five, from the third on. The exit code is 1 if fewer than 85 % of any area are detected.
 * @module
 */
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import {
  createVitest,
  type TestCase,
  type TestModule,
  type TestSpecification,
  type Vitest,
} from 'vitest/node';
import { argumentsOrUsage, readArguments, UsageError, wholeNumber } from './command-line.ts';
import { AREAS, type Area } from './mutate/areas.ts';
import { instrument, type Mutation } from './mutate/instrument.ts';

const USAGE = `npm run mutate -- [--area NAME] [--file FILE] [--at FILE:LINE] [--every N] [--first N]
areas: ${AREAS.map(({ name }) => name).join(', ')}`;
const values = argumentsOrUsage(USAGE, (args) => {
  const given = readArguments(args, {
    area: { type: 'string', default: '' },
    file: { type: 'string', default: '' },
    at: { type: 'string', default: '' },
    every: { type: 'string', default: '1' },
    first: { type: 'string', default: '0' },
  }).values;
  if (!AREAS.some(({ name }) => name.includes(given.area))) throw new UsageError(`No area '${given.area}'`);
  const every = wholeNumber('--every', given.every, { min: 1 });
  return { ...given, every, first: wholeNumber('--first', given.first, { max: every - 1 }) };
});
const ROOT = join(import.meta.dirname, '..');
const GOAL = 0.85;
/** Only ends tests that hang while waiting; a counter ends endless loops. */
const PATIENCE_MS = 60_000;
const MOST_TRIES = 5;

interface Result {
  readonly mutation: Mutation;
  readonly killed: boolean;
  /** Whether any test executes it. */
  readonly reached: boolean;
}

/** The sources with all their switches. */
function prepare(area: Area) {
  const mutations: Mutation[] = [];
  const code = new Map<string, string>();
  for (const file of area.files) {
    const path = join(ROOT, file);
    const made = instrument(file, readFileSync(path, 'utf8'), mutations.length);
    code.set(path, made.code);
    mutations.push(...made.mutations);
  }
  return { mutations, code };
}

/** The events of the current run. */
const heard: { readonly cases: TestCase[]; readonly modules: TestModule[] } = { cases: [], modules: [] };

const openVitest = (code: ReadonlyMap<string, string>, bail: number): Promise<Vitest> =>
  createVitest(
    'test',
    {
      root: ROOT,
      config: false,
      watch: false,
      // The file cache is by content: the instrumented code must neither be found nor stored there.
      fsModuleCache: false,
      bail,
      include: ['test/**/*.test.ts'],
      // Vitest refuses a test with a tag that the configuration does not define.
      tags: [{ name: 'deep' }, { name: 'scaled' }],
      setupFiles: [join(ROOT, 'scripts/mutate/switch.ts')],
      testTimeout: PATIENCE_MS,
      reporters: [
        {
          onTestCaseResult: (testCase: TestCase) => void heard.cases.push(testCase),
          onTestModuleEnd: (testModule: TestModule) => void heard.modules.push(testModule),
        },
      ],
      pool: 'threads',
      maxWorkers: Number(process.env.MUTATE_WORKERS ?? 2),
    },
    {
      plugins: [
        { name: 'mutate', enforce: 'pre', load: (id: string) => code.get(id.split('?')[0] ?? '') ?? null },
      ],
    },
  );

async function passes(
  vitest: Vitest,
  tests: readonly TestSpecification[],
  mutant: number,
  seenPath = '',
): Promise<boolean> {
  const project = vitest.getRootProject();
  project.provide('mutant', mutant);
  project.provide('seenPath', seenPath);
  const asked = new Set(tests.map(({ moduleId }) => moduleId));
  // A run after an interrupted one may be interrupted as well. Then no test has failed, and none has run.
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    heard.cases.length = 0;
    heard.modules.length = 0;
    const { unhandledErrors } = await vitest.runTestSpecifications([...tests]);
    // Vitest keeps the results of files under earlier mutants, so only events of this run count.
    const failed = heard.cases.some((one) => one.result().state === 'failed' && one.meta().mutant === mutant);
    const ended = heard.modules.filter(({ moduleId }) => asked.has(moduleId));
    if (failed || unhandledErrors.length > 0 || ended.some((one) => one.errors().length > 0)) return false;
    if (ended.filter((one) => one.state() === 'passed').length === asked.size) return true;
  }
  throw new Error('the tests do not run to completion');
}

/** Which mutants each test file executes. @throws when a test fails without a mutant */
async function reach(vitest: Vitest, tests: readonly TestSpecification[]): Promise<Map<string, Set<number>>> {
  const seenPath = join(tmpdir(), `mutate-${process.pid}.jsonl`);
  try {
    if (!(await passes(vitest, tests, -1, seenPath))) throw new Error('the tests fail without a mutant');
    const lines = readFileSync(seenPath, 'utf8').trim().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as [string, number[]]);
    return new Map(entries.map(([file, seen]) => [file, new Set(seen)]));
  } finally {
    rmSync(seenPath, { force: true });
  }
}

const isAsked = ({ file, line }: Mutation, number: number): boolean =>
  file.endsWith(values.file) &&
  `${file}:${line}`.endsWith(values.at) &&
  number % values.every === values.first;

async function mutateArea(area: Area): Promise<Result[]> {
  const { mutations, code } = prepare(area);
  const vitest = await openVitest(code, 1);
  try {
    const tests = (
      await Promise.all(area.tests.map((test) => vitest.getRelevantTestSpecifications([test])))
    ).flat();
    if (tests.length !== area.tests.length) throw new Error(`${area.name}: ${tests.length} test files found`);
    const seenBy = await reach(vitest, tests);
    const results: Result[] = [];
    for (const [number, mutation] of mutations.entries()) {
      if (!isAsked(mutation, number)) continue;
      const near = tests.filter(({ moduleId }) => seenBy.get(moduleId)?.has(number));
      const turns = [near.slice(0, 1), near.slice(1)].filter((turn) => turn.length > 0);
      let killed = false;
      for (const turn of turns) killed ||= !(await passes(vitest, turn, number));
      results.push({ mutation, killed, reached: near.length > 0 });
      process.stderr.write(killed ? '.' : 'S');
    }
    process.stderr.write('\n');
    return results;
  } finally {
    await vitest.close();
  }
}

const percent = (results: readonly Result[]): string =>
  `${((100 * results.filter(({ killed }) => killed).length) / Math.max(results.length, 1)).toFixed(1)} %`;

const all: Result[] = [];
const missed: string[] = [];
const rows: string[] = [];
for (const area of AREAS.filter(({ name }) => name.includes(values.area))) {
  const results = await mutateArea(area);
  all.push(...results);
  const killed = results.filter((result) => result.killed).length;
  if (killed < GOAL * results.length) missed.push(area.name);
  rows.push(`| ${area.name} | ${results.length} | ${killed} | ${percent(results)} |`);
  for (const { mutation, reached } of results.filter((result) => !result.killed)) {
    const { file, line, was, becomes } = mutation;
    const short = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 70);
    console.log(
      `${relative(ROOT, join(ROOT, file))}:${line} ${short(was)} -> ${short(becomes)}${reached ? '' : ' (no test reaches it)'}`,
    );
  }
}
console.log('| area | mutants | killed | share |\n|---|---|---|---|');
for (const row of rows) console.log(row);
console.log(`| all | ${all.length} | ${all.filter(({ killed }) => killed).length} | ${percent(all)} |`);
process.exit(missed.length === 0 ? 0 : 1);
