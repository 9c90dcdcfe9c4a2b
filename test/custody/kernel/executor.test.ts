import { describe, expect, it } from 'vitest';
import { createKernel, ready } from '../../kit/kernel.ts';
import { NOW, planned, SIGNED_AT, SOL } from '../../kit/sample-operations.ts';

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
    expect(w.journal.userOf('deposit:a')).toBe('swap:one');
    expect(w.journal.bySignature('signature 1')?.id).toBe('swap:one');
  });

  it('an instance that is replaced during the preparation neither stores nor sends a transaction', async () => {
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

  it('sends signed bytes only once they are durable', async () => {
    const w = createKernel();
    w.storage.sync = () => Promise.reject(new Error('disk full'));
    w.add(planned());
    await w.executor.drive('swap:one');
    expect([w.chain.sent, w.logged]).toEqual([[], ['work_failed']]);
  });

  it('an outcome that cannot be recorded leaves the operation unchanged, and a later run records it once', async () => {
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
});
