import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BTC_DECIMALS,
  ceilSignificant,
  formatAmount,
  parseAmount,
  parseWrittenAmount,
  SOL_DECIMALS,
  toNumber,
} from '../../src/core/amount.ts';

const atomsOf = (text: string, decimals = SOL_DECIMALS) => {
  const parsed = parseAmount(text, decimals);
  return parsed.ok ? parsed.atoms : parsed.reason;
};
const anyAtoms = fc.bigInt({ min: 0n, max: 2n ** 80n });
const anyDecimals = fc.integer({ min: 0, max: 18 });

describe('parseAmount', () => {
  it.each([
    ['2.01', 2_010_000_000n],
    ['0', 0n],
    ['0.0', 0n],
    ['1', 1_000_000_000n],
    ['0.000000001', 1n],
    ['0.100000000', 100_000_000n],
    ['00002.5', 2_500_000_000n],
    ['18446744073.709551615', 18_446_744_073_709_551_615n],
    // 0.57 * 1e9 and 1.15 * 1e9 are not these integers in doubles.
    ['0.57', 570_000_000n],
    ['1.15', 1_150_000_000n],
  ])('%s SOL is %s lamports', (text, lamports) => {
    expect(atomsOf(text)).toBe(lamports);
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

  it.each([
    ['nothing', ''],
    ['a space', ' '],
    ['a leading space', ' 1'],
    ['a trailing space', '1 '],
    ['a trailing line feed', '1\n'],
    ['a minus sign', '-1'],
    ['a plus sign', '+1'],
    ['an exponent', '1e3'],
    ['a capital exponent', '1E3'],
    ['a negative exponent', '1e-9'],
    ['a huge exponent', '1e400'],
    ['hexadecimal', '0x10'],
    ['a word', 'abc'],
    ['Infinity', 'Infinity'],
    ['NaN', 'NaN'],
    ['no whole part', '.5'],
    ['no fraction after the point', '5.'],
    ['two points', '1.2.3'],
    ['a comma', '1,5'],
    ['a thousands separator', '1_000'],
    ['digits that are not ASCII', '١٢'],
    ['full-width digits', '１'],
    ['a long text that begins with a letter', `x${'1'.repeat(100)}`],
    ['a point after 64 letters', `${'a'.repeat(64)}.1`],
  ])('%s is not a decimal', (_name, text) => {
    expect(atomsOf(text)).toBe('not_a_decimal');
  });

  it.each([
    ['0.1234567890123', SOL_DECIMALS],
    ['0.0000000001', SOL_DECIMALS],
    ['1.123456789', BTC_DECIMALS],
    ['1.5', 0],
  ])('refuses %s because it has more digits than a unit with %i decimals', (text, decimals) => {
    expect(atomsOf(text, decimals)).toBe('too_many_digits');
  });

  it('zeros after the last digit of the unit do not change an amount', () => {
    expect(atomsOf('0.1234567890000')).toBe(123_456_789n);
  });

  it('a text of 64 characters is read, and texts of 65 and of 10,000 characters are too large', () => {
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

  it('parseAmount never accepts text that is not plain digits around at most one point', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (text) => {
        const parsed = parseAmount(text, SOL_DECIMALS);
        if (parsed.ok) expect(text).toMatch(/^[0-9]+(\.[0-9]+)?$/);
      }),
    );
  });
});

it.each([
  [2_010_000_000n, 9, '2.01'],
  [0n, 9, '0'],
  [1n, 9, '0.000000001'],
  [1_000_000_000n, 9, '1'],
  [-1_500_000_000n, 9, '-1.5'],
  [-1n, 8, '-0.00000001'],
  [123n, 0, '123'],
])('%s atoms of %i decimals are %s', (atoms, decimals, text) => {
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
  it.each([
    [123_456n, 3, 124_000n],
    [123_000n, 3, 123_000n],
    [999_999n, 3, 1_000_000n],
    [12n, 3, 12n],
    [0n, 3, 0n],
  ])('the amount %s at %i digits is rounded up to %s', (atoms, digits, ceil) => {
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

  it.each([
    ['5e-1', 500_000_000n],
    ['5E-1', 500_000_000n],
    ['1e+3', 1_000_000_000_000n],
    ['1.5e2', 150_000_000_000n],
    ['1e-9', 1n],
    ['1e-10', 0n],
    ['12345e-14', 0n],
    ['0e999', 0n],
    ['0.30000000000000004', 300_000_000n],
    ['0.7999999999999999', 799_999_999n],
    ['1e400', 'too_large'],
    ['1e-400', 0n],
    ['-1', 'not_a_decimal'],
    ['+1', 'not_a_decimal'],
    ['1e', 'not_a_decimal'],
    ['1e1.5', 'not_a_decimal'],
    ['e5', 'not_a_decimal'],
    [' 1', 'not_a_decimal'],
    ['9'.repeat(65), 'too_large'],
  ])('parseWrittenAmount reads %s SOL as %s', (text, atoms) => expect(written(text)).toBe(atoms));

  it('parseWrittenAmount refuses digits beyond the unit if the caller does not drop them', () => {
    expect(written('1.5', 0, 'refuse')).toBe('too_many_digits');
    expect(written('15e-1', 0, 'refuse')).toBe('too_many_digits');
    expect(written('1e-1', 0, 'refuse')).toBe('too_many_digits');
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
