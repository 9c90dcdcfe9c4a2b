import { describe, expect, it } from 'vitest';
import { lamports, sats } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import type { SwapAnswer, SwapPreview } from '../../../src/custody/api.ts';
import { type CustodianWorld, createCustodianWorld, request } from '../../kit/custodian.ts';
import { quoteFor } from '../../kit/fake-bridge.ts';
import { LIMITS } from '../../kit/limits.ts';
import { FEE, SOL } from '../../kit/sample-operations.ts';

const MINUTE = 60_000;
const LARGE = 10_000n * SOL;
const limits = { ...LIMITS, hour: LARGE, day: LARGE, unsettled: LARGE, cost_day: LARGE };
const rich = () => {
  const w = createCustodianWorld({ limits });
  w.chain.nextBalance = async () => ({ lamports: lamports(100_000n * SOL), slot: 100n });
  return w;
};
const refusalOf = (answer: SwapAnswer | SwapPreview) =>
  answer.type === 'refused' ? answer.refusal : undefined;
const small = (at: number) => request({ amountLamports: SOL / 10n, client: `client-${at}` });
const preview = (w: CustodianWorld, amount = SOL, client = '192.0.2.1') =>
  w.custody.previewSwap({ amountLamports: amount, client });
/** Each amount is smaller than the one before, so no quote that is held serves it. */
const descending = (at: number) => SOL - BigInt(at);

describe('a dry run', () => {
  it('a dry run shows the expected result, opens no deposit address, and reserves and stores nothing', async () => {
    const w = createCustodianWorld();
    expect(await preview(w)).toEqual({
      type: 'possible',
      expectedSats: 124_375n,
      minimumSats: 123_750n,
      costLamports: 10_000_000n,
      route: 'near-intents',
      quotesLeft: { left: 4, resetSeconds: 7_200 },
    });
    expect(w.bridge.quotes).toEqual([{ amount: SOL, dry: true }]);
    expect([w.journal.isEmpty(), w.signatures(), w.mirror.applied]).toEqual([true, 0, 0]);
  });

  it.each<[string, (w: CustodianWorld) => void, bigint, string]>([
    [
      'the balance is short',
      (w) => {
        w.chain.nextBalance = async () => ({ lamports: lamports(SOL), slot: 1n });
      },
      SOL,
      'INSUFFICIENT_BALANCE',
    ],
    ['the amount is above the largest swap', () => {}, 3n * SOL, 'AMOUNT_TOO_LARGE'],
    [
      'the quote is refused',
      (w) => {
        w.bridge.nextQuote = () => ({ ok: false, reason: 'quote_recipient' });
      },
      SOL,
      'QUOTE_REFUSED',
    ],
    [
      'the amount is below the cost',
      (w) => {
        w.bridge.nextQuote = () => ({ ok: false, reason: 'amount_too_low' });
      },
      SOL,
      'AMOUNT_TOO_SMALL',
    ],
    [
      'no two prices agree',
      (w) => {
        w.swap.prices = [];
      },
      SOL,
      'PRICE_UNAVAILABLE',
    ],
  ])('a dry run is refused with the same code as a create when %s', async (_name, arrange, amount, code) => {
    const w = createCustodianWorld();
    arrange(w);
    expect(refusalOf(await preview(w, amount))?.code).toBe(code);
    const create = createCustodianWorld();
    arrange(create);
    expect(refusalOf(await create.custody.createSwap(request({ amountLamports: amount })))?.code).toBe(code);
  });

  it.each([
    [
      'near-intents',
      (w) => (w.bridge.nextQuote = () => Promise.reject(upstreamFailed('near-intents', 'down'))),
    ],
    ['solana-rpc', (w) => (w.chain.nextBalance = () => Promise.reject(upstreamFailed('solana-rpc', 'down')))],
  ] as [string, (w: CustodianWorld) => void][])(
    'a dry run names %s as the failed upstream, as a create does',
    async (upstream, arrange) => {
      const w = createCustodianWorld();
      arrange(w);
      const details = { upstream, reason: 'upstream_down' };
      expect(refusalOf(await preview(w))).toMatchObject({ code: 'UPSTREAM_FAILED', details });
      const created = refusalOf(await w.custody.createSwap(request()));
      expect(created).toMatchObject({ code: 'UPSTREAM_FAILED', details });
    },
  );

  it('a dry run is refused without an upstream call while swaps are stopped', async () => {
    const w = createCustodianWorld({ swapsDisabled: true });
    expect(refusalOf(await preview(w))).toMatchObject({
      code: 'SWAPS_PAUSED',
      details: { reason: 'disabled' },
    });
    expect([w.bridge.quotes.length, w.chain.reads.balance]).toEqual([0, 0]);
  });
});

