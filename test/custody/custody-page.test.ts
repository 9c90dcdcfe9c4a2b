import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MUTANTS } from '../simulator/mutants.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/custody.md'), 'utf8');
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(root, 'src', file), 'utf8'));

it('the runbook has a row for every reason for which an operation is held', () => {
  const reasons = [...new Set(sources.flatMap((text) => text.match(/(?<=')held_[a-z_]+(?=')/g) ?? []))];
  expect(reasons.length).toBeGreaterThan(3);
  expect(reasons.filter((reason) => !page.includes(`| \`${reason}\` |`))).toEqual([]);
});

it('the page has a result for every broken rule of the simulator, and for no other', () => {
  const results =
    /^\| (.+) \| (?:seed \d+ \| `\w+`|(?:none of \d+|not measured) \| `[\w/.-]+\.test\.ts`) \|$/gm;
  const rows = [...page.matchAll(results)].map(([, name]) => name);
  expect(rows).toEqual(MUTANTS.map(({ name }) => name));
});

it('every source file that the map of the code names exists', () => {
  const [map = ''] = page.slice(page.indexOf('## Where the code is')).split('## Limits');
  const named = [...map.matchAll(/`((?:[a-z-]+\/)*[a-z-]+\.ts)`/g)].map(([, file = '']) => file);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((file) => !existsSync(join(root, 'src/custody', file)))).toEqual([]);
});
