import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const LARGEST = 350;
const MEDIAN = 110;

const src = join(import.meta.dirname, '../src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => ({ file, lines: readFileSync(join(src, file), 'utf8').split('\n').length - 1 }));

it('no source file is longer than a reader can hold', () => {
  expect(files.filter(({ lines }) => lines > LARGEST)).toEqual([]);
});

it('half of the source files are short', () => {
  const sorted = files.map(({ lines }) => lines).sort((a, b) => a - b);
  expect(sorted.length).toBeGreaterThan(100);
  expect(sorted[sorted.length >> 1]).toBeLessThanOrEqual(MEDIAN);
});
