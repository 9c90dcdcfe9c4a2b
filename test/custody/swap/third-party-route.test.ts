/** Payments that a third party has built, from quote to landing: price, limits and predicted effects. */
import { describe, expect, it } from 'vitest';
import type { SwapQuote, ThirdPartyOffer } from '../../../src/bridges/route.ts';
import { sats } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { namesConsumedBy } from '../../../src/custody/kernel/operation.ts';
import { programMemory, trustPrograms, UPGRADEABLE } from '../../../src/custody/policy/deployments.ts';
import { createSwapKind, planSwap, quoteSwap, swapDebit } from '../../../src/custody/swap/operation.ts';
import type { ApprovedPayment } from '../../../src/custody/swap/third-party-payment.ts';
import { createFakeBridge, createSwapPorts, oneSol, quoteFor } from '../../kit/fake-bridge.ts';
import { land } from '../../kit/fake-chain.ts';
import { FEE, NOW, planned, SIGNED_AT, SOL } from '../../kit/sample-operations.ts';
import { ready, row, setUp } from '../kernel/driven.ts';
import { draftSwap, finish } from '../policy/draft.ts';

const OVERHEAD = 3_505_000n;
const offer: ThirdPartyOffer = { quote: finish(draftSwap('near', 1)).quote, slippageBps: 50, askedAt: NOW };
const thirdPartyQuote = (change: Partial<SwapQuote> = {}): SwapQuote =>
  quoteFor(oneSol, { route: 'lifi', fixedFeeSats: null, expiresAt: null, thirdParty: offer, ...change });
const approved = (change: Partial<ApprovedPayment> = {}): ApprovedPayment => ({
  ok: true,
  message: Uint8Array.of(9),
  signedAt: SIGNED_AT,
  minimumSats: sats(123_750n),
  spend: SOL + 15_000n,
  claims: ['lifi:q', 'lifi-message:m', 'deposit:d'],
  plan: { tool: 'near', depositAddress: 'd', quoteId: 'q', messageHash: 'm', vaultSwap: null },
  ...change,
});
function world(checkThirdParty?: () => Promise<ApprovedPayment | { ok: false; reason: string }>) {
  const [first, second] = [createFakeBridge(), createFakeBridge()];
  first.nextQuote = () => Promise.reject(upstreamFailed('near-intents', 'timeout'));
  second.nextQuote = () => ({ ok: true, quote: thirdPartyQuote() });
  const asked: unknown[] = [];
  const ports = {
    ...createSwapPorts([first, second]),
    overhead: OVERHEAD,
    ...(checkThirdParty
      ? {
          checkThirdParty: (...given: unknown[]) => {
            asked.push(given);
            return checkThirdParty();
          },
        }
      : {}),
  };
  return { first, second, ports, asked };
}

describe('a quote with third-party bytes', () => {
  it('is used once the policy has accepted it, with the floor of an independent price', async () => {
    const { ports, asked } = world(async () => approved());
    const quoted = await quoteSwap(ports, oneSol, false);
    // 125,000 sats per SOL, less 2 %. Fees and rent of the chain are part of the cost.
    expect(asked).toEqual([[offer, { amount: SOL, floorSats: 122_500n }]]);
    expect(quoted).toMatchObject({
      ok: true,
      priced: { cost: 10_000_000n + 15_000n },
      approved: { ok: true },
    });
  });

  it('is refused if no policy is configured', async () => {
    expect(await quoteSwap(world().ports, oneSol, false)).toEqual({ ok: false, reason: 'policy_missing' });
  });

  it('is replaced by the next route when the policy refuses it', async () => {
    const w = world(async () => ({ ok: false, reason: 'payment_count' }));
    expect(await quoteSwap(w.ports, oneSol, false)).toEqual({ ok: false, reason: 'payment_count' });
    const routes = [w.second, createFakeBridge()];
    expect(await quoteSwap({ ...w.ports, routes }, oneSol, false)).toMatchObject({
      ok: true,
      quote: { route: 'near-intents' },
      approved: null,
    });
  });

  it('is too expensive when its rent and fees make it so', async () => {
    const { ports } = world(async () => approved({ spend: SOL + 10_000_001n }));
    expect(await quoteSwap(ports, oneSol, false)).toEqual({ ok: false, reason: 'quote_too_expensive' });
  });

  it.each(['amount_too_low', 'amount_too_high', 'no_route'])(
    'a route without a quote (%s) does not hide the failure of another one',
    async (reason) => {
      const w = world(async () => approved());
      w.second.nextQuote = () => ({ ok: false, reason });
      await expect(quoteSwap(w.ports, oneSol, false)).rejects.toMatchObject({
        details: { reason: 'timeout' },
      });
    },
  );

  it('falls to the next route when the first has no liquidity, and keeps the more specific reason', async () => {
    const refusing = (reason: string) => {
      const bridge = createFakeBridge();
      bridge.nextQuote = () => ({ ok: false, reason });
      return bridge;
    };
    const quoted = (...routes: ReturnType<typeof createFakeBridge>[]) =>
      quoteSwap(createSwapPorts(routes), oneSol, false);
    expect(await quoted(refusing('no_route'), createFakeBridge())).toMatchObject({ ok: true });
    for (const routes of [
      [refusing('amount_too_low'), refusing('no_route')],
      [refusing('no_route'), refusing('amount_too_low')],
    ])
      expect(await quoted(...routes)).toEqual({ ok: false, reason: 'amount_too_low' });
    expect(await quoted(refusing('no_route'), refusing('no_route'))).toEqual({
      ok: false,
      reason: 'no_route',
    });
  });
});

