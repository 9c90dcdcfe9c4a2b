import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { beginOperation, queueOperation } from '../../../src/custody/kernel/begin-operation.ts';
import { depositSignature } from '../../kit/addresses.ts';
import { createKernel, type KernelRig } from '../../kit/kernel.ts';
import { done, FEE, NOW, SOL } from '../../kit/sample-operations.ts';

const NONE = lamports(0n);
const REFUND = `refund:${depositSignature(1)}:1`;

describe('beginOperation', () => {
  it('beginOperation stores one operation per id, for any number and timing of calls, and does not run it', async () => {
    const w = createKernel();
    const calls = { decided: 0, stored: 0 };
    const begin = () =>
      beginOperation(w.tools, 'asry', 'asry:one', () => {
        calls.decided++;
        const intent = {
          amount: NONE,
          reserved: lamports(FEE),
          plan: { to: 'x' },
          store: () => calls.stored++,
        };
        return { ok: true, intent };
      });
    const begun = await Promise.all([begin(), begin(), begin()]);
    expect(begun.map(({ type }) => type).toSorted()).toEqual(['begun', 'known', 'known']);
    w.state.stopped = 'operator';
    expect(await begin()).toMatchObject({ type: 'known', operation: { id: 'asry:one' } });
    expect(calls).toEqual({ decided: 1, stored: 1 });
    expect(w.row('asry:one')).toMatchObject({
      state: 'planned',
      reserved: FEE,
      plan: { to: 'x' },
      dueAt: NOW,
    });
    expect(w.order.every((step) => step === 'sync planned')).toBe(true);
  });

  it("beginOperation returns the module's refusal without storing an intent", async () => {
    const w = createKernel();
    const declined = await beginOperation(w.tools, 'asry', 'asry:one', () => ({ ok: false, declined: 'no' }));
    expect(declined).toEqual({ type: 'declined', declined: 'no' });
    expect([w.journal.isEmpty(), w.order]).toEqual([true, []]);
  });

  it('beginOperation does not store an intent if the module fails to write its own rows', async () => {
    const w = createKernel();
    const store = () => {
      w.journal.setMeta('module', 'row');
      throw new Error('disk full');
    };
    await expect(w.begin('asry:one', { store })).rejects.toThrow('disk full');
    expect([w.journal.isEmpty(), w.journal.getMeta('module')]).toEqual([true, undefined]);
  });

  it('reads the balance again if the reservation of another operation ends during the read', async () => {
    const w = createKernel();
    const paying = w.add(done({ state: 'signed', dueAt: NOW, releasedSlot: null }));
    const slots: bigint[] = [];
    w.chain.nextBalance = async (slot) => {
      slots.push(slot);
      if (slots.length === 1) w.journal.update(paying, { ...paying, releasedSlot: 500n }, NOW);
      return { lamports: lamports(SOL), slot };
    };
    expect(await w.begin('asry:one')).toMatchObject({ type: 'begun' });
    expect(slots).toEqual([0n, 500n]);
  });

  it('refuses an operation after three reads of an outdated balance', async () => {
    const w = createKernel();
    w.add(done({ releasedSlot: 500n }));
    w.chain.nextBalance = async () => ({ lamports: lamports(SOL), slot: 499n });
    const why = { code: 'UNREADABLE', reason: 'balance_outdated', upstream: null };
    expect(await w.begin('asry:one')).toEqual({ type: 'refused', why });
    expect(w.chain.reads.balance).toBe(3);
  });
});

const balanceFails = (w: KernelRig) =>
  (w.chain.nextBalance = () => Promise.reject(upstreamFailed('solana-rpc', 'timeout')));
const balanceIs = (w: KernelRig, sol: bigint) =>
  (w.chain.nextBalance = async (slot) => ({ lamports: lamports(sol), slot }));
const refundedOneSol = (w: KernelRig) => w.add(done({ kind: 'refund', amount: lamports(SOL) }));

/** The reasons against a refund of 1 SOL, in the order in which they are checked. */
const REASONS: readonly [string, (w: KernelRig) => void, object][] = [
  ['a stop', (w) => (w.state.stopped = 'operator'), { code: 'STOPPED', reason: 'operator' }],
  ['an unreadable balance', balanceFails, { code: 'UNREADABLE', reason: 'timeout', upstream: 'solana-rpc' }],
  ["the module's objection", () => undefined, { declined: 'no' }],
  ['a low balance', (w) => balanceIs(w, SOL), { code: 'INSUFFICIENT_BALANCE', available: SOL }],
  ['a limit', refundedOneSol, { code: 'LIMIT_REACHED', limit: { name: 'refunds_day' }, used: SOL }],
];

describe('a refusal', () => {
  it.each(REASONS.map(([name], first) => [name, first] as const))(
    'when several reasons apply, a refusal gives %s before every later reason',
    async (_name, first) => {
      const w = createKernel({}, { refunds_day: SOL });
      const isObjecting = first <= 2;
      for (const [, arrange] of REASONS.slice(first).toReversed()) arrange(w);
      const intent = { amount: lamports(SOL), reserved: lamports(SOL + FEE), plan: {} };
      const begun = await beginOperation(w.tools, 'refund', REFUND, () =>
        isObjecting ? { ok: false, declined: 'no' } : { ok: true, intent },
      );
      expect(begun.type === 'refused' ? begun.why : begun).toMatchObject(REASONS[first]?.[2] ?? {});
      expect(w.journal.get(REFUND)).toBeUndefined();
    },
  );

  it('a refused operation can start once its reason no longer applies', async () => {
    const w = createKernel({}, { refunds_day: SOL });
    w.state.stopped = 'operator';
    expect(await w.begin(REFUND, { amount: lamports(SOL) })).toMatchObject({ type: 'refused' });
    w.state.stopped = undefined;
    expect(await w.begin(REFUND, { amount: lamports(SOL) })).toMatchObject({ type: 'begun' });
  });
});

it('a payout that costs no rent starts even if the rent limit was lowered below its current use', async () => {
  const w = createKernel({}, { rent_day: 1n });
  w.add(done({ kind: 'asry', amount: lamports(5n), releasedSlot: null }));
  expect(await w.begin('asry:one', { amount: lamports(1n) })).toMatchObject({ type: 'refused' });
  expect(await w.begin('asry:one')).toMatchObject({ type: 'begun' });
});

it('queueOperation stores an intent and the rows of its module without checking limits, pause or balance', () => {
  const w = createKernel({}, { creations_day: 0n });
  w.state.stopped = 'operator';
  const intent = {
    amount: NONE,
    reserved: lamports(SOL),
    plan: {},
    store: () => w.journal.setMeta('module', 'row'),
  };
  w.storage.transaction(() => queueOperation(w.tools, 'token', 'token:one', intent));
  expect(w.row('token:one')).toMatchObject({ state: 'planned', reserved: SOL });
  expect([w.journal.getMeta('module'), w.chain.reads.balance]).toEqual(['row', 0]);
});
