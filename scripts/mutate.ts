/**
 * Makes small changes to the code that guards money, one at a time, and counts those that its unit tests
 * detect. `npm run mutate -- [--area payments] [--file booking.ts] [--at booking.ts:40] [--every 5] [--first 2]`:
 * one mutant in five, from the third on. The exit code is 1 if fewer than 85 % of any area are detected.
 * @module
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
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
import type { Plan, Report, Turn } from './mutate/plan.ts';

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
/** After this number of reads of a mutant, its loop counts as endless. */
const mostLooks = (usual: number): number => 10 * usual + 10_000;
/** Only ends tests that hang while waiting. */
const PATIENCE_MS = 60_000;
// Tests with many random cases run fewer of them.
process.env.TEST_SUITE ??= 'quick';
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
      setupFiles: [join(ROOT, 'test/node-setup.ts')],
      runner: join(ROOT, 'scripts/mutate/runner.ts'),
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

const specificationsOf = async (vitest: Vitest, files: readonly string[]): Promise<TestSpecification[]> => {
  const tests = await Promise.all(files.map((file) => vitest.getRelevantTestSpecifications([file])));
  const missing = files.filter((_file, index) => tests[index]?.length !== 1);
  if (missing.length > 0) throw new Error(`no test file: ${missing.join(', ')}`);
  return tests.flat();
};

/** Whether all tests pass, and the reports of those that ended. */
async function runOnce(
  vitest: Vitest,
  tests: readonly TestSpecification[],
  plan: Omit<Plan, 'reportPath'>,
): Promise<{ readonly verdict: 'passed' | 'failed' | 'interrupted'; readonly reports: Report[] }> {
  const reportPath = join(tmpdir(), `mutate-${process.pid}.jsonl`);
  writeFileSync(reportPath, '');
  try {
    vitest.getRootProject().provide('plan', { ...plan, reportPath });
    heard.cases.length = 0;
    heard.modules.length = 0;
    const { unhandledErrors } = await vitest.runTestSpecifications([...tests]);
    const asked = new Set(tests.map(({ moduleId }) => moduleId));
    // Vitest keeps the results of files under earlier mutants, so only events of this run count.
    const hasFailed = heard.cases.some(
      (one) => one.result().state === 'failed' && one.meta().mutant === plan.mutant,
    );
    const ended = heard.modules.filter(({ moduleId }) => asked.has(moduleId));
    const hasError = unhandledErrors.length > 0 || ended.some((one) => one.errors().length > 0);
    const passed = ended.filter((one) => one.state() === 'passed').length;
    const lines = readFileSync(reportPath, 'utf8').split('\n').filter(Boolean);
    return {
      verdict: hasFailed || hasError ? 'failed' : passed === asked.size ? 'passed' : 'interrupted',
      reports: lines.map((line) => JSON.parse(line) as Report),
    };
  } finally {
    rmSync(reportPath, { force: true });
  }
}

/** Whether all tests pass while one mutant is on from the import of each file to its end. */
async function passes(
  vitest: Vitest,
  tests: readonly TestSpecification[],
  [mutant, maximum]: Turn,
): Promise<boolean> {
  // A run after an interrupted one may be interrupted as well. Then no test has failed, and none has run.
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const { verdict } = await runOnce(vitest, tests, { mutant, maximum, turns: null });
    if (verdict !== 'interrupted') return verdict === 'passed';
  }
  throw new Error('the tests do not run to completion');
}

/** The mutants that each test file executes. @throws when a test fails without a mutant */
async function reach(vitest: Vitest, tests: readonly TestSpecification[]): Promise<Map<string, Report>> {
  const { verdict, reports } = await runOnce(vitest, tests, { mutant: -1, maximum: 0, turns: null });
  const failed = heard.cases.filter((one) => one.result().state === 'failed');
  if (verdict !== 'passed')
    throw new Error(`the tests fail without a mutant: ${failed.map(({ fullName }) => fullName).join(', ')}`);
  return new Map(reports.map((report) => [report.file, report]));
}

