import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ceilSignificant,
  formatAmount,
  parseAmount,
  parseWrittenAmount,
  SOL_DECIMALS,
  toNumber,
} from '../../src/core/amount.ts';
import { eachRow } from '../kit/scenes.ts';

const atomsOf = (text: string, decimals = SOL_DECIMALS) => {
  const parsed = parseAmount(text, decimals);
  return parsed.ok ? parsed.atoms : parsed.reason;
};
const anyAtoms = fc.bigInt({ min: 0n, max: 2n ** 80n });
const anyDecimals = fc.integer({ min: 0, max: 18 });

describe('parseAmount', () => {
  // 0.57 * 1e9 and 1.15 * 1e9 are not these integers in doubles.
  eachRow<[text: string, decimals: number, atoms: bigint | string]>(`
    "2.01"                  | 9 | 2_010_000_000n
    "0"                     | 9 | 0n
    "0.0"                   | 9 | 0n
    "1"                     | 9 | 1_000_000_000n
    "0.000000001"           | 9 | 1n
    "0.100000000"           | 9 | 100_000_000n
    "0.1234567890000"       | 9 | 123_456_789n
    "00002.5"               | 9 | 2_500_000_000n
    "18446744073.709551615" | 9 | 18_446_744_073_709_551_615n
    "0.57"                  | 9 | 570_000_000n
    "1.15"                  | 9 | 1_150_000_000n
    "0.1234567890123"       | 9 | too_many_digits
    "0.0000000001"          | 9 | too_many_digits
    "1.123456789"           | 8 | too_many_digits
    "1.5"                   | 0 | too_many_digits
  `)('%s with %i decimals is read as %s', (text, decimals, atoms) => {
    expect(atomsOf(text, decimals)).toBe(atoms);
  });

  it('every two-decimal amount up to 100 SOL is exact, although a product of doubles is not', () => {
    let doublesWrong = 0;
    for (let cents = 0; cents <= 10_000; cents++) {
      const text = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
      expect(atomsOf(text)).toBe(BigInt(cents) * 10_000_000n);
      if (Math.floor(Number(text) * 1e9) !== cents * 10_000_000) doublesWrong++;
    }
    expect(doublesWrong).toBeGreaterThan(0);
  });

  const texts =
    '| | 1|1 |1\n|-1|+1|1e3|1E3|1e-9|1e400|0x10|abc|Infinity|NaN|.5|5.|1.2.3|1,5|1_000|١٢|１'.split('|');
  it.each([...texts, `x${'1'.repeat(100)}`, `${'a'.repeat(64)}.1`])('%j is not a decimal', (text) => {
    expect(atomsOf(text)).toBe('not_a_decimal');
  });

  it('a string of 64 characters is read, and strings of 65 and of 10,000 characters are too large', () => {
    expect(atomsOf('1'.repeat(64))).toBe(BigInt('1'.repeat(64)) * 10n ** 9n);
    expect(atomsOf('1'.repeat(65))).toBe('too_large');
    expect(atomsOf('9'.repeat(10_000))).toBe('too_large');
    expect(atomsOf(`0.${'0'.repeat(10_000)}`)).toBe('too_large');
  });

  it('parseAmount reads back what formatAmount writes', () => {
    fc.assert(
      fc.property(anyAtoms, anyDecimals, (atoms, decimals) => {
        expect(atomsOf(formatAmount(atoms, decimals), decimals)).toBe(atoms);
      }),
    );
  });

  it('parseAmount never accepts a string that is not plain digits around at most one point', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (text) => {
        const parsed = parseAmount(text, SOL_DECIMALS);
        if (parsed.ok) expect(text).toMatch(/^[0-9]+(\.[0-9]+)?$/);
      }),
    );
  });
});

eachRow<[atoms: bigint, decimals: number, text: string]>(`
  2_010_000_000n  | 9 | "2.01"
  0n              | 9 | "0"
  1n              | 9 | "0.000000001"
  1_000_000_000n  | 9 | "1"
  -1_500_000_000n | 9 | "-1.5"
  -1n             | 8 | "-0.00000001"
  123n            | 0 | "123"
`)('%s atoms of %i decimals are written as %s', (atoms, decimals, text) => {
  expect(formatAmount(atoms, decimals)).toBe(text);
});

