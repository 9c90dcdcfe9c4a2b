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
import { scenes } from '../kit/scenes.ts';

const FORMATS: Readonly<Record<string, (text: string) => string>> = {
  ...{ grouped, 'supply in words': inWords, sats, sol, btc, 'short SOL': shortSol, instant, shortened },
  'six digits': (text) => significant(text, 6),
  'three digits': (text) => significant(text, 3),
  'two decimals down': (text) => rounded(text, 2),
  'no decimals': (text) => rounded(text, 0),
  'minimum of four digits': (text) => roundedUp(text, 4),
  'amount in sats': (text) => amountOf(text, 'sat'),
  'whole sats': (text) => amountOf(BigInt(text), 'sat'),
  'age of seconds': (text) => ago(0, Number(text) * 1_000),
  countdown: (text) => clock(Number(text)),
  'time of seconds': (text) => fromUnixSeconds(Number(text)),
};

/** Digits that a double would lose stay; only the named formats round. Times are UTC in every locale. */
it.each(
  scenes(`
  grouped | 0 | 0
  grouped | 999 | 999
  grouped | 1000 | 1,000
  grouped | 1234567.00000001 | 1,234,567.00000001
  grouped | -1234 | −1,234
  grouped | 18446744073709551615 | 18,446,744,073,709,551,615
  supply in words | 365 | 365
  supply in words | 2500.5 | 2,500.5
  supply in words | 0.000000123456789 | 0.000000123456
  supply in words | 999999999.999999 | 999,999,999
  supply in words | 1234567890.5 | 1.234 billion
  supply in words | 18446744073709551615 | 18,446 quadrillion
  supply in words | not a number | not a number
  sats | 9007199254740993 | 9,007,199,254,740,993
  sol | 18446744073709551615 | 18,446,744,073.709551615
  sol | 500000000 | 0.5
  btc | 1000000 | 0.01000000
  btc | 2100000000000000 | 21,000,000.00000000
  six digits | 80000.00000000001455 | 80000
  six digits | 0.000012499999 | 0.0000124999
  six digits | 2000.123456 | 2000.12
  six digits | 0 | 0
  six digits | 0.0000 | 0
  three digits | 1234567 | 1234567
  two decimals down | 1.999 | 1.99
  no decimals | 1.999 | 1
  two decimals down | 1.000 | 1
  minimum of four digits | 0.0489123 | 0.04892
  minimum of four digits | 0.1000001 | 0.1001
  minimum of four digits | 0.05 | 0.05
  minimum of four digits | 12.34561 | 12.35
  minimum of four digits | 123456.7 | 123457
  minimum of four digits | 0.99999 | 1
  short SOL | 1 | 0.000000001
  short SOL | 99999 | 0.000099999
  short SOL | 100000 | 0.0001
  short SOL | 9499987900 | 9.4999
  short SOL | 0 | 0
  short SOL | 1234567000000000 | 1,234,567
  amount in sats | 0 | 0 sats
  whole sats | 1 | 1 sat
  amount in sats | 1 | 1 sat
  amount in sats | 2 | 2 sats
  whole sats | 61975 | 61,975 sats
  age of seconds | 0 | just now
  age of seconds | -9 | just now
  age of seconds | 1 | just now
  age of seconds | 30 | 30 seconds ago
  age of seconds | 89 | 1 minute ago
  age of seconds | 120 | 2 minutes ago
  age of seconds | 3600 | 1 hour ago
  age of seconds | 7200 | 2 hours ago
  age of seconds | 400000 | 4 days ago
  countdown | 95 | 1:35
  countdown | 60 | 1:00
  countdown | 9.9 | 0:09
  countdown | -4 | 0:00
  instant | 2026-11-20T17:44:58.009Z | 2026-11-20 17:44 UTC
  instant | <script> | <script>
  time of seconds | 1795196687 | 2026-11-20T17:44:47.000Z
  time of seconds | 1e300 |
  shortened | bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq | bc1qar…wf5mdq
  shortened | 1234567890123 | 1234567890123`),
)('the format "%s" shows %s as "%s"', (format = '', text = '', want) => {
  expect(FORMATS[format]?.(text)).toBe(want);
});

it.each(['', 'NaN', '1.5', '1e9', '<b>', '9'.repeat(80)])(
  'shows the string %j, which is not an integer, unchanged and never as a number',
  (text) => {
    expect([sats(text), btc(text), units(text, 6)]).toEqual([text, text, text]);
  },
);

describe('an amount that a visitor types', () => {
  const FORM = 'Digits and one point, such as 0.5';
  const COMMA = 'Write a point instead of the comma, such as 0.5, and do not group digits.';
  it.each<[string, string | null]>([
    ...['1e3', '+1', '-1', '.5', '5.', '0x10', '1 0', '١', 'NaN', 'Infinity'].map(
      (text): [string, string] => [text, FORM],
    ),
    ['1,5', COMMA],
    ['1,000', COMMA],
    ['2.000000001', 'At most 2 SOL.'],
    ['2', null],
    ['0.0000000001', 'At most 9 digits after the point.'],
    ['0', 'Enter more than 0 SOL.'],
    [' ', null],
  ])('for the amount "%s", with a maximum of 2 SOL, the form says: %s', (text, fault) => {
    expect(amountFault(text, 9, 'SOL', 2_000_000_000n)).toBe(fault);
    expect(isAmount(text, 9, 'SOL', 2_000_000_000n)).toBe(text === '2');
  });

  it('an amount above the maximum is not an amount', () => {
    expect(isAmount('1000000001', 6, 'USDC', 10n ** 15n)).toBe(false);
  });
});