describe("the bridge's quota", () => {
  it('allows one client five dry runs in two hours, one after another or 500 at once', async () => {
    for (const atOnce of [false, true]) {
      const w = rich();
      const answers: SwapPreview[] = [];
      if (atOnce)
        answers.push(
          ...(await Promise.all(Array.from({ length: 500 }, (_, at) => preview(w, descending(at))))),
        );
      else for (let call = 0; call < 25; call++) answers.push(await preview(w, descending(call)));
      expect(answers.filter(({ type }) => type === 'possible')).toHaveLength(5);
      expect(w.bridge.quotes).toHaveLength(5);
      const last = answers.at(-1);
      expect(last && refusalOf(last)).toMatchObject({
        code: 'RATE_LIMITED',
        retryAfterSeconds: 7_200,
        details: { limit: 'dry_run_quotes' },
      });
      expect(last?.quotesLeft).toEqual({ left: 0, resetSeconds: 7_200 });
    }
  });

  it('a dry run that reuses a recent quote of a smaller amount in the same band uses up no quota', async () => {
    const w = rich();
    for (let call = 0; call < 100; call++) expect((await preview(w)).type).toBe('possible');
    expect(await preview(w, SOL + SOL / 2n, '198.51.100.1')).toMatchObject({
      expectedSats: 186_562n,
      costLamports: 15_000_000n,
      quotesLeft: { left: 4 },
    });
    expect(w.bridge.quotes).toHaveLength(1);
    await preview(w, SOL - 1n);
    await preview(w, 2n * SOL);
    w.clock.now += MINUTE;
    expect((await preview(w)).quotesLeft).toEqual({ left: 1, resetSeconds: 7_140 });
    expect(w.bridge.quotes).toHaveLength(4);
  });

  it('a client without dry runs left still gets a stored quote, checked against prices that are read again', async () => {
    const w = rich();
    for (let call = 0; call < 5; call++) await preview(w, descending(call));
    expect(refusalOf(await preview(w, descending(9)))?.code).toBe('RATE_LIMITED');
    expect((await preview(w, descending(4))).type).toBe('possible');
    w.swap.prices = [];
    expect(refusalOf(await preview(w, descending(4)))?.code).toBe('PRICE_UNAVAILABLE');
  });

  it('others still get dry runs after one address, one /24 or one /48 has used up its share', async () => {
    const w = rich();
    for (let host = 0; host < 100; host++) await preview(w, descending(host), `192.0.2.${host}`);
    for (let subnet = 0x1000; subnet < 0x2000; subnet += 0x80)
      await preview(w, descending(subnet), `2001:db8:1:${subnet.toString(16)}::/64`);
    expect(w.bridge.quotes.length).toBeLessThan(35);
    for (const at of [8_001, 8_002])
      expect((await preview(w, descending(at), '198.51.100.1')).type).toBe('possible');
  });

  it('allows all clients together 40 dry runs, and 60 creates after them', async () => {
    const w = rich();
    for (let client = 0; client < 60; client++) await preview(w, descending(client), `10.${client}.0.1`);
    expect(w.bridge.quotes).toHaveLength(40);
    const spent = await preview(w, descending(60), '10.99.0.1');
    expect([refusalOf(spent)?.code, spent.quotesLeft.left]).toEqual(['QUOTE_BUDGET_SPENT', 0]);
    const creates = await Promise.all(Array.from({ length: 70 }, (_, at) => w.custody.createSwap(small(at))));
    expect(creates.filter(({ type }) => type === 'created')).toHaveLength(60);
    expect(w.bridge.quotes).toHaveLength(100);
    expect(creates.flatMap((answer) => refusalOf(answer)?.code ?? [])).toEqual(
      Array(10).fill('QUOTE_BUDGET_SPENT'),
    );
  });

  it('a client may make a dry run again once its oldest one has left the window', async () => {
    const w = rich();
    for (let call = 0; call < 5; call++) {
      await preview(w);
      w.clock.now += MINUTE;
    }
    const refused = refusalOf(await preview(w));
    expect(refused?.retryAfterSeconds).toBe(115 * 60);
    w.clock.now += 115 * MINUTE;
    expect((await preview(w)).type).toBe('possible');
    expect((await preview(w, SOL / 2n)).type).toBe('refused');
  });

  it('a refusal before the quote uses up no quota', async () => {
    const w = createCustodianWorld();
    for (let call = 0; call < 30; call++) await preview(w, 3n * SOL);
    expect((await preview(w)).type).toBe('possible');
  });
});

