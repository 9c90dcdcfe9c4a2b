import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { DAY_MS } from '../../../src/core/durations.ts';
import { AppError, upstreamFailed } from '../../../src/core/errors.ts';
import { createExecutor } from '../../../src/custody/kernel/executor.ts';
import type { Kind, Prepared, State } from '../../../src/custody/kernel/operation.ts';
import { closed, FEE, NOW, planned, SIGNED_AT, SOL, SWAP, settling } from '../../kit/sample-operations.ts';
import { budgetOf } from '../spending.ts';
import { LIMITS, pending, ready, row, setUp } from './driven.ts';

describe('from intent to send', () => {
  it('signs, stores, makes durable, and only then sends', async () => {
    const w = setUp();
    w.add(planned());
    await w.executor.drive('swap:one');
    expect(w.order.slice(0, 3)).toEqual(['sign', 'sync signed', 'send']);
    expect(row(w)).toMatchObject({
      state: 'signed',
      detail: 'sent',
      signing: { signature: 'signature 7', wire: 'wire 3', ...SIGNED_AT },
      cost: 10n,
      unsettled: SOL,
    });
    expect(w.journal.consumerOf('deposit:a')).toBe('swap:one');
    expect(w.journal.bySignature('signature 7')?.id).toBe('swap:one');
  });

  it('an instance that was replaced while it prepared stores nothing and sends nothing', async () => {
    const w = setUp({
      prepare: async () => {
        w.storage.replaced = true;
        return ready();
      },
    });
    w.add(planned());
    await expect(w.executor.drive('swap:one')).rejects.toThrow('replaced');
    expect(w.chain.sent).toEqual([]);
    w.storage.replaced = false;
    expect(row(w).state).toBe('planned');
  });

  it('bytes that are not durable are not sent', async () => {
    const w = setUp();
    w.storage.sync = () => Promise.reject(new Error('disk full'));
    w.add(planned());
    await expect(w.executor.drive('swap:one')).rejects.toThrow('disk full');
    expect(w.chain.sent).toEqual([]);
  });

  it('callers at the same time join one run: one signature', async () => {
    const w = setUp();
    w.add(planned());
    await Promise.all([w.executor.drive('swap:one'), w.executor.drive('swap:one'), w.executor.driveDue(5)]);
    expect(w.order.filter((step) => step === 'sign')).toHaveLength(1);
    expect(w.chain.sent).toEqual(['wire 3']);
  });

  it('a row that another call changed meanwhile is not overwritten, and the signature is discarded', async () => {
    let first = true;
    const w = setUp({
      prepare: async (op) => {
        if (first) w.journal.update(op, { ...op, outcome: { touched: true } }, NOW);
        first = false;
        return ready({ message: Uint8Array.of(first ? 1 : 2) });
      },
    });
    w.add(planned());
    await w.executor.drive('swap:one');
    expect(w.order.filter((step) => step === 'sign')).toHaveLength(2);
    expect(row(w)).toMatchObject({ state: 'signed', outcome: { touched: true } });
    expect(w.chain.sent).toEqual(['wire 1']);
  });
});

