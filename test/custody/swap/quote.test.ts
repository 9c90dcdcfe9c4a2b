import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { QuoteVerdict } from '../../../src/bridges/route.ts';
import { lamports, sats } from '../../../src/core/amount.ts';
import { quoteBudgets } from '../../../src/core/call-limits.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/durations.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { swapKind } from '../../../src/custody/swap/operation.ts';
import { SwapQuotas } from '../../../src/custody/swap/quota-store.ts';
import { priceQuote } from '../../../src/custody/swap/swap-quotes.ts';
import { decodeMessage } from '../../chain/solana/decode-message.ts';
import { RESERVE } from '../../kit/addresses.ts';
import {
  BLOCKHASH,
  createFakeBridge,
  createSwapPorts,
  MARKET,
  oneSol,
  quoteFor,
  quotesOf,
} from '../../kit/fake-bridge.ts';
import { NOW, planned, SIGNED_AT, SOL } from '../../kit/sample-operations.ts';
import { eachScene } from '../../kit/scenes.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const withMinimum = (minimumSats: bigint, fixedFeeSats = 0n) =>
  quoteFor(oneSol, { minimumSats: sats(minimumSats), fixedFeeSats: sats(fixedFeeSats) });

describe('priceQuote', () => {
  // The fair price of one SOL is 125,000 sats.
  eachScene(`
    its guaranteed output counts, not its expected one  | 124000          | 80000 80000 | 8000000
    its loss is exactly the limit                       | 122500          | 80000 80000 | 20000000
    its loss is one sat above the limit                 | 122499          | 80000 80000 | quote_too_expensive
    it is better than the fair price                    | 130000          | 80000 80000 | 0
    its fixed fee alone makes it too expensive          | 120000 fee 2500 | 80000 80000 | amount_below_cost
    it is too expensive even without its fixed fee      | 120000 fee 2499 | 80000 80000 | quote_too_expensive
    no source has a price                               | 130000          |             | price_unavailable
    one source has a price                              | 130000          | 80000       | price_unavailable
    two prices differ by more than a percent            | 130000          | 80000 81000 | price_divergent
  `)('a quote has a cost in lamports or a refusal: %s', (_what, quoted, prices, expected) => {
    const [minimum = '', , fee = '0'] = quoted.split(' ');
    const reports = (prices.match(/\d+/g) ?? []).map((usd, at) => ({
      ...MARKET,
      source: String(at),
      btcUsd: BigInt(usd) * 1_000_000n,
    }));
    const priced = priceQuote(withMinimum(BigInt(minimum), BigInt(fee)), reports, 200);
    expect(priced.ok ? String(priced.cost) : priced.reason).toBe(expected);
    if (priced.ok) expect(priced.price).toEqual(reports[0]);
  });

  it('every accepted quote loses at most the limit, computed independently', () => {
    const price = fc.record({
      source: fc.constant('x'),
      btcUsd: fc.bigInt({ min: 10n ** 9n, max: 10n ** 12n }),
      solUsd: fc.bigInt({ min: 10n ** 6n, max: 10n ** 9n }),
    });
    const amounts = fc.bigInt({ min: 1_000_000n, max: 10n * SOL });
    fc.assert(
      fc.property(
        amounts,
        price,
        fc.integer({ min: 9_000, max: 10_100 }),
        fc.integer({ min: 0, max: 500 }),
        (amount, at, share, bps) => {
          const fairSats = (amount * at.solUsd) / (at.btcUsd * 10n);
          const minimum = (fairSats * BigInt(share)) / 10_000n;
          const verdict = priceQuote(
            quoteFor(lamports(amount), { minimumSats: sats(minimum) }),
            [at, at],
            bps,
          );
          // worth in micro-dollars x 1e17, without any rounding
          const lost = amount * at.solUsd * 10n ** 8n - minimum * at.btcUsd * 10n ** 9n;
          const allowed = amount * at.solUsd * 10n ** 8n * BigInt(bps);
          if (verdict.ok) expect(lost * 10_000n).toBeLessThanOrEqual(allowed);
          else expect(lost * 10_000n).toBeGreaterThan(allowed - at.solUsd * 10n ** 12n);
        },
      ),
    );
  });
});

