import { describe, expect, it } from 'vitest';
import { amountFault, isAmount } from '../../site/parts/amount-text.ts';
import {
  ago,
  amountOf,
  btc,
  clock,
  fromUnixSeconds,
  grouped,
  instant,
  inWords,
  rounded,
  roundedUp,
  sats,
  shortened,
  shortSol,
  significant,
  sol,
  units,
} from '../../site/parts/format.ts';

describe('amounts', () => {
  it.each([
    ['0', '0'],
    ['999', '999'],
    ['1000', '1,000'],
    ['1234567.00000001', '1,234,567.00000001'],
    ['-1234', '−1,234'],
    ['18446744073709551615', '18,446,744,073,709,551,615'],
  ])('writes the number %s as %s', (text, want) => {
    expect(grouped(text)).toBe(want);
  });

  it.each([
    ['365', '365'],
    ['2500.5', '2,500.5'],
    ['0.000000123456789', '0.000000123456'],
    ['999999999.999999', '999,999,999'],
    ['1234567890.5', '1.234 billion'],
    ['18446744073709551615', '18,446 quadrillion'],
    ['not a number', 'not a number'],
  ])('shows the supply %s as %s', (text, want) => {
    expect(inWords(text)).toBe(want);
  });

  it('keeps digits that a double would lose', () => {
    expect(sats('9007199254740993')).toBe('9,007,199,254,740,993');
    expect(sol('18446744073709551615')).toBe('18,446,744,073.709551615');
  });

  it('shows BTC with all eight digits, and SOL without trailing zeros', () => {
    expect(btc('1000000')).toBe('0.01000000');
    expect(btc('2100000000000000')).toBe('21,000,000.00000000');
    expect(sol('500000000')).toBe('0.5');
  });

  it('shows text that is not an integer unchanged, never as a number', () => {
    for (const text of ['', 'NaN', '1.5', '1e9', '<b>', '9'.repeat(80)]) {
      expect(sats(text)).toBe(text);
      expect(btc(text)).toBe(text);
      expect(units(text, 6)).toBe(text);
    }
  });

  it.each([
    ['80000.00000000001455', 6, '80000'],
    ['0.000012499999', 6, '0.0000124999'],
    ['2000.123456', 6, '2000.12'],
    ['0', 6, '0'],
    ['0.0000', 6, '0'],
    ['1234567', 3, '1234567'],
  ])('%s rounds to %i significant digits as %s', (text, digits, want) => {
    expect(significant(text, digits)).toBe(want);
  });

  it('rounds amounts down', () => {
    expect(rounded('1.999', 2)).toBe('1.99');
    expect(rounded('1.999', 0)).toBe('1');
    expect(rounded('1.000', 2)).toBe('1');
  });

  it.each(['1e3', '+1', '-1', '.5', '5.', '0x10', '1 0', '١', 'NaN', 'Infinity'])(
    'refuses %s as an amount',
    (text) => {
      expect(isAmount(text, 9, 'SOL')).toBe(false);
      expect(amountFault(text, 9, 'SOL')).toBe('Digits and one point, such as 0.5');
    },
  );

  it('the error of an amount with a comma explains the comma', () => {
    for (const text of ['1,5', '1,000'])
      expect(amountFault(text, 9, 'SOL')).toBe(
        'Write a point instead of the comma, such as 0.5, and do not group digits.',
      );
  });

  it('the error of an amount that is too large names the maximum', () => {
    expect(amountFault('2.000000001', 9, 'SOL', 2_000_000_000n)).toBe('At most 2 SOL.');
    expect(amountFault('2', 9, 'SOL', 2_000_000_000n)).toBeNull();
    expect(isAmount('1000000001', 6, 'USDC', 10n ** 15n)).toBe(false);
  });

  it('the error of an amount explains too many digits, and zero', () => {
    expect(amountFault('0.0000000001', 9, 'SOL')).toBe('At most 9 digits after the point.');
    expect(amountFault('0', 9, 'SOL')).toBe('More than 0 SOL.');
  });

  it('treats an empty field neither as an error nor as an amount', () => {
    expect(amountFault(' ', 9, 'SOL')).toBeNull();
    expect(isAmount(' ', 9, 'SOL')).toBe(false);
  });
});

it.each([
  ['0.0489123', 4, '0.04892'],
  ['0.1000001', 4, '0.1001'],
  ['0.05', 4, '0.05'],
  ['12.34561', 4, '12.35'],
  ['123456.7', 4, '123457'],
  ['0.99999', 4, '1'],
])('the minimum %s rounds up to %i digits as %s', (text, digits, want) => {
  expect(roundedUp(text, digits)).toBe(want);
});

describe('short amounts', () => {
  it.each([
    ['1', '0.000000001'],
    ['99999', '0.000099999'],
    ['100000', '0.0001'],
    ['9499987900', '9.4999'],
    ['0', '0'],
    ['1234567000000000', '1,234,567'],
  ])('shows %s lamports as %s SOL, and as zero only if the amount is zero', (lamports, want) => {
    expect(shortSol(lamports)).toBe(want);
  });

  it.each([
    ['0', '0 sats'],
    ['1', '1 sat'],
    ['2', '2 sats'],
    ['61975', '61,975 sats'],
  ])('uses the right singular or plural of the unit for %s', (atoms, want) => {
    expect(amountOf(atoms, 'sat')).toBe(want);
    expect(amountOf(BigInt(atoms), 'sat')).toBe(want);
  });
});

describe('times', () => {
  it('shows times in UTC in every locale', () => {
    expect(instant('2026-11-20T17:44:58.009Z')).toBe('2026-11-20 17:44 UTC');
    expect(fromUnixSeconds(1_795_196_687)).toBe('2026-11-20T17:44:47.000Z');
  });

  it('shows an invalid time text unchanged, and nothing for a number that is out of range', () => {
    expect(instant('<script>')).toBe('<script>');
    expect(fromUnixSeconds(1e300)).toBe('');
  });

  it.each([
    [0, 'just now'],
    [-9, 'just now'],
    [1, 'just now'],
    [30, '30 seconds ago'],
    [89, '1 minute ago'],
    [120, '2 minutes ago'],
    [3600, '1 hour ago'],
    [7200, '2 hours ago'],
    [400_000, '4 days ago'],
  ])('shows an age of %i seconds as "%s"', (seconds, want) => {
    expect(ago(0, seconds * 1000)).toBe(want);
  });

  it('a countdown shows minutes and two digits of seconds, and never goes below zero', () => {
    expect([clock(95), clock(60), clock(9.9), clock(-4)]).toEqual(['1:35', '1:00', '0:09', '0:00']);
  });
});

it('shortens a long text to its two ends and shows a short one completely', () => {
  expect(shortened('bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq')).toBe('bc1qar…wf5mdq');
  expect(shortened('1234567890123')).toBe('1234567890123');
});
