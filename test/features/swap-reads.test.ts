import { describe, expect, it } from 'vitest';
import { lamports, sats } from '../../src/core/amount.ts';
import { AppError, upstreamFailed } from '../../src/core/errors.ts';
import type { SwapRoom } from '../../src/custody/api.ts';
import { getEstimate } from '../../src/features/swap/get-estimate.ts';
import { getMinimum, type SwapMinimumDeps } from '../../src/features/swap/get-minimum.ts';
import { readQuote } from '../../src/features/swap/read-quote.ts';
import { createCache } from '../../src/http/cached.ts';
import { createFakeBridge, MARKET, quoteFor } from '../custody/fake-bridge.ts';

const NOW = 1_790_000_000_000;
const SOL = 1_000_000_000n;
const POLICY = { freshMs: 1_000, revalidateMs: 1_000, staleMs: 10_000 };
const open: SwapRoom = { balanceLamports: 10n * SOL, maximumLamports: 2n * SOL, refusal: null };

function setUp(room: () => Promise<SwapRoom> = async () => open) {
  const clock = { now: NOW };
  const bridge = createFakeBridge();
  const deferred: Promise<unknown>[] = [];
  const budget = { left: 100, taken: 0 };
  const calls = { room: 0, prices: 0 };
  const deps: SwapMinimumDeps = {
    cache: createCache({ kv: undefined, now: () => clock.now, defer: (work) => void deferred.push(work) }),
    routes: [bridge],
    quoteBudget: {
      async take(_now, maximum) {
        expect(maximum).toBe(120);
        if (budget.left <= 0) return { ok: false, retryAfterSeconds: 77 };
        budget.left--;
        budget.taken++;
        return { ok: true };
      },
    },
    now: () => clock.now,
    custody: {
      swapRoom() {
        calls.room++;
        return room();
      },
    },
    readPrices: async () => {
      calls.prices++;
      return [MARKET, { ...MARKET, source: 'two' }];
    },
    maxCostBps: 200,
  };
  return { deps, bridge, budget, clock, calls, settle: () => Promise.allSettled(deferred) };
}

describe('an estimate', () => {
  it('is asked for three significant digits and scaled to the amount', async () => {
    const { deps, bridge } = setUp();
    const estimate = await getEstimate(deps, lamports(1_234_567_890n));
    expect(bridge.quotes).toEqual([{ amount: 1_230_000_000n, dry: true }]);
    expect(estimate).toMatchObject({
      amount: 1_234_567_890n,
      quotedAmount: 1_230_000_000n,
      route: 'near-intents',
      etaSeconds: 465,
      stale: false,
      asOf: NOW,
    });
    const quoted = quoteFor(lamports(1_230_000_000n));
    expect(estimate.estimatedSats).toBe((quoted.expectedSats * 1_234_567_890n) / 1_230_000_000n);
    expect(estimate.minimumSats).toBe((quoted.minimumSats * 1_234_567_890n) / 1_230_000_000n);
  });

  it.each([1n, 999n, 1_000n, 123_000_000n])('of %s lamports needs no scaling', async (amount) => {
    const { deps } = setUp();
    expect((await getEstimate(deps, lamports(amount))).quotedAmount).toBe(amount);
  });

  it('for amounts that differ only beyond those digits, at once and later, is one quote', async () => {
    const { deps, bridge, budget } = setUp();
    const amounts = Array.from({ length: 50 }, (_, at) => lamports(SOL + BigInt(at)));
    await Promise.all(amounts.map((amount) => getEstimate(deps, amount)));
    await getEstimate(deps, lamports(SOL + 999_999n));
    expect([bridge.quotes.length, budget.taken]).toEqual([1, 1]);
  });
});