describe('what keeps a swap from being signed', () => {
  it.each<[string, () => Promise<Prepared>, string]>([
    ['the kind declines', async () => ({ ok: false, reason: 'quote_recipient' }), 'quote_recipient'],
    [
      'an upstream fails',
      () => Promise.reject(upstreamFailed('near-intents', 'timeout')),
      'upstream_timeout',
    ],
    ['our own code throws', () => Promise.reject(new TypeError('x')), 'upstream_unexpected'],
    ['an error has no reason', () => Promise.reject(new AppError('NOT_FOUND', 'x')), 'upstream_NOT_FOUND'],
  ])('%s', async (_name, prepare, reason) => {
    const w = setUp({ prepare });
    w.add(planned());
    await w.executor.drive('swap:one');
    expect(row(w)).toMatchObject({ state: 'failed', reason, reserved: 0n, signing: null });
    expect(w.order).toEqual([]);
  });

  it('a key that cannot sign ends the swap instead of requesting quotes repeatedly', async () => {
    const w = setUp({ prepare: async () => ready({ message: new Uint8Array(0) }) });
    const failing = createExecutor({
      journal: w.journal,
      storage: w.storage,
      chain: w.chain,
      signer: { address: 'reserve', sign: () => Promise.reject(new Error('no key')) },
      kinds: { swap: { rules: SWAP, prepare: async () => ready(), settle: async () => pending } },
      budgetOf: (kind) => budgetOf(kind, LIMITS),
      now: () => NOW,
      log: () => {},
      isVerified: () => true,
      stop: () => undefined,
      assemble: () => ({ wire: '', signature: '' }),
    });
    w.add(planned());
    await failing.drive('swap:one');
    expect(row(w)).toMatchObject({ state: 'failed', signing: null, reserved: 0n });
  });

  it('a stop before the preparation causes no upstream call', async () => {
    let asked = 0;
    const w = setUp({
      prepare: async () => {
        asked++;
        return ready();
      },
    });
    w.stop('stopped_disabled');
    w.add(planned());
    await w.executor.drive('swap:one');
    expect(row(w)).toMatchObject({ state: 'failed', reason: 'stopped_disabled' });
    expect(asked).toBe(0);
  });

  it('a stop during the read of the quote still takes effect', async () => {
    const w = setUp({
      prepare: async () => {
        w.stop('stopped_unexpected_debit');
        return ready();
      },
    });
    w.add(planned());
    await w.executor.drive('swap:one');
    expect(row(w)).toMatchObject({ state: 'failed', reason: 'stopped_unexpected_debit', signing: null });
    expect(w.chain.sent).toEqual([]);
  });

  it('a stopped payout keeps its place and is tried later', async () => {
    const w = setUp();
    w.stop('stopped_operator');
    w.add(planned({ id: 'asry:1', kind: 'asry' }));
    await w.executor.drive('asry:1');
    expect(row(w, 'asry:1')).toMatchObject({
      state: 'planned',
      reason: 'stopped_operator',
      reserved: SOL + FEE,
    });
  });

  it("the day's cost limit counts the cost of other operations at the time of the signature", async () => {
    const w = setUp({ prepare: async () => ready({ cost: 41n }) });
    w.add(settling({ id: 'swap:before', cost: lamports(60n), signing: null }));
    w.add(planned());
    await w.executor.drive('swap:one');
    expect(row(w)).toMatchObject({
      state: 'failed',
      reason: 'limit_cost_day',
      outcome: { availableAt: expect.stringMatching(/^\d{13}$/) },
    });
    expect(w.journal.consumerOf('deposit:a')).toBeUndefined();
  });

  it('a limit of a window counts the signed operations at the time of the signature', async () => {
    const w = setUp();
    const before = settling({ createdAt: NOW - 2 * DAY_MS, signedAt: NOW - 1, signing: null });
    for (let number = 0; number < 4; number++)
      w.add({ ...before, id: `swap:before-${number}`, unsettled: lamports(0n) });
    w.add(planned());
    await w.executor.drive('swap:one');
    expect(row(w)).toMatchObject({ state: 'failed', reason: 'limit_hour', signing: null });
    expect(w.chain.sent).toEqual([]);
  });

  it('a deposit address that another swap was quoted', async () => {
    const w = setUp();
    w.journal.consumeOnce('deposit:a', 'swap:other', NOW);
    w.add(planned());
    await w.executor.drive('swap:one');
    expect(row(w)).toMatchObject({ state: 'failed', reason: 'quote_reused', signing: null });
    expect(w.chain.sent).toEqual([]);
  });

  it('an outcome that the chain already shows needs no signature', async () => {
    const w = setUp({ prepare: async () => ({ ok: false, found: { mint: 'm' } }) });
    w.add(planned({ id: 'asry:1', kind: 'asry' }));
    await w.executor.drive('asry:1');
    expect(row(w, 'asry:1')).toMatchObject({ state: 'done', outcome: { mint: 'm' }, signing: null });
  });
});

describe('rows that this version does not support', () => {
  it.each([
    ['a kind that this version does not have', planned({ id: 'swap:x', kind: 'absr' as Kind }), null],
    ['an unknown state', planned({ id: 'swap:x', state: 'melting' as State }), null],
    ['an intent that is held', planned({ id: 'swap:x', reason: 'held_review' }), 'held_review'],
    ['a closed row that is due by mistake', closed({ id: 'swap:x', dueAt: NOW }), 'quote_signature'],
  ])('%s is left unchanged, checked rarely, and reported to the operator', async (_name, op, reason) => {
    const w = setUp();
    const before = w.add(op);
    await w.executor.driveDue(5);
    expect(row(w, 'swap:x')).toMatchObject({
      state: before.state,
      reserved: before.reserved,
      reason: reason ?? 'held_unknown_state',
      dueAt: NOW + 3_600_000,
    });
    expect(w.logged).toContain('operation_held');
    expect(w.order).toEqual([]);
  });
});
