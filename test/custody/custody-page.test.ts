import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MUTANTS } from '../simulator/mutants.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/custody.md'), 'utf8');

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
  const exists = (file: string) =>
    ['src/custody', '.'].some((folder) => existsSync(join(root, folder, file)));
  expect(named.filter((file) => !exists(file))).toEqual([]);
});
