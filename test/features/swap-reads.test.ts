import { describe, expect, it } from 'vitest';
import { lamports, sats } from '../../src/core/amount.ts';
import { AppError, upstreamFailed } from '../../src/core/errors.ts';
import { bandOf } from '../../src/core/quote-band.ts';
import type { SwapRoom } from '../../src/custody/api.ts';
import { type EstimateDeps, getEstimate } from '../../src/features/swap/get-estimate.ts';
import { getMinimum } from '../../src/features/swap/get-minimum.ts';
import { readQuote } from '../../src/features/swap/read-quote.ts';
import { Cache } from '../../src/http/cached.ts';
import { createFakeBridge, MARKET, quoteFor } from '../kit/fake-bridge.ts';

const NOW = 1_790_000_000_000;
const SOL = 1_000_000_000n;
const open: SwapRoom = {
  balanceLamports: 10n * SOL,
  maximumLamports: 2n * SOL,
  spendableLamports: 9n * SOL,
  refusal: null,
};
const CLIENT = '192.0.2.7';

function setUp(room: () => Promise<SwapRoom> = async () => open) {
  const clock = { now: NOW };
  const bridge = createFakeBridge();
  const deferred: Promise<unknown>[] = [];
  const budget: { left: number; taken: number; spentBy: 'client' | 'all' } = {
    left: 100,
    taken: 0,
    spentBy: 'all',
  };
  const calls = { room: 0, prices: 0 };
  const deps: EstimateDeps = {
    cache: new Cache({ now: () => clock.now, defer: (work) => void deferred.push(work) }),
    quote: bridge.quote,
    quoteBudget: {
      async take() {
        if (budget.left <= 0) return { ok: false, spentBy: budget.spentBy, retryAfterSeconds: 77 };
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
    maxSwap: lamports(2n * SOL),
  };
  return { deps, bridge, budget, clock, calls, settle: () => Promise.allSettled(deferred) };
}

describe('an estimate', () => {
  it('scales an estimate from the quote of its amount band and subtracts the fixed fee once', async () => {
    const { deps, bridge } = setUp();
    bridge.nextQuote = (amount) => ({
      ok: true,
      quote: { ...quoteFor(amount), fixedFeeSats: sats(1_000n), expectedSats: sats(123_000n) },
    });
    const estimate = await getEstimate(deps, lamports(1_500_000_000n), CLIENT);
    expect(bridge.quotes).toContainEqual({ amount: SOL, dry: true });
    expect(estimate).toMatchObject({
      amount: 1_500_000_000n,
      quotedAmount: SOL,
      estimatedSats: (124_000n * 3n) / 2n - 1_000n,
      route: 'near-intents',
      etaSeconds: 465,
      stale: false,
      asOf: NOW,
    });
  });

  it.each([
    [1n, 1n],
    [999n, 500n],
    [1_999_999_999n, 1_000_000_000n],
    [2_000_000_000n, 2_000_000_000n],
    [4_999_999_999n, 2_000_000_000n],
    [5_000_000_001n, 5_000_000_000n],
  ])('the estimate of %s lamports uses the quote for %s', (amount, band) => {
    expect(bandOf(lamports(amount))).toBe(band);
  });

  it('estimates of a thousand different amounts need at most 11 quotes', async () => {
    const { deps, bridge, budget } = setUp();
    for (let at = 1; at <= 1_000; at++) await getEstimate(deps, lamports((SOL * BigInt(at)) / 100n), CLIENT);
    expect(bridge.quotes.length).toBeLessThanOrEqual(11);
    expect(budget.taken).toBe(bridge.quotes.length);
  });

  it("quotes the exact amount if its band begins below the bridge's smallest amount", async () => {
    const { deps, bridge } = setUp();
    bridge.nextQuote = (amount) =>
      amount < 250_000_000n ? { ok: false, reason: 'amount_too_low' } : { ok: true, quote: quoteFor(amount) };
    expect(await getEstimate(deps, lamports(300_000_000n), CLIENT)).toMatchObject({
      quotedAmount: 300_000_000n,
    });
    const asked = bridge.quotes.length;
    await expect(getEstimate(deps, lamports(210_000_000n), CLIENT)).rejects.toMatchObject({
      code: 'AMOUNT_TOO_SMALL',
    });
    expect(bridge.quotes.length).toBe(asked + 1);
  });

  it.each([
    ['0.0015', 1_500_000n, 'AMOUNT_TOO_SMALL'],
    ['the balance less floor and fees', 9n * SOL + 1n, 'INSUFFICIENT_BALANCE'],
    ['the cap of one swap', 2n * SOL + 1n, 'AMOUNT_TOO_LARGE'],
  ])(
    'an estimate shows the refusal of a create that breaks the limit: %s',
    async (_bound, amount, reason) => {
      const { deps } = setUp();
      expect(await getEstimate(deps, lamports(amount), CLIENT)).toMatchObject({ reason });
    },
  );

  it('an estimate shows that no create can pass while the custodian refuses every swap', async () => {
    const refusal = { code: 'SWAPS_PAUSED', message: 'x' } as const;
    const { deps } = setUp(async () => ({ ...open, maximumLamports: 0n, refusal }));
    expect(await getEstimate(deps, lamports(SOL), CLIENT)).toMatchObject({ reason: 'SWAPS_PAUSED' });
    expect(await getEstimate(setUp().deps, lamports(SOL), CLIENT)).toMatchObject({ reason: null });
  });

  it('refuses an estimate above any possible reserve balance without taking a quote', async () => {
    const { deps, bridge } = setUp();
    await expect(getEstimate(deps, lamports(100_000n * SOL + 1n), CLIENT)).rejects.toMatchObject({
      code: 'AMOUNT_TOO_LARGE',
      details: { maxAmountLamports: '100000000000000' },
    });
    expect(bridge.quotes).toEqual([]);
  });
});

describe('a quote for reading', () => {
  it('a quote for a read is never firm, so the bridge opens no deposit address', async () => {
    const { deps, bridge } = setUp();
    await readQuote(deps, lamports(SOL), CLIENT);
    expect(bridge.quotes.every(({ dry }) => dry)).toBe(true);
  });

  it('with a spent quote budget, a read makes no call and shows when a quote is available again', async () => {
    const { deps, bridge, budget } = setUp();
    budget.left = 0;
    await expect(readQuote(deps, lamports(SOL), CLIENT)).rejects.toMatchObject({
      code: 'QUOTE_BUDGET_SPENT',
      retryAfterSeconds: 77,
    });
    expect(bridge.quotes).toEqual([]);
  });

  it('a client that has used its own share of quotes is refused; others waiting for the same quote get it', async () => {
    const { deps, bridge, budget } = setUp();
    Object.assign(budget, { left: 0, spentBy: 'client' });
    const refused = readQuote(deps, lamports(SOL), CLIENT);
    const joined = readQuote(deps, lamports(SOL), '198.51.100.1');
    budget.left = 1;
    await expect(refused).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterSeconds: 77,
      details: { limit: 'read_quotes' },
    });
    expect((await joined).expectedSats).toBe(124_375n);
    expect(bridge.quotes).toHaveLength(1);
  });

  it('shows the last good quote, marked stale, while the bridge is down, and an error once it is too old', async () => {
    const { deps, bridge, clock } = setUp();
    await readQuote(deps, lamports(SOL), CLIENT);
    bridge.nextQuote = () => Promise.reject(upstreamFailed('near-intents', 'timeout'));
    clock.now += 300_000;
    expect(await readQuote(deps, lamports(SOL), CLIENT)).toMatchObject({
      stale: true,
      asOf: NOW,
      expectedSats: 124_375n,
    });
    clock.now += 3_300_000;
    await expect(readQuote(deps, lamports(SOL), CLIENT)).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
    });
  });

  it.each([
    ['amount_too_low', 'AMOUNT_TOO_SMALL'],
    ['amount_too_high', 'AMOUNT_TOO_LARGE'],
    ['no_route', 'QUOTE_REFUSED'],
    ['quote_signature', 'QUOTE_REFUSED'],
  ])('a read whose quote is refused with %s returns %s', async (reason, code) => {
    const { deps, bridge } = setUp();
    bridge.nextQuote = () => ({ ok: false, reason });
    await expect(readQuote(deps, lamports(SOL), CLIENT)).rejects.toMatchObject({
      code,
      details: { reason },
    });
  });
});

