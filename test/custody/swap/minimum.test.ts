import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Lamports, lamports, sats } from '../../../src/core/amount.ts';
import type { PriceReport } from '../../../src/core/price.ts';
import {
  CONTRACT_MINIMUM,
  MinimumStore,
  smallestAmount,
  type Terms,
} from '../../../src/custody/swap/minimum.ts';
import { priceQuote } from '../../../src/custody/swap/swap-quotes.ts';
import type { StatedAmount } from '../../../src/providers/near-intents-refusal.ts';
import { cases } from '../../cases.ts';
import { type CustodianWorld, createCustodianWorld, request } from '../../kit/custodian.ts';
import { quoteFor } from '../../kit/fake-bridge.ts';
import { LIMITS } from '../../kit/limits.ts';

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

it('the smallest amount passes the checks of a create call at the same terms, for any bridge and prices', () => {
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

it('a quote of a tiny amount cannot raise the minimum far above the least valid amount, so no caller can block all swaps', {
  tags: ['scaled'],
}, () => {
  const store = new MinimumStore({ getMeta: () => undefined, setMeta: () => undefined }, () => 0);
  fc.assert(
    fc.property(bridges, prices, fc.double({ min: 0, max: 1, noNaN: true }), (bridge, price, part) => {
      const least = leastPassing(bridge, price, 200);
      const amount = lamports(BigInt(Math.floor(Number(least) * part)));
      const { expected, minimum } = outputOf(bridge, amount, price);
      fc.pre(minimum > 0n && least < 1_000n * SOL);
      const fixedFeeSats = sats(bridge.fee);
      const quote = quoteFor(amount, {
        expectedSats: sats(expected),
        minimumSats: sats(minimum),
        fixedFeeSats,
      });
      const priced = priceQuote(quote, [price, price], 200);
      fc.pre(!priced.ok && priced.reason === 'amount_below_cost');
      const passing = least > CONTRACT_MINIMUM ? least : CONTRACT_MINIMUM;
      expect(store.learnCost(quote, price, 200).lamports).toBeLessThanOrEqual((passing * 8n) / 5n);
    }),
    { numRuns: cases(5_000, 500) },
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

const world = () => createCustodianWorld({ limits: { ...LIMITS, hour: 100n * SOL, unsettled: 100n * SOL } });
const refusalOf = async (w: CustodianWorld, amountLamports: bigint) => {
  const [estimate, create] = [
    await w.custody.estimateSwap({ amountLamports, client: '192.0.2.1' }),
    await w.custody.createSwap(
      request({ amountLamports, client: `client ${w.clock.now} ${amountLamports}` }),
    ),
  ];
  const shown = estimate.refusal;
  expect(create.type === 'created' ? null : create.refusal).toEqual(shown);
  return shown;
};
const shownBound = async (w: CustodianWorld) => {
  const { minimum } = await w.custody.swapRoom();
  return minimum.type === 'known' ? [minimum.minimum.lamports, minimum.minimum.source] : minimum.refusal.code;
};
/** A bridge whose minimum is `below`, which its refusal names as `least`. */
const tooLow = (w: CustodianWorld, below: bigint, least?: StatedAmount) => {
  const { nextQuote } = w.bridge;
  w.bridge.nextQuote = (amount, dry) =>
    amount < below
      ? { ok: false, reason: 'amount_too_low', ...(least ? { least } : {}) }
      : nextQuote(amount, dry);
  return () => {
    w.bridge.nextQuote = nextQuote;
  };
};

it.each<[string, StatedAmount | undefined, bigint]>([
  ['an amount in lamports', { unit: 'lamports', value: 1_264_000_000n }, 1_264_000_000n],
  ['an amount in dollars, at the agreed price', { unit: 'microUsd', value: 150_050_000n }, 1_510_000_000n],
  ['no amount, so that the bound is just above the refused one', undefined, 708_000_000n],
  ['an amount that it then refuses', { unit: 'lamports', value: 5_000n }, 708_000_000n],
])('minimum, estimate and create show the bound of a refusal that names %s', async (_name, least, bound) => {
  const w = world();
  const lift = tooLow(w, 2n * SOL, least);
  const details = { reason: 'amount_too_low', minAmountLamports: String(bound), minimumSource: 'bridge' };
  expect(await refusalOf(w, 707_000_001n)).toMatchObject({ code: 'AMOUNT_TOO_SMALL', details });
  expect(await shownBound(w)).toEqual([bound, 'bridge']);
  lift();
  expect(await refusalOf(w, 707_000_001n)).toMatchObject({ details });
  w.clock.now += 300_000;
  expect(await shownBound(w)).not.toEqual([bound, 'bridge']);
  expect(await refusalOf(w, 707_000_001n)).toBeNull();
});

it('for five minutes, a known bound of the bridge refuses smaller amounts without a quote', async () => {
  const w = world();
  tooLow(w, SOL);
  await refusalOf(w, SOL / 2n);
  const asked = w.bridge.quotes.length;
  for (let at = 1n; at < 30n; at++) await refusalOf(w, SOL / 2n - at);
  expect(w.bridge.quotes).toHaveLength(asked);
  expect(await refusalOf(w, SOL)).toBeNull();
  w.clock.now -= 24 * 3_600_000;
  await refusalOf(w, SOL / 4n);
  expect(w.bridge.quotes.length).toBeGreaterThan(asked + 2);
});

it('an amount whose fixed cost is too large shows the bound of our own limit, and the figures of its quote', async () => {
  const w = world();
  w.bridge.nextQuote = (amount, dry) => ({
    ok: true,
    quote: quoteFor(amount, {
      minimumSats: sats((amount * 124_000n) / SOL - 500n),
      expectedSats: sats((amount * 124_500n) / SOL - 500n),
      fixedFeeSats: sats(500n),
      depositAddress: dry ? null : '8qbHbw2BbbTHBW1sbeqakYXVKRQM8Ne7pLK7m6CVfeR',
    }),
  });
  const small = await w.custody.estimateSwap({ amountLamports: SOL / 10n, client: 'a' });
  expect(small).toMatchObject({
    type: 'quoted',
    refusal: { code: 'AMOUNT_TOO_SMALL', details: { reason: 'amount_below_cost', minimumSource: 'cost' } },
  });
  const [bound, source] = await shownBound(w);
  expect([source, small.refusal?.details?.minAmountLamports]).toEqual(['cost', String(bound)]);
  expect(await refusalOf(w, BigInt(bound ?? 0))).toBeNull();
});

it('asks for at most one quote in ten minutes to find the smallest swap, and keeps the result for a day while the bridge refuses', async () => {
  const w = world();
  for (let read = 0; read < 20; read++) await w.custody.swapRoom();
  expect(w.bridge.quotes).toHaveLength(1);
  w.bridge.nextQuote = () => ({ ok: false, reason: 'pair_paused' });
  w.clock.now += 600_000;
  for (let read = 0; read < 20; read++)
    expect((await w.custody.swapRoom()).minimum).toMatchObject({
      type: 'known',
      refusal: { code: 'QUOTE_REFUSED' },
    });
  expect(w.bridge.quotes).toHaveLength(2);
  w.clock.now += 24 * 3_600_000;
  expect((await w.custody.swapRoom()).minimum).toMatchObject({ type: 'unknown' });
});
