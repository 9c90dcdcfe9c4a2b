import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, blocksOf, linksOf, PAGES } from './markdown.ts';

const links = PAGES.flatMap((file) =>
  linksOf(readFileSync(file, 'utf8')).map((target) => [file, target] as const),
);
const local = links.filter(([, target]) => !/^[a-z]+:/i.test(target));
/** Linked external pages, which no offline test can check. */
const ELSEWHERE = ['https://keepachangelog.com/en/1.1.0/', 'https://www.surfpool.run'];

describe.each(local)('%s: %s', (file, target) => {
  const [path = '', anchor] = target.split('#');
  const page = path === '' ? file : normalize(join(dirname(file), path));

  it('the target of each link in the documentation exists', () => {
    expect(existsSync(page), page).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(readFileSync(page, 'utf8'))).toContain(anchor);
  });
});

it('every link to another site is in the list of known pages', () => {
  const other = links.filter(([, target]) => /^[a-z]+:/i.test(target)).map(([, target]) => target);
  expect([...new Set(other)].sort()).toEqual([...ELSEWHERE].sort());
  for (const url of ELSEWHERE) expect(new URL(url).protocol).toBe('https:');
});

it('every path of the repository that the documentation names in backticks exists', () => {
  const named = [...PAGES, 'CONTRIBUTING.md'].flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/`((?:src|test|scripts|site|docs)\/[\w./[\]-]+)`/g)].map(
      ([, path = '']) => [file, path] as const,
    ),
  );
  expect(named.length).toBeGreaterThan(10);
  // Generated, not stored in git.
  const made = ['test/fixtures/probe'];
  expect(named.filter(([, path]) => !existsSync(path) && !made.includes(path))).toEqual([]);
});

it('the map in CONTRIBUTING names each file and folder of src in its place', () => {
  const map = blocksOf('CONTRIBUTING.md').find(
    ({ language, text }) => language === '' && text.startsWith('src/'),
  );
  const lines = (map?.text ?? '').split('\n').filter((line) => line.startsWith('  '));
  expect(lines.length).toBeGreaterThan(8);
  for (const line of lines)
    expect(existsSync(join('src', line.trim().split(/\s/)[0] ?? '')), line).toBe(true);
});
