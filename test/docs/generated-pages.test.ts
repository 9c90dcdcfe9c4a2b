import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { generatedPages } from '../../scripts/generated-pages.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { swapDetails } from './markdown.ts';

const pages = generatedPages();

it.each(Object.keys(pages))('%s equals the output of `npm run docs`', (file) => {
  expect(readFileSync(file, 'utf8')).toBe(pages[file]);
});

it('SKILL.md names only error codes that src/core/errors.ts defines', () => {
  const named = [...(pages['SKILL.md'] ?? '').matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`/g)].map(
    ([, code]) => code ?? '',
  );
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((code) => !(code in ERRORS))).toEqual([]);
});

it('SKILL.md explains each `detail` value that the code can set for a swap, and no other value', () => {
  const texts = ['custody', 'bridges'].flatMap((folder) =>
    readdirSync(`src/${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(`src/${folder}/${file}`, 'utf8')),
  );
  for (const word of swapDetails().keys())
    expect(
      texts.some((text) => text.includes(`'${word}'`)),
      word,
    ).toBe(true);
  const machine = readFileSync('src/custody/kernel/state-machine.ts', 'utf8');
  const set = [...machine.matchAll(/\bdetail: (?:\S+ \? '(\w+)' : )?'(\w+)'/g)].flatMap(
    ([, ...words]) => words,
  );
  // A planned or refused swap has no id, because nothing is signed.
  const inside = ['planned', 'refused'];
  const shown = set.filter((word) => word && !inside.includes(word));
  expect(shown.length).toBeGreaterThan(5);
  for (const word of shown) expect(swapDetails().has(word), word).toBe(true);
});
