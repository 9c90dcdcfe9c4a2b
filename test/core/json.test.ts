import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ExactNumber,
  integerOf,
  isShallow,
  numberText,
  parseJson,
  parseUpstreamJson,
  stringifyJson,
} from '../../src/core/json.ts';

describe('parseJson', () => {
  it.each('0 1 0.5 2.01 123456789.25 -3 9007199254740991'.split(' '))(
    'parseJson reads %s as a number',
    (text) => {
      expect(parseJson(text)).toBe(Number(text));
    },
  );

  const exact = '1e400 1e3 1E3 0.10 1.0 -0 18446744073709551615 9007199254740993 0.12345678901234567891';
  it.each(exact.split(' '))('parseJson keeps the text of %s', (text) => {
    expect(parseJson(text)).toEqual(new ExactNumber(text));
  });

  it.each(['1e-7', '1e21'])('parseJson keeps the exponent of %s in its text', (text) => {
    expect(numberText(parseJson(text))).toBe(text);
  });

  it('parseJson keeps the digits of a number at any depth', () => {
    expect(parseJson('{"a":[1,{"b":1.50}]}')).toEqual({ a: [1, { b: new ExactNumber('1.50') }] });
  });

  it('parseJson keeps a member named __proto__ as an ordinary member', () => {
    const value = parseJson('{"__proto__":{"x":1}}') as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Reflect.get({}, 'x')).toBeUndefined();
  });

  it.each('|{|{"a":1|[1,]|{\'a\':1}|NaN|01|+1|.5|1.|undefined'.split('|'))('%j is not JSON', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

it.each(['0.10', '1.0', '12e2', '0.5000000000000000001'])(
  'parseUpstreamJson reads %s as a double',
  (text) => {
    expect(parseUpstreamJson(text)).toBe(Number(text));
  },
);

it('an integer of any size is exact', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 39n), max: 10n ** 39n }), (integer) => {
      expect(integerOf(parseUpstreamJson(integer.toString()))).toBe(integer);
      expect(integerOf(parseJson(integer.toString()))).toBe(integer);
      expect(integerOf(integer.toString())).toBe(integer);
    }),
  );
});

const NO_NUMBERS = [1.5, 1e21, Number.NaN, 1 / 0, new ExactNumber('1e3'), null, undefined, true, {}, [], [1]];
it.each([...NO_NUMBERS, '', ' 1', '1.0', '1e3', '0x1', '1'.repeat(41)])('%s is not an integer', (value) => {
  expect(integerOf(value)).toBeUndefined();
});

it.each([
  [1.5, '1.5'],
  ['abc', 'abc'],
  [new ExactNumber('1.50'), '1.50'],
  [null, undefined],
  [true, undefined],
  [{}, undefined],
])('numberText returns for the value %s: %s', (value, text) => {
  expect(numberText(value)).toBe(text);
});

describe('isShallow', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
  const wide = (members: number) =>
    Object.fromEntries(Array.from({ length: members }, (_, at) => [`k${at}`, 1]));

  it('isShallow accepts eight levels and refuses nine', () => {
    expect(isShallow(nested(8))).toBe(true);
    expect(isShallow(nested(9))).toBe(false);
  });

  it('isShallow accepts 64 members of an object or array and refuses 65', () => {
    expect(isShallow(wide(64))).toBe(true);
    expect(isShallow(wide(65))).toBe(false);
    expect(isShallow(Array(64).fill(0))).toBe(true);
    expect(isShallow(Array(65).fill(0))).toBe(false);
    expect(isShallow({ inner: wide(65) })).toBe(false);
  });

  it.each([1, 'text', null, true, new ExactNumber('1e400')])('isShallow accepts %s', (value) => {
    expect(isShallow(value)).toBe(true);
  });
});

it('a bigint is written as a decimal string', () => {
  expect(stringifyJson({ a: 1n, b: [2n ** 64n], c: 'x' })).toBe(
    '{"a":"1","b":["18446744073709551616"],"c":"x"}',
  );
});
