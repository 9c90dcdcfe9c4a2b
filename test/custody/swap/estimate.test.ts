import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { QuoteVerdict, SwapQuote } from '../../../src/bridges/route.ts';
import { type Lamports, lamports, sats } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import type { Refusal, SwapAnswer, SwapEstimate } from '../../../src/custody/api.ts';
import { cases } from '../../cases.ts';
import { RESERVE } from '../../kit/addresses.ts';
import { type CustodianWorld, createCustodianWorld, request } from '../../kit/custodian.ts';
import { LIMITS } from '../../kit/limits.ts';
import { SOL } from '../../kit/sample-operations.ts';

const CLIENT = '192.0.2.1';
const LARGE = 10_000n * SOL;
const UNLIMITED = { ...LIMITS, hour: LARGE, day: LARGE, unsettled: LARGE, cost_day: LARGE };
const rich = () => {
  const w = createCustodianWorld({ limits: UNLIMITED });
  w.chain.nextBalance = async () => ({ lamports: lamports(100_000n * SOL), slot: 100n });
  return w;
};
const estimate = (w: CustodianWorld, amountLamports = SOL, client = CLIENT) =>
  w.custody.estimateSwap({ amountLamports, client });
const refusalOf = (answer: SwapAnswer | SwapEstimate): Refusal | null =>
  answer.type === 'created' ? null : answer.refusal;
type Refused = Extract<QuoteVerdict, { ok: false }>;
const refuse = (verdict: Omit<Refused, 'ok'>) => (w: CustodianWorld) => {
  w.bridge.nextQuote = () => ({ ok: false, ...verdict });
};

/** Changes each quote that the bridge gives, but not its deposit address, which is used once. */
const requote = (change: (amount: Lamports) => Partial<SwapQuote>) => (w: CustodianWorld) => {
  const { nextQuote } = w.bridge;
  w.bridge.nextQuote = async (amount, dry) => {
    const verdict = await nextQuote(amount, dry);
    return verdict.ok ? { ok: true, quote: { ...verdict.quote, ...change(amount) } } : verdict;
  };
};

/** A fact that may refuse a swap, and what brings it about. */
const FACTS: Readonly<Record<string, (w: CustodianWorld) => unknown>> = {
  paused: (w) => w.custody.ops({ name: 'pause' }),
  'the balance is low': (w) => {
    w.chain.nextBalance = async () => ({ lamports: lamports(SOL / 2n), slot: 100n });
  },
  'no node responds': (w) => {
    w.chain.nextBalance = () => Promise.reject(upstreamFailed('solana-rpc', 'timeout'));
  },
  'no quorum of nodes knows a blockhash': (w) => {
    w.swap.latestBlockhash = () => Promise.reject(upstreamFailed('solana-rpc', 'quorum_missing'));
  },
  'the key service fails': async (w) => {
    const sign = () => Promise.reject(upstreamFailed('key_service', 'timeout'));
    Object.assign(w.deps.signer, { sign });
    await w.custody.wake();
  },
  'an hour is used': async (w) => {
    await w.custody.createSwap(request({ amountLamports: 2n * SOL, client: 'a' }));
    await w.custody.createSwap(request({ amountLamports: SOL + SOL / 2n, client: 'b' }));
  },
  'the daily costs are used': async (w) => {
    requote((amount) => ({ minimumSats: sats((amount * 122_600n) / SOL) }))(w);
    for (const client of ['a', 'b'])
      await w.custody.createSwap(request({ amountLamports: 2n * SOL, client }));
  },
  "the client's creates are used": async (w) => {
    w.bridge.nextQuote = () => ({ ok: false, reason: 'no_route' });
    for (let call = 0; call < 6; call++) await w.custody.createSwap(request({ amountLamports: SOL / 10n }));
  },
  'all quotes for create calls are used': async (w) => {
    const { nextQuote } = w.bridge;
    w.bridge.nextQuote = () => ({ ok: false, reason: 'no_route' });
    for (let call = 0; call < 60; call++)
      await w.custody.createSwap(request({ amountLamports: SOL / 10n, client: `c${call}` }));
    w.bridge.nextQuote = nextQuote;
  },
  'the bridge is down': (w) => {
    w.bridge.nextQuote = () => Promise.reject(upstreamFailed('near-intents', 'timeout'));
  },
  'the amount is too small for the bridge': refuse({ reason: 'amount_too_low' }),
  'the bridge names a minimum': refuse({
    reason: 'amount_too_low',
    least: { unit: 'lamports', value: 3n * SOL },
  }),
  'the bridge names a minimum in dollars': refuse({
    reason: 'amount_too_low',
    least: { unit: 'microUsd', value: 1_000_000_000n },
  }),
  'the amount is too large for the bridge': refuse({ reason: 'amount_too_high' }),
  'there is no route': refuse({ reason: 'no_route' }),
  'the pair is paused': refuse({ reason: 'pair_paused' }),
  'the request is invalid': refuse({ reason: 'request_invalid' }),
  'the reason is unknown': refuse({ reason: 'bridge_refused' }),
  'the quote does not pass a check': refuse({ reason: 'quote_recipient' }),
  'the fixed cost is too large': requote((amount) => ({
    minimumSats: sats((amount * 120_000n) / SOL),
    fixedFeeSats: sats(9_000n),
  })),
  'the quote is too expensive': requote(() => ({ minimumSats: sats(1n) })),
  'one price is missing': (w) => void w.swap.prices.pop(),
  'the prices differ': (w) => {
    w.swap.prices = w.swap.prices.map((price, at) => ({ ...price, btcUsd: price.btcUsd << BigInt(at) }));
  },
  'the minimum is known': (w) => w.custody.swapRoom(),
};
const NAMES = Object.keys(FACTS);