describe('a quote for reading', () => {
  it('is never firm, so it opens no deposit address', async () => {
    const { deps, bridge } = setUp();
    await readQuote(deps, lamports(SOL), POLICY);
    expect(bridge.quotes.every(({ dry }) => dry)).toBe(true);
  });

  it('whose budget is spent says when there is one again, and asks nobody', async () => {
    const { deps, bridge, budget } = setUp();
    budget.left = 0;
    await expect(readQuote(deps, lamports(SOL), POLICY)).rejects.toMatchObject({
      code: 'QUOTE_BUDGET_SPENT',
      retryAfterSeconds: 77,
    });
    expect(bridge.quotes).toEqual([]);
  });

  it('is the last good one, marked, while the bridge is down, and an error once that is too old', async () => {
    const { deps, bridge, clock } = setUp();
    await readQuote(deps, lamports(SOL), POLICY);
    bridge.nextQuote = () => Promise.reject(upstreamFailed('near-intents', 'timeout'));
    clock.now += 5_000;
    expect(await readQuote(deps, lamports(SOL), POLICY)).toMatchObject({
      stale: true,
      asOf: NOW,
      expectedSats: 124_375n,
    });
    clock.now += 6_000;
    await expect(readQuote(deps, lamports(SOL), POLICY)).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });

  it.each([
    ['amount_too_low', 'AMOUNT_TOO_SMALL'],
    ['amount_too_high', 'AMOUNT_TOO_LARGE'],
    ['no_route', 'QUOTE_REFUSED'],
    ['quote_signature', 'QUOTE_REFUSED'],
  ])('that is refused for %s is %s', async (reason, code) => {
    const { deps, bridge } = setUp();
    bridge.nextQuote = () => ({ ok: false, reason });
    await expect(readQuote(deps, lamports(SOL), POLICY)).rejects.toMatchObject({ code, details: { reason } });
  });

  it('is asked of the next route when the first fails or refuses', async () => {
    for (const first of [
      () => Promise.reject(upstreamFailed('x', 'timeout')),
      () => ({ ok: false as const, reason: 'quote_type' }),
    ]) {
      const { deps, bridge } = setUp();
      const broken = { ...createFakeBridge(), quote: async () => first() };
      expect(await readQuote({ ...deps, routes: [broken, bridge] }, lamports(SOL), POLICY)).toMatchObject({
        expectedSats: 124_375n,
      });
    }
  });
});

describe('the bounds of a swap', () => {
  it('are the smallest from the terms of the bridge and the largest from the custodian', async () => {
    const { deps, bridge } = setUp();
    const bounds = await getMinimum(deps);
    expect(bounds).toMatchObject({
      maximum: 2n * SOL,
      balance: 10n * SOL,
      available: true,
      reason: null,
      nextAvailableAt: null,
      stale: false,
    });
    expect(bounds.minimum).toBeGreaterThanOrEqual(1_000_000n);
    expect(bridge.quotes).toEqual([{ amount: SOL, dry: true }]);
  });

  it('cost nobody anything while they are fresh: 1,000 reads are one quote, one price, one balance', async () => {
    const { deps, bridge, calls } = setUp();
    for (let read = 0; read < 1_000; read++) await getMinimum(deps);
    expect([bridge.quotes.length, calls.prices, calls.room]).toEqual([1, 1, 1]);
  });

  it("tell the custodian's refusal and its time", async () => {
    const nextAvailableAt = '2026-11-20T11:00:00.000Z';
    const refusal = { code: 'SWAP_LIMIT_REACHED', message: 'x', details: { limit: 'hour', nextAvailableAt } };
    const { deps } = setUp(async () => ({ ...open, maximumLamports: 0n, refusal }));
    expect(await getMinimum(deps)).toMatchObject({
      available: false,
      reason: 'SWAP_LIMIT_REACHED',
      nextAvailableAt,
      maximum: 0n,
    });
  });

  it('say that there is no room when less is left than the smallest swap', async () => {
    const { deps } = setUp(async () => ({ ...open, maximumLamports: 5n }));
    expect(await getMinimum(deps)).toMatchObject({
      available: false,
      reason: 'SWAP_LIMIT_REACHED',
      maximum: 5n,
    });
  });

  it('know the smallest even while the custodian does not answer', async () => {
    const { deps } = setUp(() => Promise.reject(new AppError('CUSTODIAN_UNAVAILABLE', 'x')));
    expect(await getMinimum(deps)).toMatchObject({
      balance: null,
      maximum: 0n,
      available: false,
      reason: 'UPSTREAM_FAILED',
      stale: true,
    });
  });

  it('say so when no amount can pass at these terms', async () => {
    const { deps, bridge } = setUp();
    bridge.nextQuote = (amount) => ({ ok: true, quote: quoteFor(amount, { minimumSats: sats(100_000n) }) });
    expect(await getMinimum(deps)).toMatchObject({
      available: false,
      reason: 'QUOTE_REFUSED',
      minimum: 1_000_000n,
    });
  });

  it('are an error when no two prices agree and nothing older is known', async () => {
    const { deps } = setUp();
    await expect(getMinimum({ ...deps, readPrices: async () => [MARKET] })).rejects.toMatchObject({
      code: 'PRICE_UNAVAILABLE',
    });
  });
});
