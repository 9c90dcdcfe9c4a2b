import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as zod from 'zod';
import * as empty from '../../scripts/bundle/no-answers.ts';
import * as lean from '../../scripts/bundle/zod.ts';
import { extendZodWithOpenApi } from '../../scripts/bundle/zod-to-openapi.ts';

it('has the same members as zod', () => {
  const { z: whole } = zod;
  const { z, iso, ...members } = lean;
  for (const [name, member] of Object.entries(members))
    expect(member, name).toBe(whole[name as keyof typeof whole]);
  expect([iso.date, iso.datetime]).toEqual([zod.iso.date, zod.iso.datetime]);
  expect(Object.keys(z).sort()).toEqual([...Object.keys(members), 'iso', 'z'].sort());
});

it('has every member that the Worker names', () => {
  const sources = globSync('src/**/*.ts', { exclude: ['src/mcp/**'] }).map((file) =>
    readFileSync(file, 'utf8'),
  );
  const named = (pattern: RegExp) =>
    new Set(sources.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name)));
  const types = ['core', 'infer', 'output', 'ZodRawShape'];
  const members = [...named(/\bz\.(\w+)/g)].filter((name) => !types.includes(name));
  expect(members.length).toBeGreaterThan(15);
  expect(Object.keys(lean)).toEqual(expect.arrayContaining(members));
  expect(Object.keys(lean.iso)).toEqual(expect.arrayContaining([...named(/\bz\.iso\.(\w+)/g)]));
});

it('keeps a described schema unchanged', () => {
  class ZodType {
    declare openapi: (description: object) => unknown;
  }
  extendZodWithOpenApi({ ZodType });
  const schema = new ZodType();
  expect(schema.openapi({ description: 'text' })).toBe(schema);
});

it('is the module that the Worker is built with', () => {
  expect(readFileSync('wrangler.toml', 'utf8')).toMatch(
    /^\[alias\]\n(?:#.*\n)*"zod" = "\.\/scripts\/bundle\/zod\.ts"\n"@asteasolutions\/zod-to-openapi" = "\.\/scripts\/bundle\/zod-to-openapi\.ts"$/m,
  );
});

it('has an empty function for each that routes use to describe answers', () => {
  const used = globSync('src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^import \{([^}]*)\} from '#answers';$/gm)].flatMap(
      ([, names = '']) => names.split(',').map((name) => name.trim()),
    ),
  );
  const names = [...new Set(used)].filter((name) => name !== '');
  expect(names.length).toBeGreaterThan(3);
  expect(Object.keys(empty).sort()).toEqual(names.sort());
  for (const nothing of Object.values(empty)) expect(nothing()).toBeUndefined();
  expect(readFileSync('wrangler.toml', 'utf8')).toContain('"#answers" = "./scripts/bundle/no-answers.ts"');
});
