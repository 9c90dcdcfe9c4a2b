import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
/** A text that ends with a word, joined to one that begins with a word on the next line. */
const GLUED = /(?<!\\)[\w.,;:)’]['"`] ?\+\n\s*['"`][A-Za-z]/;

it('a text on several lines has a space between the words at each line end', () => {
  const files = globSync('{src,site,packages}/**/*.{ts,tsx}', {
    cwd: root,
    exclude: ['**/dist/**', '**/node_modules/**'],
  });
  expect(files.length).toBeGreaterThan(200);
  expect(files.filter((file) => GLUED.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});
