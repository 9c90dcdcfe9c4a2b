import fc from 'fast-check';
import { expect, it } from 'vitest';
import { feePercent, priceFromSqrtPrice } from '../../../src/chain/solana/whirlpool.ts';
import snapshot from '../../fixtures/whirlpool-sol-usdc.json' with { type: 'json' };

const Q128 = 1n << 128n;

// Computed with 60 decimal digits from the same integers; the recording gives 103.271133.
it('computes the price of the recorded SOL/USDC pool to 22 digits', () => {
  const price = priceFromSqrtPrice(BigInt(snapshot.sqrtPrice), snapshot.decimalsA, snapshot.decimalsB);
  expect(price).toBe('103.2711331341979095963154');
});

it('a price is rounded down, by less than one in its last digit', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: Q128 - 1n }),
      fc.nat({ max: 18 }),
      fc.nat({ max: 18 }),
      (sqrtPrice, a, b) => {
        const price = priceFromSqrtPrice(sqrtPrice, a, b);
        expect(price).toMatch(/^\d+(\.\d*[1-9])?$/);
        const [whole = '', fraction = ''] = price.split('.');
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
