import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as zod from 'zod';
import * as lean from '../../scripts/bundle/zod.ts';

/** `core` is the library's inside, which leads to the languages again. */
const LEFT_OUT = ['core', 'default', 'locales'];

it('has every other member of zod, the very same one', () => {
  const { z: whole, ...members } = zod;
  const { z, ...own } = lean;
  const expected = Object.keys(members).filter((name) => !LEFT_OUT.includes(name));
  expect(Object.keys(own).sort()).toEqual(expected.sort());
  for (const name of expected)
    expect(own[name as keyof typeof own], name).toBe(whole[name as keyof typeof whole]);
  expect(
    Object.keys(z)
      .filter((name) => name !== 'z')
      .sort(),
  ).toEqual(expected);
});

it('is what the Worker is built with', () => {
  expect(readFileSync('wrangler.toml', 'utf8')).toMatch(
    /^\[alias\]\n(?:#.*\n)*"zod" = "\.\/scripts\/bundle\/zod\.ts"$/m,
  );
});
