import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { DAY_MS } from '../../../src/core/durations.ts';
import { AppError, upstreamFailed } from '../../../src/core/errors.ts';
import type { Prepared, State } from '../../../src/custody/kernel/operation.ts';
import { held, parseReason } from '../../../src/custody/kernel/reason.ts';
import { createKernel, type KernelRig, ready } from '../../kit/kernel.ts';
import { closed, FEE, NOW, planned, SIGNED_AT, SOL, settling } from '../../kit/sample-operations.ts';

describe('from intent to send', () => {
  it('signs a transaction, stores it, makes it durable, and only then sends it', async () => {
    const w = createKernel();
    w.add(planned());
    await w.executor.drive('swap:one');
    expect(w.order.slice(0, 3)).toEqual(['sign', 'sync signed', 'send']);
    expect(w.row()).toMatchObject({
      state: 'signed',
      detail: 'sent',
      signing: { signature: 'signature 1', wire: 'wire 3', ...SIGNED_AT },
      cost: 10n,
      unsettled: SOL,
    });
    expect(w.journal.usedBy('deposit:a')).toBe('swap:one');
    expect(w.journal.bySignature('signature 1')?.id).toBe('swap:one');
  });

  it('an instance that is replaced during the preparation stores nothing and sends nothing', async () => {
    const w = createKernel({
      prepare: async () => {
        w.storage.replaced = true;
        return ready();
      },
    });
    w.add(planned());
    await expect(w.executor.drive('swap:one')).rejects.toThrow('replaced');
    expect(w.chain.sent).toEqual([]);
    w.storage.replaced = false;
    expect(w.row().state).toBe('planned');
  });

  it('sends no signed bytes before they are durable', async () => {
    const w = createKernel();
    w.storage.sync = () => Promise.reject(new Error('disk full'));
    w.add(planned());
    await w.executor.drive('swap:one');
    expect([w.chain.sent, w.logged]).toEqual([[], ['work_failed']]);
  });

  it('an outcome that cannot be booked leaves the operation as it was, and is booked once later', async () => {
    const booked: string[] = [];
    let isBroken = true;
    const w = createKernel({
      prepare: async () => ({ ok: false, found: { mint: 'm' } }),
      onEnd({ id, state }) {
        w.journal.setMeta('written', id);
        if (isBroken) throw new Error('broken');
        booked.push(`${id} ${state}`);
      },
    });
    w.add(planned({ id: 'token:one', kind: 'token' }));
    w.add(planned({ id: 'swap:one' }));
    await w.executor.driveDue(5);
    expect([w.row('token:one').state, w.journal.getMeta('written')]).toEqual(['planned', undefined]);
    isBroken = false;
    await w.executor.driveDue(5);
    expect(booked).toEqual([]);
    w.clock.now += 2_000;
    await w.executor.driveDue(5);
    await w.executor.driveDue(5);
    expect(booked.toSorted()).toEqual(['swap:one done', 'token:one done']);
    expect(w.row('token:one').state).toBe('done');
  });

  it('concurrent callers for one operation share one run and one signature', async () => {
    const w = createKernel();
    w.add(planned());
    await Promise.all([w.executor.drive('swap:one'), w.executor.drive('swap:one'), w.executor.driveDue(5)]);
    expect(w.order.filter((step) => step === 'sign')).toHaveLength(1);
    expect(w.chain.sent).toEqual(['wire 3']);
  });

  it('a row that another call changed during the signing is not overwritten; the signature is discarded', async () => {
    let first = true;
    const w = createKernel({
      prepare: async (op) => {
        if (first) w.journal.update(op, { ...op, plan: { touched: true } }, NOW);
        first = false;
        return ready({ message: Uint8Array.of(first ? 1 : 2) });
      },
    });
    w.add(planned());
    await w.executor.drive('swap:one');
    expect(w.order.filter((step) => step === 'sign')).toHaveLength(2);
    expect(w.row()).toMatchObject({ state: 'signed', plan: { touched: true } });
    expect(w.chain.sent).toEqual(['wire 1']);
  });

  it('an operation whose outcome is already on the chain ends without a signature', async () => {
    const w = createKernel({ prepare: async () => ({ ok: false, found: { mint: 'm' } }) });
    w.add(planned({ id: 'asry:1', kind: 'asry' }));
    await w.executor.drive('asry:1');
    expect(w.row('asry:1')).toMatchObject({ state: 'done', outcome: { mint: 'm' }, signing: null });
    expect(w.order).toEqual([]);
  });
});