describe('quotes of a swap', () => {
  it('a quote that passes the price check is returned with its cost', async () => {
    const bridge = createFakeBridge();
    expect(await quotesOf(createSwapPorts(bridge)).quote(oneSol, true)).toMatchObject({
      ok: true,
      quote: { expectedSats: 124_375n },
      priced: { cost: 10_000_000n },
    });
    expect(bridge.quotes).toEqual([{ amount: SOL, dry: true }]);
  });

  it.each<[string, QuoteVerdict, string]>([
    ['the route declines', { ok: false, reason: 'quote_signature' }, 'quote_signature'],
    ['the quote is too expensive', { ok: true, quote: withMinimum(1n) }, 'quote_too_expensive'],
  ])('a refused quote has its reason when %s', async (_name, verdict, reason) => {
    const bridge = createFakeBridge();
    bridge.nextQuote = () => verdict;
    expect(await quotesOf(createSwapPorts(bridge)).quote(oneSol, false)).toMatchObject({ ok: false, reason });
  });

  it('unreadable prices are an error, unless the bridge refuses the quote', async () => {
    const bridge = createFakeBridge();
    const ports = {
      ...createSwapPorts(bridge),
      readPrices: () => Promise.reject(upstreamFailed('prices', 'timeout')),
    };
    await expect(quotesOf(ports).quote(oneSol, false)).rejects.toMatchObject({
      details: { reason: 'timeout' },
    });
    bridge.nextQuote = () => ({ ok: false, reason: 'quote_type' });
    expect(await quotesOf(ports).quote(oneSol, false)).toEqual({ ok: false, reason: 'quote_type' });
  });
});

describe('preparing a swap', () => {
  const intent = planned({ id: 'swap:k', amount: oneSol });

  it.each([
    [2_000, ['blockhash', 'quote']],
    [2_001, ['blockhash', 'quote', 'blockhash']],
  ])(
    'a prepared swap transfers the whole amount to the one-time address; a quote that takes %i ms makes these reads: %j',
    async (quoteMs, reads) => {
      let now = NOW;
      const bridge = createFakeBridge();
      const ports = createSwapPorts(bridge);
      const order: string[] = [];
      const withOrder = {
        ...ports,
        route: {
          ...bridge,
          async quote(asked: Parameters<typeof bridge.quote>[0]) {
            order.push('quote');
            now += quoteMs;
            return bridge.quote(asked);
          },
        },
        async latestBlockhash() {
          order.push('blockhash');
          return ports.latestBlockhash();
        },
        now: () => now,
      };
      const kind = swapKind(withOrder, quotesOf(withOrder));
      const prepared = await kind.prepare(intent);
      if (!prepared.ok) throw new Error('not prepared');
      expect(order).toEqual(reads);
      const deposit = String(prepared.plan.depositAddress);
      const message = decodeMessage(prepared.message);
      expect(message).toMatchObject({ requiredSignatures: 1, blockhash: BLOCKHASH });
      const [, , transfer] = message.instructions;
      expect(transfer?.accounts).toEqual([RESERVE, deposit]);
      expect(new DataView(transfer?.data.buffer ?? new ArrayBuffer(12)).getBigUint64(4, true)).toBe(SOL);
      expect(prepared).toMatchObject({
        signedAt: SIGNED_AT,
        cost: 10_000_000n,
        once: [`deposit:${deposit}`],
      });
      expect(prepared.plan).toMatchObject({
        route: 'near-intents',
        expectedSats: '124375',
        minimumSats: '123750',
        priceBtcUsd: '80000000000',
        priceSolUsd: '100000000',
      });
      expect(bridge.quotes).toEqual([{ amount: SOL, dry: false }]);
    },
  );

  it('a firm quote without a deposit address is refused', async () => {
    const bridge = createFakeBridge();
    bridge.nextQuote = (amount) => ({ ok: true, quote: quoteFor(amount) });
    const ports = createSwapPorts(bridge);
    const kind = swapKind(ports, quotesOf(ports));
    expect(await kind.prepare(intent)).toEqual({ ok: false, reason: 'quote_deposit_address' });
  });
});

it('the record of a used quote is deleted after a day, the longest window of a budget', () => {
  const storage = createSqliteStorage();
  const clock = { now: 1_800_000_000_000 };
  const quotas = new SwapQuotas(storage, () => clock.now, quoteBudgets(180));
  quotas.record('create_quotes', '192.0.2.1');
  const kept = () => storage.exec('SELECT 1 FROM calls').length;
  clock.now += DAY_MS;
  quotas.purge();
  expect(kept()).toBe(1);
  clock.now += 1;
  quotas.purge();
  expect(kept()).toBe(0);
});

it('quotes that were used while the clock was ahead count for one window after it was set back', () => {
  const clock = { now: 1_800_000_000_000 + 30 * DAY_MS };
  const quotas = new SwapQuotas(createSqliteStorage(), () => clock.now, quoteBudgets(180));
  const { maximum } = quotas.used('create_quotes');
  for (let at = 0; at < maximum; at++) quotas.record('create_quotes', `192.0.${at}.1`);
  clock.now -= 30 * DAY_MS;
  quotas.purge();
  expect(quotas.refusal('create_quotes', null)).toMatchObject({ details: { limit: 'create_quotes' } });
  quotas.record('create_quotes', null);
  clock.now += 2 * HOUR_MS;
  expect([quotas.refusal('create_quotes', null), quotas.used('create_quotes').used]).toEqual([undefined, 0]);
});
