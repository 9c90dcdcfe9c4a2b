import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Lamports, lamports, sats } from '../../src/core/amount.ts';
import type { PriceReport } from '../../src/core/price.ts';
import { priceQuote } from '../../src/custody/swap/operation.ts';
import { CONTRACT_MINIMUM, smallestAmount, type Terms } from '../../src/features/swap/get-minimum.ts';
import { quoteFor } from '../kit/fake-bridge.ts';

const SOL = 1_000_000_000n;
const MARKET: PriceReport = { source: 'one', btcUsd: 80_000_000_000n, solUsd: 100_000_000n };

/** A bridge with a spread, a fixed fee in sats, and some slippage. */
type Bridge = { readonly spreadBps: bigint; readonly fee: bigint; readonly slippageBps: bigint };
function outputOf(bridge: Bridge, amount: bigint, price: PriceReport): { expected: bigint; minimum: bigint } {
  const gross = (amount * price.solUsd * (10_000n - bridge.spreadBps)) / (price.btcUsd * 10n * 10_000n);
  const expected = gross - bridge.fee;
  return { expected, minimum: (expected * (10_000n - bridge.slippageBps)) / 10_000n };
}
const termsOf = (bridge: Bridge, price: PriceReport): Terms => {
  const { expected, minimum } = outputOf(bridge, SOL, price);
  const [expectedSats, minimumSats] = [sats(expected), sats(minimum)];
  return { amount: lamports(SOL), expectedSats, minimumSats, fixedFeeSats: sats(bridge.fee) };
};
function passes(bridge: Bridge, amount: Lamports, price: PriceReport, maxCostBps: number): boolean {
  const { expected, minimum } = outputOf(bridge, amount, price);
  if (minimum <= 0n) return false;
  const quote = quoteFor(amount, {
    expectedSats: sats(expected),
    minimumSats: sats(minimum),
    fixedFeeSats: sats(bridge.fee),
  });
  return priceQuote(quote, [price, price], maxCostBps).ok;
}
/** The least amount that passes, found by trying. */
function leastPassing(bridge: Bridge, price: PriceReport, maxCostBps: number): bigint {
  let [low, high] = [0n, 1_000n * SOL];
  while (low < high) {
    const middle = (low + high) / 2n;
    if (passes(bridge, lamports(middle), price, maxCostBps)) high = middle;
    else low = middle + 1n;
  }
  return low;
}

const bridges = fc.record({
  spreadBps: fc.bigInt({ min: 0n, max: 80n }),
  fee: fc.bigInt({ min: 0n, max: 5_000n }),
  slippageBps: fc.bigInt({ min: 0n, max: 60n }),
});
const prices = fc.record({
  source: fc.constant('x'),
  btcUsd: fc.bigInt({ min: 20_000_000_000n, max: 400_000_000_000n }),
  solUsd: fc.bigInt({ min: 20_000_000n, max: 1_000_000_000n }),
});

it('the smallest amount passes the checks of a create at the same terms, for any bridge and prices', () => {
  fc.assert(
    fc.property(bridges, prices, (bridge, price) => {
      fc.pre(outputOf(bridge, SOL, price).minimum > 0n);
      const smallest = smallestAmount(termsOf(bridge, price), price, 200);
      if (smallest !== null) expect(passes(bridge, smallest, price, 200)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

it('the smallest amount exceeds the true minimum at most by the allowance for price drift', () => {
  fc.assert(
    fc.property(bridges, prices, (bridge, price) => {
      fc.pre(outputOf(bridge, SOL, price).minimum > 20_000n && bridge.fee >= 500n);
      const smallest = smallestAmount(termsOf(bridge, price), price, 200);
      if (smallest === null) return;
      const least = leastPassing(bridge, price, 200);
      expect(smallest).toBeGreaterThanOrEqual(least);
      // The rest for the fixed fee after spread and slippage, with and without the price drift.
      const room = 200n - bridge.spreadBps - bridge.slippageBps;
      const atMost = (least * (room + 2n) * 105n) / ((room - 20n > 2n ? room - 20n - 2n : 1n) * 100n);
      expect(smallest).toBeLessThanOrEqual(atMost);
    }),
    { numRuns: 1_000 },
  );
});

it('the smallest amount allows for price drift once, at a fee of 1,500 sats and 0.5 % slippage', () => {
  const bridge = { spreadBps: 20n, fee: 1_500n, slippageBps: 50n };
  const smallest = smallestAmount(termsOf(bridge, MARKET), MARKET, 200);
  expect(smallest).not.toBeNull();
  const least = leastPassing(bridge, MARKET, 200);
  expect(Number(smallest) / Number(least)).toBeGreaterThan(1);
  expect(Number(smallest) / Number(least)).toBeLessThan(1.25);
  expect(passes(bridge, lamports((least * 95n) / 100n), MARKET, 200)).toBe(false);
});

it("without a fixed fee, the smallest amount is the API's minimum, or more if rounding to sats costs too much", () => {
  const free = { spreadBps: 0n, fee: 0n, slippageBps: 50n };
  const dear: PriceReport = { ...MARKET, solUsd: 10_000_000_000n };
  expect(smallestAmount(termsOf(free, dear), dear, 200)).toBe(CONTRACT_MINIMUM);
  expect(CONTRACT_MINIMUM).toBe(1_000_000n);
  const smallest = smallestAmount(termsOf(free, MARKET), MARKET, 200);
  expect(smallest).toBeGreaterThan(CONTRACT_MINIMUM);
  expect(smallest).toBeLessThan(2_000_000n);
});

it('the smallest amount is null when spread and slippage alone exceed the cost limit', () => {
  const bridge = { spreadBps: 190n, fee: 10n, slippageBps: 50n };
  expect(smallestAmount(termsOf(bridge, MARKET), MARKET, 200)).toBeNull();
  expect(passes(bridge, lamports(1_000n * SOL), MARKET, 200)).toBe(false);
});

it('the smallest amount has at most three significant digits, rounded up', () => {
  const smallest = smallestAmount(
    termsOf({ spreadBps: 0n, fee: 1_234n, slippageBps: 50n }, MARKET),
    MARKET,
    200,
  );
  expect(smallest?.toString()).toMatch(/^\d{3}0+$/);
});
