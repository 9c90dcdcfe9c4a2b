/**
 * Applies the example of each recipe of CONTRIBUTING to a copy of the tree. With every step the named tests pass, and
 * without a step a named test fails.
 * @module-tag deep
 */

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { useFolder } from '../kit/use-folder.ts';
import { RECIPES } from './recipes.ts';

const run = promisify(execFile);
const folder = useFolder('sluice-recipes-');

const recipes = Object.entries(RECIPES);
const guards = recipes.flatMap(([, recipe]) => recipe.guards);
const GUARDING = guards.map(([, test]) => test);
/** The bound of the list of tools holds for one more tool. */
const LISTED = 'serves a client that initializes with a protocol of 2025';
/** The test of the parameter's row, for its index and for its effect. */
const SELECTED = '/api/listings?status=pending > pages through';
const DOCS = 'npm run docs';

/** A copy of the tree with the change of every recipe, except the forgotten steps. */
async function changedTree(name: string, forgotten: readonly string[]): Promise<string> {
  const tree = join(folder, name);
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  for (const file of stdout.split('\0').filter(Boolean)) cpSync(file, join(tree, file));
  symlinkSync(resolve('node_modules'), join(tree, 'node_modules'));
  for (const [file, change] of recipes.flatMap(([, { changes }]) => Object.entries(changes))) {
    if (forgotten.includes(file)) continue;
    const path = join(tree, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof change === 'string' ? change : replaced(file, change));
  }
  if (!forgotten.includes(DOCS)) await run(process.execPath, ['scripts/write-docs.ts'], { cwd: tree });
  return tree;
}

function replaced(file: string, pairs: readonly (readonly [find: string, replacement: string])[]): string {
  let text = readFileSync(file, 'utf8');
  for (const [find, replacement] of pairs) {
    expect(text).toContain(find);
    text = text.replace(find, () => replacement);
  }
  return text;
}

const FILES = [
  ...[
    'features/openapi',
    'features/reserves',
    'mcp/tools',
    'mcp/stdio',
    'custody/limits-count',
    'docs/generated-pages',
  ],
  ...[
    'custody/payments/payment-requests',
    'providers/price-venues',
    'providers/recorded-bodies',
    'site/pages',
  ],
  ...['migrations', 'workers/paging'],
].map((file) => `test/${file}.test.ts`);

/** Of a person who runs one file. */
const { TEST_SUITE: _suite, VITEST: _vitest, ...environment } = process.env;
type Result = { readonly ancestorTitles: readonly string[]; readonly title: string; readonly status: string };
type Report = { readonly testResults: readonly { readonly assertionResults: readonly Result[] }[] };

/** Of each title, whether all of its tests passed in this tree; undefined if it has none. */
async function outcomes(
  tree: string,
  tests: readonly string[],
  files: readonly string[],
): Promise<(boolean | undefined)[]> {
  const report = join(tree, 'report.json');
  const titles = tests.map((test) => test.replaceAll(/[?.[\]]/g, '.')).join('|');
  const args = ['--project=node', '--project=workers', '--reporter=json', `--outputFile=${report}`];
  await run('npx', ['vitest', 'run', ...args, '-t', titles, ...files], { cwd: tree, env: environment }).catch(
    () => undefined,
  );
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  return tests.map((test) => {
    const own = results.filter(({ ancestorTitles, title }) =>
      [...ancestorTitles, title].join(' > ').includes(test),
    );
    return own.length > 0 ? own.every(({ status }) => status === 'passed') : undefined;
  });
}

const table = readFileSync('CONTRIBUTING.md', 'utf8')
  .split('\n')
  .flatMap((line) => /^\| (an? [^|]+) \| ([^|]+) \|/.exec(line)?.slice(1) ?? []);
const rows = Object.fromEntries(
  table.flatMap((cell, at) => (at % 2 === 0 ? [[cell, table[at + 1] ?? '']] : [])),
);

it('every recipe of CONTRIBUTING has an example', () => {
  expect(Object.keys(rows)).toEqual(Object.keys(RECIPES));
});

it.each(recipes)('the example of %s changes the kinds of files that the recipe names', (name, recipe) => {
  const named = [...(rows[name] ?? '').matchAll(/`([\w.-]+\/[\w./-]*|[\w-]+\.sql|\.dev[\w.]+)`/g)].map(
    ([, file = '']) => file,
  );
  const changed = [...Object.keys(recipe.changes), ...(recipe.generated ?? [])];
  for (const file of changed)
    expect(
      named.some((each) => file.startsWith(each)),
      file,
    ).toBe(true);
});

it.each([
  ['pass after every step of each', [], [...GUARDING, LISTED], FILES, true],
  ['fail without one step of each', guards.map(([step]) => step), GUARDING, FILES, false],
  [
    'fail if the store ignores a parameter',
    [DOCS, 'src/features/tokens/token-store.ts'],
    [SELECTED],
    ['test/workers/paging.test.ts'],
    false,
  ],
] as const)(
  'the tests that the recipes name %s',
  async (name, forgotten, tests, files, passed) => {
    const results = await outcomes(await changedTree(name, forgotten), tests, files);
    expect(tests.map((test, at) => [test, results[at]])).toEqual(tests.map((test) => [test, passed]));
  },
  300_000,
);