it('formatAmount writes no exponent, no trailing zero and no trailing point', () => {
  fc.assert(
    fc.property(anyAtoms, anyDecimals, (atoms, decimals) => {
      expect(formatAmount(atoms, decimals)).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
    }),
  );
});

it('the JSON number of an amount is the nearest double', () => {
  expect(toNumber(2_010_000_000n, 9)).toBe(2.01);
  expect(toNumber(0n, 9)).toBe(0);
  expect(toNumber(1_125_000_000_000_000_001n, 9)).toBe(1_125_000_000);
});

describe('rounding', () => {
  eachRow<[atoms: bigint, digits: number, ceil: bigint]>(`
    123_456n | 3 | 124_000n
    123_000n | 3 | 123_000n
    999_999n | 3 | 1_000_000n
    12n      | 3 | 12n
    0n       | 3 | 0n
  `)('the amount %s at %i digits is rounded up to %s', (atoms, digits, ceil) => {
    expect(ceilSignificant(atoms, digits)).toBe(ceil);
  });

  it('rounding up keeps the given digits and adds less than one unit of the last digit', () => {
    fc.assert(
      fc.property(anyAtoms, fc.integer({ min: 1, max: 6 }), (atoms, digits) => {
        const ceil = ceilSignificant(atoms, digits);
        const unit = 10n ** BigInt(Math.max(atoms.toString().length - digits, 0));
        expect(ceil % unit).toBe(0n);
        expect(ceil >= atoms && ceil < atoms + unit).toBe(true);
      }),
    );
  });
});

describe('parseWrittenAmount', () => {
  const written = (text: string, decimals = SOL_DECIMALS, excess: 'drop' | 'refuse' = 'drop') => {
    const parsed = parseWrittenAmount(text, decimals, excess);
    return parsed.ok ? parsed.atoms : parsed.reason;
  };

  eachRow<[text: string, atoms: bigint | string]>(`
    "5e-1"                | 500_000_000n
    "5E-1"                | 500_000_000n
    "1e+3"                | 1_000_000_000_000n
    "1.5e2"               | 150_000_000_000n
    "1e-9"                | 1n
    "1e-10"               | 0n
    "12345e-14"           | 0n
    "0e999"               | 0n
    "0.30000000000000004" | 300_000_000n
    "0.7999999999999999"  | 799_999_999n
    "1e400"               | too_large
    "1e-400"              | 0n
    "${'9'.repeat(65)}"   | too_large
    "-1"                  | not_a_decimal
    "+1"                  | not_a_decimal
    "1e"                  | not_a_decimal
    "1e1.5"               | not_a_decimal
    "e5"                  | not_a_decimal
    " 1"                  | not_a_decimal
  `)('parseWrittenAmount reads %s SOL as %s', (text, atoms) => expect(written(text)).toBe(atoms));

  it('parseWrittenAmount refuses digits beyond the unit if the caller does not drop them', () => {
    for (const text of ['1.5', '15e-1', '1e-1']) expect(written(text, 0, 'refuse')).toBe('too_many_digits');
    expect(written('1.50e1', 0, 'refuse')).toBe(15n);
  });

  it('every number that JavaScript writes is read as that number or less than an atom below it', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (value) => {
        const atoms = written(String(value));
        if (typeof atoms !== 'bigint') throw new Error(atoms);
        const [whole = '', fraction = ''] = value.toFixed(30).split('.');
        const exact = BigInt(whole + fraction.padEnd(30, '0').slice(0, 30));
        // String() writes the shortest text that reads back as the double: it may be a little above its exact value.
        const slack = BigInt(Math.ceil(value * 2 ** -52 * 1e30));
        expect(atoms * 10n ** 21n <= exact + slack).toBe(true);
        expect((atoms + 1n) * 10n ** 21n > exact - slack).toBe(true);
      }),
    );
  });
});
