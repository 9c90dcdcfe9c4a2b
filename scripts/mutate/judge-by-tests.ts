/**
 * Runs unit tests against a source with the change of a mutant, until the first test file that fails. Each mutant has
 * its own thread, so a mutant that uses up the memory or never ends stops only that thread.
 * @module
 */
import { join, relative } from 'node:path';
import { createVitest, type TestCase } from 'vitest/node';
import { inThread, runShared } from '../thread.ts';
import { changedText, type Judged, ROOT } from './mutants.ts';
import type { Change } from './mutations.ts';

/** Time after which tests are treated as hanging. */
const PATIENCE_MS = 120_000;
type TestShare = { readonly change: Change | undefined; readonly tests: readonly string[] };
// Tests with many random cases run fewer of them.
process.env.TEST_SUITE ??= 'quick';

/** @param tests paths from the root: fast and strict ones first */
export const judgeByTests = (change: Change | undefined, tests: readonly string[]): Promise<Judged> =>
  inThread<TestShare, Judged>(import.meta.url, { change, tests }, PATIENCE_MS * Math.max(tests.length, 1));

async function runTests({ change, tests }: TestShare): Promise<Judged> {
  const changed = change && changedText(change);
  const cases: TestCase[] = [];
  const vitest = await createVitest(
    'test',
    {
      root: ROOT,
      config: false,
      watch: false,
      // The file cache is keyed by path, so the changed code must not be stored there.
      fsModuleCache: false,
      bail: 1,
      include: ['test/**/*.test.ts'],
      // Vitest refuses a test with a tag that the configuration does not define.
      tags: [{ name: 'deep' }, { name: 'scaled' }],
      setupFiles: [join(ROOT, 'test/node-setup.ts')],
      testTimeout: PATIENCE_MS,
      reporters: [{ onTestCaseResult: (testCase) => void cases.push(testCase) }],
      pool: 'threads',
      maxWorkers: 1,
    },
    {
      plugins: [
        {
          name: 'mutate',
          enforce: 'pre',
          load: (id: string) => (relative(ROOT, id.split('?')[0] ?? '') === change?.file ? changed : null),
        },
      ],
    },
  );
  try {
    for (const test of tests) {
      const specifications = await vitest.getRelevantTestSpecifications([test]);
      if (specifications.length !== 1) throw new Error(`no test file ${test}`);
      const run = await vitest.runTestSpecifications(specifications);
      const failed = cases.find((one) => one.result().state === 'failed')?.fullName ?? run.unhandledErrors[0];
      const module = vitest.state.getTestModules().find(({ moduleId }) => moduleId === join(ROOT, test));
      if (failed !== undefined || module?.state() === 'failed')
        return { fate: 'killed', note: `${test}: ${String(failed ?? module?.errors()[0]?.message)}`, test };
      if (module?.state() !== 'passed') throw new Error(`${test} does not run to completion`);
    }
    return { fate: 'survived', note: `${tests.length} test files` };
  } finally {
    await vitest.close();
  }
}

await runShared(async () => undefined, runTests);
