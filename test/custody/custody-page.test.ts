import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/build/custody.md'), 'utf8');

it('every source file that the code map of the custody page names exists', () => {
  const [map = ''] = page.slice(page.indexOf('## Where the code is')).split('## Limits');
  const named = [...map.matchAll(/`((?:[a-z-]+\/)*[a-z-]+\.ts)`/g)].map(([, file = '']) => file);
  expect(named.length).toBeGreaterThan(20);
  const exists = (file: string) =>
    ['src/custody', '.'].some((folder) => existsSync(join(root, folder, file)));
  expect(named.filter((file) => !exists(file))).toEqual([]);
});