const state = fc.record({
  facts: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 4 }),
  amount: fc.oneof(
    fc.bigInt({ min: 1_000_000n, max: 3n * SOL }),
    fc.constantFrom(1_000_000n, SOL, 2n * SOL, 2n * SOL + 1n, LARGE),
  ),
  minutes: fc.integer({ min: 0, max: 20 }),
});

async function bring(facts: readonly string[]): Promise<CustodianWorld> {
  let signatures = 0;
  const signer = {
    address: RESERVE,
    sign: async () => new Uint8Array(64).fill(++signatures),
    check: async () => void (await w.deps.signer.sign(new Uint8Array())),
  };
  const w = createCustodianWorld({ signer });
  for (const fact of facts) await FACTS[fact]?.(w);
  // Balance and prices that a fact needed are no longer shared.
  w.clock.now += 5_000;
  return w;
}

describe('an estimate shows what a create call would return', () => {
  it.each(NAMES)('an estimate shows what a create call returns while %s', async (fact) => {
    const w = await bring([fact]);
    const shown = await estimate(w);
    expect(refusalOf(shown)).toEqual(refusalOf(await w.custody.createSwap(request())));
  });

  it('an estimate and a create call with the same amount have the same refusal in any state', {
    tags: ['scaled'],
    timeout: 60_000,
  }, async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(state, async ({ facts, amount, minutes }) => {
        const w = await bring(facts);
        w.clock.now += minutes * 60_000;
        const rows = w.journal.open().length;
        const shown = refusalOf(await estimate(w, amount));
        expect(w.journal.open().length).toBe(rows);
        const given = refusalOf(await w.custody.createSwap(request({ amountLamports: amount })));
        expect(shown).toEqual(given);
        seen.add(given?.code ?? 'created');
      }),
      { numRuns: cases(200, 60) },
    );
    expect(seen.size).toBeGreaterThan(6);
  });

  it('an estimate shows figures, but opens no deposit address and neither reserves nor stores an operation', async () => {
    const w = createCustodianWorld();
    expect(await estimate(w)).toEqual({
      type: 'quoted',
      expectedSats: 124_375n,
      minimumSats: 123_750n,
      etaSeconds: 465,
      route: 'near-intents',
      refusal: null,
      minimum: null,
      asOfMs: w.clock.now,
      stale: false,
    });
    expect(w.bridge.quotes).toEqual([{ amount: SOL, dry: true }]);
    expect([w.journal.isEmpty(), w.signatures(), w.mirror.applied]).toEqual([true, 0, 0]);
  });

  it('an estimate shows figures next to a refusal that does not come from the quote', async () => {
    const w = await bring(['paused']);
    expect(await estimate(w)).toMatchObject({ expectedSats: 124_375n, refusal: { code: 'SWAPS_PAUSED' } });
  });
});