describe('a swap that cannot be signed', () => {
  it.each<[string, () => Promise<Prepared>, string]>([
    ['the kind declines', async () => ({ ok: false, reason: 'quote_recipient' }), 'quote_recipient'],
    [
      'an upstream fails',
      () => Promise.reject(upstreamFailed('near-intents', 'timeout')),
      'upstream_timeout',
    ],
    ['our own code throws', () => Promise.reject(new TypeError('x')), 'upstream_unexpected'],
    ['an error has no reason', () => Promise.reject(new AppError('NOT_FOUND', 'x')), 'upstream_NOT_FOUND'],
  ])('a swap ends unsigned if, in its preparation, %s', async (_name, prepare, reason) => {
    const w = createKernel({ prepare });
    w.add(planned());
    await w.executor.drive('swap:one');
    expect(w.row()).toMatchObject({
      state: 'failed',
      reason: parseReason(reason),
      reserved: 0n,
      signing: null,
    });
    expect(w.order).toEqual([]);
  });

  it.each<[string, (w: KernelRig) => void, string]>([
    [
      'another swap was quoted its deposit address',
      (w) => w.journal.useOnce('deposit:a', 'swap:other', NOW),
      'quote_reused',
    ],
    [
      'its cost exceeds the rest of the day',
      (w) => w.add(settling({ id: 'swap:before', cost: lamports(91n), signing: null })),
      'limit_cost_day',
    ],
    [
      'the swaps signed in the last hour fill the limit, whenever they were requested',
      (w) => {
        const before = settling({ createdAt: NOW - 2 * DAY_MS, signedAt: NOW - 1, signing: null });
        for (let at = 0; at < 4; at++) w.add({ ...before, id: `swap:before-${at}`, unsettled: lamports(0n) });
      },
      'limit_hour',
    ],
  ])('a swap ends unsigned if, after its preparation, %s', async (_name, arrange, reason) => {
    const w = createKernel();
    arrange(w);
    w.add(planned());
    await w.executor.drive('swap:one');
    const outcome = reason.startsWith('limit') ? { availableAt: expect.stringMatching(/^\d{13}$/) } : {};
    expect(w.row()).toMatchObject({
      state: 'failed',
      reason: parseReason(reason),
      signing: null,
      reserved: 0n,
      outcome,
    });
    expect(w.journal.usedBy('deposit:a')).toBe(reason === 'quote_reused' ? 'swap:other' : undefined);
    expect(w.chain.sent).toEqual([]);
  });
});

describe('a stop', () => {
  it('if signing is stopped before the preparation, no upstream is called', async () => {
    let prepared = 0;
    const w = createKernel({
      prepare: async () => {
        prepared++;
        return ready();
      },
    });
    w.state.stopped = 'disabled';
    w.add(planned());
    await w.executor.drive('swap:one');
    expect(w.row()).toMatchObject({ state: 'failed', reason: { type: 'stopped', by: 'disabled' } });
    expect(prepared).toBe(0);
  });

  it('if signing is stopped during the read of the quote, nothing is signed', async () => {
    const w = createKernel({
      prepare: async () => {
        w.state.stopped = 'unexpected_debit';
        return ready();
      },
    });
    w.add(planned());
    await w.executor.drive('swap:one');
    const reason = { type: 'stopped', by: 'unexpected_debit' };
    expect(w.row()).toMatchObject({ state: 'failed', reason, signing: null });
    expect(w.chain.sent).toEqual([]);
  });

  it('a payout stays planned while signing is stopped, and is tried later', async () => {
    const w = createKernel();
    w.state.stopped = 'operator';
    w.add(planned({ id: 'asry:1', kind: 'asry' }));
    await w.executor.drive('asry:1');
    const reason = { type: 'stopped', by: 'operator' };
    expect(w.row('asry:1')).toMatchObject({ state: 'planned', reason, reserved: SOL + FEE });
  });
});

it.each([
  ['a kind that this version does not have', planned({ id: 'swap:x', kind: 'melt' })],
  ['an unknown state', planned({ id: 'swap:x', state: 'melting' as State })],
  ['an intent that is held', planned({ id: 'swap:x', reason: held('unproven') })],
  ['a closed row that is due by mistake', closed({ id: 'swap:x', dueAt: NOW })],
])('%s is left unchanged, checked rarely, and reported to the operator', async (_name, op) => {
  const w = createKernel();
  const before = w.add(op);
  await w.executor.driveDue(5);
  expect(w.row('swap:x')).toMatchObject({
    state: before.state,
    reserved: before.reserved,
    reason: op.reason ?? held('unknown_state'),
    dueAt: NOW + 3_600_000,
  });
  expect(w.logged).toContain('operation_held');
  expect(w.order).toEqual([]);
});
