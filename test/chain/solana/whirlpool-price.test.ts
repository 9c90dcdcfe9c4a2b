import fc from 'fast-check';
import { expect, it } from 'vitest';
import { feePercent, priceFromSqrtPrice } from '../../../src/chain/solana/whirlpool.ts';
import snapshot from '../../fixtures/whirlpool-sol-usdc.json' with { type: 'json' };

const Q128 = 1n << 128n;

it('computes the price of the recorded SOL/USDC pool to at least 15 digits', () => {
  const price = priceFromSqrtPrice(BigInt(snapshot.sqrtPrice), snapshot.decimalsA, snapshot.decimalsB);
  // Computed with 60 decimal digits from the same integers; the recording gives 103.271133.
  expect(price).toBe('103.2711331341979095963154');
  expect(Number(price).toPrecision(9)).toBe('103.271133');
});

// Computed with 60 decimal digits. The recording of the SPYx pool gives 774.5543181742219.
it.each([
  ['SPYx (8) in USDC (6)', 51338793976598037400n, 8, 6, '774.554318174221901886783'],
  ['PUMP (6) in USDC (6)', 1479720588305778009n, 6, 6, '0.00643457678770855999847485'],
  [
    'the lowest price of any pool',
    4295048016n,
    0,
    9,
    '0.0000000000000000000000000000542121463026958192095785',
  ],
  ['the highest price of any pool', 79226673515401279992447579055n, 9, 6, '18446050711097703529776.34'],
] as const)('computes the price of a pool: %s', (_name, sqrtPrice, a, b, start) => {
  const price = priceFromSqrtPrice(sqrtPrice, a, b);
  expect(price.slice(0, start.length)).toBe(start);
});

it('a square root of one gives a price of one, and twice the root gives four times the price', () => {
  expect(priceFromSqrtPrice(1n << 64n, 6, 6)).toBe('1');
  expect(priceFromSqrtPrice(1n << 65n, 9, 9)).toBe('4');
  expect(priceFromSqrtPrice(1n << 64n, 9, 6)).toBe('1000');
  expect(priceFromSqrtPrice(1n << 64n, 6, 9)).toBe('0.001');
});

it('a price is at most the exact price, and lower by less than one in its last digit', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: Q128 - 1n }),
      fc.nat({ max: 18 }),
      fc.nat({ max: 18 }),
      (sqrtPrice, a, b) => {
        const [whole = '', fraction = ''] = priceFromSqrtPrice(sqrtPrice, a, b).split('.');
        // price * 2^128 * 10^b <= sqrtPrice^2 * 10^a < (price + last digit) * 2^128 * 10^b, all scaled by the digits.
        const digits = 200;
        const scaled = BigInt(whole + fraction.padEnd(digits, '0'));
        const exact = sqrtPrice * sqrtPrice * 10n ** BigInt(a + digits);
        const unit = Q128 * 10n ** BigInt(b);
        expect(scaled * unit <= exact).toBe(true);
        const kept = BigInt(whole) > 0n ? 10n ** BigInt(digits) * BigInt(whole) : scaled;
        const error = exact - scaled * unit;
        expect(error * 10n ** 22n < kept * unit).toBe(true);
      },
    ),
    { numRuns: 500, seed: 8 },
  );
});

it('refuses a square root of a price that is zero, negative or at least 2^128', () => {
  for (const root of [0n, -1n, Q128]) expect(() => priceFromSqrtPrice(root, 6, 6)).toThrow(RangeError);
});

it.each([
  [400, '0.04%'],
  [3_000, '0.3%'],
  [10_000, '1%'],
  [60_000, '6%'],
  [1, '0.0001%'],
  [0, '0%'],
])('a fee rate of %i is shown as %s', (feeRate, shown) => {
  expect(feePercent(feeRate)).toBe(shown);
});