describe('preparing it', () => {
  const intent = planSwap({ id: 'swap:k', bodyHash: null, amount: oneSol, now: NOW, overhead: OVERHEAD });

  it('reserves the cost of the most expensive route', () => {
    expect(intent.reserved).toBe(SOL + OVERHEAD);
    expect(swapDebit(oneSol, OVERHEAD)).toBe(SOL + OVERHEAD);
  });

  it('signs the approved bytes, and consumes their names permanently', async () => {
    const { ports } = world(async () => approved({ minimumSats: sats(124_000n) }));
    const prepared = await createSwapKind(ports).prepare(intent);
    expect(prepared).toMatchObject({
      ok: true,
      message: Uint8Array.of(9),
      spend: SOL + 15_000n,
      claims: ['lifi:q', 'lifi-message:m', 'deposit:d'],
      plan: { route: 'lifi', tool: 'near', depositAddress: 'd', minimumSats: '124000', expiresAt: null },
    });
    if (!prepared.ok) return;
    // A journal that is rebuilt from its rows consumes the same names again.
    expect(namesConsumedBy({ ...intent, plan: prepared.plan }).toSorted()).toEqual(
      [...prepared.claims].toSorted(),
    );
  });

  it('our own transfer on the other route reserves no more than it costs', async () => {
    const ports = { ...createSwapPorts([createFakeBridge()]), overhead: OVERHEAD };
    expect(await createSwapKind(ports).prepare(intent)).toMatchObject({ ok: true, spend: SOL + FEE });
  });
});

describe('executing it', () => {
  const spend = SOL + 15_000n;
  const plan = { route: 'lifi', minimumSats: '1' };
  const { unforeseen } = createSwapKind(createSwapPorts([]));
  const foreseeing = unforeseen ? { unforeseen } : {};

  it('keeps exactly the amount that may leave reserved from the signature on', async () => {
    const w = setUp({ prepare: async () => ready({ spend, plan }) });
    w.add(planned({ reserved: swapDebit(oneSol, OVERHEAD) }));
    await w.executor.drive('swap:one');
    expect(row(w)).toMatchObject({ state: 'signed', reserved: spend });
  });

  it('that would take more than was reserved is not signed', async () => {
    const w = setUp({ prepare: async () => ready({ spend: SOL + OVERHEAD + 1n, plan }) });
    w.add(planned({ reserved: swapDebit(oneSol, OVERHEAD) }));
    await w.executor.drive('swap:one');
    expect(row(w)).toMatchObject({ state: 'failed', reason: 'reserve_overspent', signing: null });
    expect(w.order).not.toContain('send');
  });

  it.each([
    ['as predicted continues', { debit: spend }, undefined],
    ['of more than may leave stops all signing', { debit: spend + 1n }, 'unexpected_debit'],
    ['of less than the amount stops all signing', { debit: SOL - 1n }, 'landing_balance'],
    ['that moved tokens stops all signing', { debit: spend, movesTokens: true }, 'landing_tokens'],
  ])('a landing %s', async (_name, landing, frozen) => {
    const w = setUp({ prepare: async () => ready({ spend, plan }), ...foreseeing });
    w.add(planned({ reserved: swapDebit(oneSol, OVERHEAD) }));
    await w.executor.drive('swap:one');
    land(w.chain, landing as Parameters<typeof land>[1]);
    w.clock.now += 1_000;
    await w.executor.drive('swap:one');
    expect(w.journal.getMeta('frozen')).toBe(frozen);
    expect(row(w).state).toBe('settling');
  });
});

it('keeps the first trusted deployment of a program until the operator trusts the present one', async () => {
  const w = setUp();
  const memory = programMemory(w.journal);
  const [tracker = ''] = UPGRADEABLE;
  expect(memory.recorded(tracker)).toBeNull();
  memory.record(tracker, 5n);
  memory.record('Q', 0n);
  expect([memory.recorded(tracker), memory.recorded('Q')]).toEqual([5n, 0n]);
  expect(await trustPrograms(w.journal)('')).toMatchObject({ ok: true });
  expect([memory.recorded(tracker), memory.recorded('Q')]).toEqual([null, 0n]);
});