describe('the bounds of a swap', () => {
  it("the bounds of a swap take the minimum from the bridge's terms and the maximum from the custodian", async () => {
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

  it('1,000 reads of the swap bounds take one quote, read the prices once and the balance once', async () => {
    const { deps, bridge, calls } = setUp();
    for (let read = 0; read < 1_000; read++) await getMinimum(deps);
    expect([bridge.quotes.length, calls.prices, calls.room]).toEqual([1, 1, 1]);
  });

  it("the bounds of a swap show the custodian's refusal and when a swap is possible again", async () => {
    const nextAvailableAt = '2026-11-20T11:00:00.000Z';
    const details = { limit: 'hour', nextAvailableAt };
    const refusal = { code: 'SWAP_LIMIT_REACHED', message: 'x', details } as const;
    const { deps } = setUp(async () => ({ ...open, maximumLamports: 0n, refusal }));
    expect(await getMinimum(deps)).toMatchObject({
      available: false,
      reason: 'SWAP_LIMIT_REACHED',
      nextAvailableAt,
      maximum: 0n,
    });
  });

  it('the bounds show that no swap is possible when less SOL is left than the smallest swap needs', async () => {
    const { deps } = setUp(async () => ({ ...open, maximumLamports: 5n }));
    expect(await getMinimum(deps)).toMatchObject({
      available: false,
      reason: 'SWAP_LIMIT_REACHED',
      maximum: 5n,
    });
  });

  it('the bounds of a swap show the minimum even while the custodian does not respond', async () => {
    const { deps } = setUp(() => Promise.reject(new AppError('CUSTODIAN_UNAVAILABLE', 'x')));
    expect(await getMinimum(deps)).toMatchObject({
      balance: null,
      maximum: 0n,
      available: false,
      reason: 'UPSTREAM_FAILED',
      stale: true,
    });
  });

  it('the bounds of a swap say when no amount can pass at the current terms', async () => {
    const { deps, bridge } = setUp();
    bridge.nextQuote = (amount) => ({ ok: true, quote: quoteFor(amount, { minimumSats: sats(100_000n) }) });
    expect(await getMinimum(deps)).toMatchObject({
      available: false,
      reason: 'QUOTE_REFUSED',
      minimum: 1_000_000n,
    });
  });

  it('the bounds of a swap are an error when no two prices agree and no older bounds are known', async () => {
    const { deps } = setUp();
    await expect(getMinimum({ ...deps, readPrices: async () => [MARKET] })).rejects.toMatchObject({
      code: 'PRICE_UNAVAILABLE',
    });
  });
});