/**
 * Tries many mutants with one import of a test file, each in the tests that execute it. Mutants that are read
 * during
 * the import are left out.
 * @returns those that a test detects, and those that must run alone
 */
async function detectedTogether(
  vitest: Vitest,
  test: TestSpecification,
  { inTest, atImport }: Report,
  mutants: readonly number[],
): Promise<{ readonly killed: ReadonlySet<number>; readonly undecided: ReadonlySet<number> }> {
  const killed = new Set<number>();
  const open = new Set(mutants);
  const undecided = new Set<number>();
  const postpone = (number: number): void => {
    if (open.delete(number)) undecided.add(number);
  };
  for (const [number] of atImport) postpone(number);
  for (;;) {
    const turns: Record<string, readonly Turn[]> = {};
    for (const [id, seen] of Object.entries(inTest)) {
      const own = seen
        .filter(([number]) => open.has(number))
        .map(([number, count]): Turn => [number, mostLooks(count)]);
      if (own.length > 0) turns[id] = own;
    }
    if (Object.keys(turns).length === 0) return { killed, undecided };
    const [report] = (await runOnce(vitest, [test], { mutant: -1, maximum: 0, turns })).reports;
    for (const number of report?.killed ?? []) {
      killed.add(number);
      open.delete(number);
    }
    if (!report) for (const number of open) postpone(number);
    else if (report.spoiler === null) return { killed, undecided };
    else postpone(report.spoiler);
  }
}

const isAsked = ({ file, line }: Mutation, number: number): boolean =>
  file.endsWith(values.file) &&
  `${file}:${line}`.endsWith(values.at) &&
  number % values.every === values.first;

/** How often a test file reads a mutation that is off. */
const looksOf = (report: Report | undefined, mutant: number): number =>
  [...(report?.atImport ?? []), ...Object.values(report?.inTest ?? {}).flat()].reduce(
    (sum, [number, count]) => (number === mutant ? sum + count : sum),
    0,
  );

async function mutateArea(area: Area): Promise<Result[]> {
  const { mutations, code } = prepare(area);
  const asked = [...mutations.keys()].filter((number) => {
    const mutation = mutations[number];
    return mutation !== undefined && isAsked(mutation, number);
  });
  const killed = new Set<number>();
  const undecided = new Set<number>();
  let reports: Map<string, Report>;
  const together = await openVitest(code, 0);
  try {
    const tests = await specificationsOf(together, area.tests);
    reports = await reach(together, tests);
    for (const test of tests) {
      const report = reports.get(test.moduleId);
      const open = asked.filter((number) => !killed.has(number));
      if (!report || open.length === 0) continue;
      const result = await detectedTogether(together, test, report, open);
      for (const number of result.killed) killed.add(number);
      for (const number of result.undecided) undecided.add(number);
      process.stderr.write(
        `${area.name}: ${killed.size} of ${asked.length} after ${relative(ROOT, test.moduleId)}\n`,
      );
    }
  } finally {
    await together.close();
  }
  // The undecided ones run alone, each with a new import of every file. `--at` also runs the survivors alone.
  const alone = await openVitest(code, 1);
  try {
    const tests = await specificationsOf(alone, area.tests);
    for (const number of asked) {
      if (killed.has(number) || !(undecided.has(number) || values.at)) continue;
      const near = tests.filter(({ moduleId }) => looksOf(reports.get(moduleId), number) > 0);
      const maximum = mostLooks(Math.max(...[...reports.values()].map((report) => looksOf(report, number))));
      const turns = [near.slice(0, 1), near.slice(1)].filter((turn) => turn.length > 0);
      for (const turn of turns)
        if (!killed.has(number) && !(await passes(alone, turn, [number, maximum]))) killed.add(number);
      const { file, line } = mutations[number] ?? {};
      process.stderr.write(`${killed.has(number) ? 'killed' : 'survives'} ${file}:${line}\n`);
    }
  } finally {
    await alone.close();
  }
  return asked.flatMap((number) => {
    const mutation = mutations[number];
    const reached = [...reports.values()].some((report) => looksOf(report, number) > 0);
    return mutation ? [{ mutation, killed: killed.has(number), reached }] : [];
  });
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