describe('an amount that was too small for the bridge', () => {
  const tooLow = (w: CustodianWorld, below: bigint) => {
    const { nextQuote } = w.bridge;
    w.bridge.nextQuote = (amount, dry) =>
      amount < below ? { ok: false, reason: 'amount_too_low' } : nextQuote(amount, dry);
  };

  it('remembers an amount too small for the bridge for ten minutes, and refuses it and smaller ones unquoted', async () => {
    const w = rich();
    tooLow(w, SOL);
    const first = refusalOf(await w.custody.createSwap(small(0)));
    expect(first?.code).toBe('AMOUNT_TOO_SMALL');
    for (let at = 1; at < 30; at++) {
      const again = refusalOf(
        await w.custody.createSwap(request({ amountLamports: SOL / 10n - BigInt(at), client: `c${at}` })),
      );
      expect(again?.code).toBe('AMOUNT_TOO_SMALL');
    }
    expect(refusalOf(await preview(w, SOL / 10n))?.code).toBe('AMOUNT_TOO_SMALL');
    expect(w.bridge.quotes).toHaveLength(1);
    expect((await w.custody.createSwap(request())).type).toBe('created');
    w.clock.now += 10 * MINUTE;
    await w.custody.createSwap(small(99));
    expect(w.bridge.quotes).toHaveLength(3);
  });

  it('an amount too small for the bridge is forgotten after the clock was set back by a day', async () => {
    const w = rich();
    tooLow(w, SOL);
    await w.custody.createSwap(small(0));
    w.clock.now -= 24 * 60 * MINUTE;
    await w.custody.createSwap(small(1));
    expect(w.bridge.quotes).toHaveLength(2);
  });

  it('a refused amount raises the remembered minimum, and any smaller amount is refused without a quote', async () => {
    const w = rich();
    tooLow(w, SOL);
    await w.custody.createSwap(request({ amountLamports: SOL / 2n, client: 'a' }));
    await w.custody.createSwap(request({ amountLamports: SOL - 1n, client: 'b' }));
    await w.custody.createSwap(request({ amountLamports: SOL - 2n, client: 'c' }));
    expect(w.bridge.quotes).toHaveLength(2);
  });

  it('an amount that only our own cost limit refused is also remembered as too small', async () => {
    const w = rich();
    w.bridge.nextQuote = (amount) => ({
      ok: true,
      quote: quoteFor(amount, {
        minimumSats: sats(1n),
        fixedFeeSats: sats(1_000_000n),
        depositAddress: null,
      }),
    });
    expect(refusalOf(await w.custody.createSwap(small(0)))).toMatchObject({
      code: 'AMOUNT_TOO_SMALL',
      details: { reason: 'amount_below_cost' },
    });
    expect(refusalOf(await w.custody.createSwap(small(1)))).toMatchObject({
      details: { reason: 'amount_below_cost' },
    });
    expect(w.bridge.quotes).toHaveLength(1);
  });
});

describe('room for swaps', () => {
  it('the maximum of a swap is the largest amount that every limit allows now', async () => {
    const w = createCustodianWorld();
    expect(await w.custody.swapRoom()).toEqual({
      balanceLamports: 10n * SOL,
      maximumLamports: 2n * SOL,
      spendableLamports: expect.any(BigInt),
      refusal: null,
    });
    await w.custody.createSwap(request({ amountLamports: 2n * SOL, client: 'a' }));
    await w.custody.createSwap(request({ amountLamports: SOL + SOL / 2n, client: 'b' }));
    expect((await w.custody.swapRoom()).maximumLamports).toBe(SOL / 2n);
    expect((await w.custody.createSwap(request({ amountLamports: SOL / 2n, client: 'c' }))).type).toBe(
      'created',
    );
    expect(await w.custody.swapRoom()).toMatchObject({
      maximumLamports: 0n,
      refusal: { code: 'SWAP_LIMIT_REACHED' },
    });
  });

  it('the maximum of a swap leaves the fee and the floor in a low balance', async () => {
    const w = createCustodianWorld();
    w.chain.nextBalance = async () => ({ lamports: lamports(SOL), slot: 100n });
    const { maximumLamports } = await w.custody.swapRoom();
    expect(maximumLamports).toBe(SOL - SOL / 10n - FEE);
    w.clock.now += 2_000;
    expect((await w.custody.createSwap(request({ amountLamports: maximumLamports + 1n }))).type).toBe(
      'refused',
    );
    expect((await w.custody.createSwap(request({ amountLamports: maximumLamports }))).type).toBe('created');
  });

  it('the maximum of a swap is zero while swaps are stopped, with the balance still shown', async () => {
    const w = createCustodianWorld({ swapsDisabled: true });
    expect(await w.custody.swapRoom()).toMatchObject({
      balanceLamports: 10n * SOL,
      maximumLamports: 0n,
      refusal: { code: 'SWAPS_PAUSED' },
    });
  });
});
