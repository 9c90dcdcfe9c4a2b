import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lamports, sats } from '../../src/core/amount.ts';
import {
  agreePrices,
  divergenceBps,
  fairLamports,
  fairSats,
  type PriceReport,
  parsePrice,
  valueUsd,
} from '../../src/core/price.ts';
import { eachRow } from '../kit/scenes.ts';

const USD = 1_000_000n;
const report = (source: string, btc: number, sol: number): PriceReport => ({
  source,
  btcUsd: BigInt(Math.round(btc * 1e6)),
  solUsd: BigInt(Math.round(sol * 1e6)),
});
const MARKET = report('market', 80_000, 100);

eachRow<[text: string, microDollars: bigint]>(`
  "80868.5"            | 80_868_500_000n
  "101.24"             | 101_240_000n
  "1"                  | 1_000_000n
  "0.000001"           | 1n
  "101.12345678901234" | 101_123_456n
  "0.0671"             | 67_100n
`)('parses a price of %s dollars', (text, microDollars) => {
  expect(parsePrice(text)).toBe(microDollars);
});

const NO_PRICES =
  '|0|0.0|0.0000001|-1|1e5|NaN|Infinity|1.|.5|1.2.3|80,868.5| 80868.5|80868.5 |$80868.5|1.5x'.split('|');
it.each([...NO_PRICES, '1'.repeat(70)])('%j is not a price', (text) => {
  expect(parsePrice(text)).toBeUndefined();
});

eachRow<[one: bigint, other: bigint, bps: bigint]>(`
  100n     | 100n     | 0n
  100n     | 101n     | 100n
  101n     | 100n     | 100n
  10_000n  | 10_001n  | 1n
  100_000n | 100_001n | 1n
  1n       | 2n       | 10_000n
  0n       | 5n       | 1_000_000n
  0n       | 0n       | 1_000_000n
  -1n      | 5n       | 1_000_000n
`)('%s and %s are %s bps apart', (one, other, bps) => {
  expect(divergenceBps(one, other)).toBe(bps);
});

it('divergenceBps does not depend on the order and is never rounded down', () => {
  const price = fc.bigInt({ min: 1n, max: 10n ** 15n });
  fc.assert(
    fc.property(price, price, (a, b) => {
      const bps = divergenceBps(a, b);
      expect(bps).toBe(divergenceBps(b, a));
      const low = a < b ? a : b;
      const gap = a < b ? b - a : a - b;
      expect(bps * low).toBeGreaterThanOrEqual(gap * 10_000n);
      expect((bps - 1n) * low).toBeLessThan(gap * 10_000n + low);
    }),
  );
});

const REPORTS: Readonly<Record<string, PriceReport>> = {
  ...{ market: MARKET, near: report('near', 80_400, 100.5), bound: report('bound', 80_800, 101) },
  ...{ 'far in BTC': report('far in BTC', 80_801, 100), 'far in SOL': report('far in SOL', 80_000, 101.01) },
  ...{ low: report('low', 70_000, 90), high: report('high', 90_000, 110) },
};
eachRow<[sources: string, first: string]>(`
  market, near       | market
  near, market       | near
  market, bound      | market
  low, market, near  | market
  market, low, near  | market
  market, near, low  | market
  none               | price_unavailable
  market             | price_unavailable
  market, far in BTC | price_divergent
  market, far in SOL | price_divergent
  market, low        | price_divergent
  low, market, high  | price_divergent
`)('agreePrices takes the first source that another one confirms: %s -> %s', (sources, result) => {
  const agreed = agreePrices(sources.split(', ').flatMap((name) => REPORTS[name] ?? []));
  expect(agreed).toEqual(
    REPORTS[result] ? { ok: true, price: REPORTS[result] } : { ok: false, reason: result },
  );
});

describe('fair values', () => {
  it('1 SOL at 100 dollars is worth 0.00125 BTC at 80,000 dollars', () => {
    expect(fairSats(lamports(1_000_000_000n), MARKET)).toBe(125_000n);
    expect(fairLamports(sats(125_000n), MARKET)).toBe(1_000_000_000n);
  });

  it('sats are rounded up and lamports down, so that a quote never looks better than it is', () => {
    expect(fairSats(lamports(1n), MARKET)).toBe(1n);
    expect(fairLamports(sats(1n), report('m', 80_000, 99.999999))).toBe(8_000n);
    expect(fairLamports(sats(1n), report('m', 79_999.999999, 100))).toBe(7_999n);
  });

  it('a conversion to BTC and back never adds value beyond the rounding of one sat', () => {
    const price = fc.record({
      source: fc.constant('x'),
      btcUsd: fc.bigInt({ min: 1_000n * USD, max: 10_000_000n * USD }),
      solUsd: fc.bigInt({ min: USD, max: 10_000n * USD }),
    });
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n }), price, (amount, at) => {
        const back = fairLamports(fairSats(lamports(amount), at), at);
        const oneSat = fairLamports(sats(1n), at) + 1n;
        expect(back >= amount - 1n && back <= amount + oneSat).toBe(true);
      }),
    );
  });

  eachRow<[atoms: bigint, decimals: number, coinUsd: bigint, usd: bigint]>(`
    1_000_000_000n | 9 | 100n    | 100n
    150_000_000n   | 8 | 80_000n | 120_000n
    1n             | 9 | 100n    | 0n
  `)('%s atoms of %i decimals at %s dollars are worth %s dollars', (atoms, decimals, coinUsd, usd) => {
    expect(valueUsd(atoms, decimals, coinUsd * USD)).toBe(usd * USD);
  });
});
