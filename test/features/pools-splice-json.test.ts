import fc from 'fast-check';
import { expect, it } from 'vitest';
import { spliceJson } from '../../src/features/pools/upstream-pool.ts';

const VALUES = { a: '"9"', 'k"\\': '1e400', fresh: '{"x":[]}' };

/** The same JSON with spaces, line breaks and escapes that no writer puts there. */
function spread(value: unknown, space: () => string): string {
  const between = (open: string, parts: string[], close: string) =>
    `${open}${space()}${parts.join(`${space()},${space()}`)}${space()}${close}`;
  if (Array.isArray(value))
    return between(
      '[',
      value.map((item) => spread(item, space)),
      ']',
    );
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, item]) => `${escaped(key)}${space()}:${space()}${spread(item, space)}`,
    );
    return between('{', members, '}');
  }
  return typeof value === 'string' ? escaped(value) : JSON.stringify(value);
}

const escaped = (text: string): string =>
  JSON.stringify(text).replaceAll('a', '\\u0061').replaceAll('/', '\\/');

const spaces = fc.infiniteStream(fc.constantFrom('', ' ', '\n', '\t', '\r\n  '));
/** As it reads back: -0 is written as 0. */
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const members = fc.dictionary(fc.oneof(fc.constantFrom('a', 'k"\\', 'data', '}'), fc.string()), json);

it('sets members of one object and of no other, in any surrounding text', () => {
  fc.assert(
    fc.property(members, members, spaces, (top, data, stream) => {
      const next = () => stream.next().value ?? '';
      const body = { ...top, data };
      const text = next() + spread(body, next) + next();
      const changed = spliceJson(text, 'data', VALUES);
      const expected = Object.fromEntries(
        Object.entries(VALUES).map(([key, value]) => [key, JSON.parse(value) as unknown]),
      );
      expect(JSON.parse(changed)).toEqual({ ...body, data: { ...data, ...expected } });
    }),
    { numRuns: 500, seed: 8 },
  );
});

it('leaves every byte outside of the values as it was', () => {
  const text = '{"x":1.0, "data" : {"a" : 0.00 ,"b":"\\u0061", "n":{"a":1}} ,"data2":{"a":2}}\n';
  expect(spliceJson(text, 'data', { a: '7' })).toBe(text.replace('0.00', '7'));
  expect(spliceJson(text, 'data', { c: '7' })).toBe(text.replace(': {"a" :', ': {"c":7,"a" :'));
  expect(spliceJson('{"data":{}}', 'data', { c: '7' })).toBe('{"data":{"c":7}}');
});

it('members and objects that occur twice are set twice, because readers differ in which one they use', () => {
  const text = '{"data":{"a":1,"a":2},"data":{"a":3}}';
  expect(spliceJson(text, 'data', { a: '0' })).toBe('{"data":{"a":0,"a":0},"data":{"a":0}}');
});

it('a text without such an object stays', () => {
  for (const text of ['{"data":[{"a":1}]}', '{"other":{"data":{"a":1}}}', '{}'])
    expect(spliceJson(text, 'data', { a: '0' })).toBe(text);
});