describe('the quotes of estimates', () => {
  it('equal amounts share a quote for 15 seconds, even before the bridge has returned it', async () => {
    const w = rich();
    await Promise.all(Array.from({ length: 50 }, () => estimate(w)));
    expect(w.bridge.quotes).toHaveLength(1);
    w.clock.now += 15_000;
    await estimate(w);
    expect(w.bridge.quotes).toHaveLength(2);
  });

  it('a refusal by the bridge is not cached, so estimates work again as soon as the bridge quotes', async () => {
    const w = rich();
    const { nextQuote } = w.bridge;
    refuse({ reason: 'pair_paused' })(w);
    expect(refusalOf(await estimate(w))).toMatchObject({ code: 'QUOTE_REFUSED', status: 503 });
    w.bridge.nextQuote = nextQuote;
    expect(refusalOf(await estimate(w))).toBeNull();
  });

  it('a client gets an eighth of the estimate quotes, which leaves quotes for its create calls and for other clients', async () => {
    const w = rich();
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => estimate(w, SOL - BigInt(at))));
    expect(answers.filter(({ type }) => type === 'quoted')).toHaveLength(15);
    expect(answers.at(-1)).toMatchObject({
      type: 'unquoted',
      isOfCreate: false,
      refusal: { code: 'RATE_LIMITED', retryAfterSeconds: 900, details: { limit: 'estimate_quotes' } },
    });
    expect((await estimate(w, SOL / 2n, '198.51.100.1')).type).toBe('quoted');
    expect((await w.custody.createSwap(request())).type).toBe('created');
  });

  it('a client that has used up its quotes gets an older quote, marked stale, and new quotes after a quarter of an hour', async () => {
    const w = rich();
    for (let at = 0; at < 20; at++) await estimate(w, SOL - BigInt(at));
    w.clock.now += 60_000;
    expect(await estimate(w, SOL)).toMatchObject({
      type: 'quoted',
      stale: true,
      asOfMs: w.clock.now - 60_000,
    });
    expect((await estimate(w, 2n * SOL)).type).toBe('unquoted');
    w.clock.now += 14 * 60_000;
    expect(await estimate(w, SOL)).toMatchObject({ type: 'quoted', stale: false });
    expect(await estimate(w, 2n * SOL)).toMatchObject({ type: 'quoted', stale: false });
  });

  it('a client that constantly requests new amounts leaves quotes to others', async () => {
    const w = rich();
    for (let minute = 0; minute < 115; minute++) {
      for (let at = 0; at < 20; at++) await estimate(w, SOL - BigInt(20 * minute + at));
      w.clock.now += 60_000;
    }
    expect(w.bridge.quotes.length).toBeGreaterThan(60);
    expect(w.bridge.quotes.length).toBeLessThan(85);
    const before = w.bridge.quotes.length;
    for (let other = 0; other < 15; other++)
      expect((await estimate(w, SOL / 2n - BigInt(other), `198.51.${other}.1`)).type).toBe('quoted');
    expect(w.bridge.quotes).toHaveLength(before + 15);
  });

  it('a quote is kept for an hour for clients without quotes left', async () => {
    const w = rich();
    for (let client = 0; client < 130; client++) await estimate(w, SOL - BigInt(client), `10.${client}.0.1`);
    w.clock.now += 3_599_999;
    expect(await estimate(w, SOL)).toMatchObject({ type: 'quoted', stale: true });
    w.clock.now += 1;
    expect((await estimate(w, SOL)).type).toBe('unquoted');
  });

  it('a /24 or a /48 never uses up the quotes of all clients', async () => {
    const w = rich();
    for (let host = 0; host < 100; host++) await estimate(w, SOL - BigInt(host), `192.0.2.${host}`);
    for (let net = 0x1000; net < 0x2000; net += 0x80)
      await estimate(w, SOL - BigInt(net), `2001:db8:1:${net.toString(16)}::/64`);
    expect(w.bridge.quotes.length).toBeLessThan(100);
    for (const at of [8_001, 8_002])
      expect((await estimate(w, SOL - BigInt(at), '198.51.100.1')).type).toBe('quoted');
  });

  it('all clients together get 120 quotes, and can still make 60 create calls', async () => {
    const w = rich();
    for (let client = 0; client < 130; client++) await estimate(w, SOL - BigInt(client), `10.${client}.0.1`);
    expect(w.bridge.quotes).toHaveLength(120);
    expect(refusalOf(await estimate(w, SOL / 3n, '10.200.0.1'))?.code).toBe('QUOTE_BUDGET_SPENT');
    const creates = await Promise.all(
      Array.from({ length: 70 }, (_, at) =>
        w.custody.createSwap(request({ amountLamports: SOL / 10n, client: `client-${at}` })),
      ),
    );
    expect(creates.filter(({ type }) => type === 'created')).toHaveLength(60);
    expect(creates.flatMap((answer) => refusalOf(answer)?.code ?? [])).toEqual(
      Array(10).fill('QUOTE_BUDGET_SPENT'),
    );
  });

  it('an estimate that is refused for a spent share still shows that a create call would fail before its quote', async () => {
    const w = rich();
    for (let at = 0; at < 20; at++) await estimate(w, SOL - BigInt(at));
    await w.custody.ops({ name: 'pause' });
    expect(await estimate(w, 2n * SOL)).toMatchObject({
      isOfCreate: true,
      refusal: { code: 'SWAPS_PAUSED' },
    });
  });
});
