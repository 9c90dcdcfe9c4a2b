import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { frozenReason } from '../../../src/custody/kernel/journal-integrity.ts';
import type { Settled } from '../../../src/custody/kernel/operation.ts';
import { code } from '../../../src/custody/kernel/reason.ts';
import { land } from '../../kit/fake-chain.ts';
import { createKernel, pending } from '../../kit/kernel.ts';
import {
  deathProof,
  FEE,
  NOW,
  outstanding,
  SOL,
  settling,
  signed,
  statusOf,
  view,
} from '../../kit/sample-operations.ts';

/** A signed row whose bytes were sent before. */
function watching() {
  const w = createKernel();
  w.add(signed({ looks: 1 }));
  return w;
}

describe('a signed row after a crash', () => {
  it('sends the stored bytes and never signs new ones', async () => {
    const w = createKernel();
    w.add(signed({ looks: 0, detail: 'signed' }));
    await w.executor.driveDue(5);
    expect(w.chain.sent).toEqual(['wire-one']);
    expect(w.order).not.toContain('sign');
  });

  it('sends the stored bytes while signing is stopped', async () => {
    const w = createKernel();
    w.state.stopped = 'operator';
    w.add(signed({ looks: 0, detail: 'signed' }));
    await w.executor.driveDue(5);
    expect(w.chain.sent).toEqual(['wire-one']);
  });

  it('checks the chain even when no node confirmed the send', async () => {
    const w = createKernel();
    w.chain.accepts = false;
    land(w.chain);
    w.add(signed({ looks: 0, detail: 'signed' }));
    await w.executor.driveDue(5);
    expect(w.row()).toMatchObject({ state: 'signed', detail: 'signed' });
    w.clock.now += 2_000;
    await w.executor.driveDue(5);
    expect(w.row()).toMatchObject({ state: 'settling', landing: { slot: 940n } });
  });
});

describe('watching', () => {
  it('alerts the operator when too few nodes keep the history since the signing, and signs nothing', async () => {
    const w = watching();
    w.chain.nextViews = () => [deathProof({ firstAvailableSlot: 901n })];
    for (let look = 0; look < 3; look++) {
      await w.executor.driveDue(5);
      w.clock.now += 2_000;
    }
    expect(w.row()).toMatchObject({ state: 'signed', reserved: SOL + FEE });
    expect(w.logged.filter((event) => event === 'history_too_short')).toHaveLength(1);
  });

  it('sends the same bytes again while no node has seen them', async () => {
    const w = watching();
    for (let look = 0; look < 3; look++) {
      await w.executor.driveDue(5);
      w.clock.now += 2_000;
    }
    expect(w.chain.sent).toEqual(['wire-one', 'wire-one', 'wire-one']);
    expect(w.row()).toMatchObject({ state: 'signed', detail: 'sent', reserved: SOL + FEE });
  });

  it('sends nothing once a node has seen them', async () => {
    const w = watching();
    w.chain.nextViews = () => [view({ status: statusOf('processed') })];
    await w.executor.driveDue(5);
    expect(w.chain.sent).toEqual([]);
    expect(w.row()).toMatchObject({ state: 'signed', detail: 'landed' });
  });

  it('resends when no node shows anything: a node that cannot report may still forward', async () => {
    const w = watching();
    w.chain.nextViews = () => [];
    await w.executor.driveDue(5);
    expect(w.chain.sent).toEqual(['wire-one']);
    expect(w.row()).toMatchObject({ state: 'signed', looks: 2 });
  });

  it('a provably expired attempt is not sent again', async () => {
    const w = watching();
    w.chain.nextViews = () => [deathProof()];
    await w.executor.driveDue(5);
    expect(w.chain.sent).toEqual([]);
    expect(w.row()).toMatchObject({ state: 'failed', reason: code('expired') });
  });

  it('a final landing whose transaction no node gives yet stays signed', async () => {
    const w = watching();
    land(w.chain);
    w.chain.nextLanding = () => {
      throw upstreamFailed('solana-rpc-1', 'timeout');
    };
    await w.executor.driveDue(5);
    expect(w.row()).toMatchObject({ state: 'signed', detail: 'landed', reserved: SOL + FEE });
    w.chain.nextLanding = () => null;
    w.clock.now += 2_000;
    await w.executor.driveDue(5);
    expect(w.row()).toMatchObject({ state: 'signed', detail: 'landed', reserved: SOL + FEE });
    expect(w.chain.sent).toEqual([]);
  });

  it('a landing starts the settlement at once', async () => {
    const w = watching();
    land(w.chain);
    await w.executor.driveDue(5);
    expect(w.row()).toMatchObject({ state: 'settling', reserved: 0n, releasedSlot: 940n, looks: 1 });
  });

  it.each([
    ['one lamport more than was set aside', FEE + 1n, 'unexpected_debit'],
    ['exactly what was set aside', FEE, undefined],
  ])('a landing that took %s', async (_name, fee, frozen) => {
    const w = watching();
    land(w.chain, { debit: lamports(SOL + fee) });
    await w.executor.driveDue(5);
    expect(frozenReason(w.journal)).toBe(frozen);
    // The landing is booked even while signing is frozen.
    expect(w.row().state).toBe('settling');
  });
});

describe('settling', () => {
  const settleWith = (settled: () => Promise<Settled>) => {
    const w = createKernel({ settle: settled });
    w.add(settling({ looks: 0 }));
    return w;
  };
  const paid: Settled = {
    settlement: { state: 'complete', outcome: { btcTxid: 't', btcVout: 0, btcSats: '124500' } },
    claims: ['output:t:0'],
  };

  it('consumes the output in the same transaction as the row', async () => {
    const w = settleWith(async () => paid);
    await w.executor.driveDue(5);
    expect(w.row()).toMatchObject({ state: 'done', unsettled: 0n, outcome: { btcSats: '124500' } });
    expect(w.journal.consumerOf('output:t:0')).toBe('swap:one');
  });

  it('a swap waits when another swap has consumed its output', async () => {
    const w = settleWith(async () => {
      w.journal.consumeOnce('output:t:0', 'swap:other', NOW);
      return paid;
    });
    await w.executor.driveDue(5);
    expect(w.row()).toMatchObject({ state: 'settling', outcome: {}, unsettled: SOL });
    expect(w.journal.consumerOf('output:t:0')).toBe('swap:other');
  });

  it('one of two swaps that one output pays at the same time is done', async () => {
    const w = settleWith(async () => paid);
    w.add(settling({ id: 'swap:two', signing: null }));
    await w.executor.driveDue(5);
    const states = ['swap:one', 'swap:two'].map((id) => w.row(id).state);
    expect(states.toSorted()).toEqual(['done', 'settling']);
  });

  it('a settlement waits while an upstream fails', async () => {
    const w = settleWith(() => Promise.reject(upstreamFailed('near-intents', 'timeout')));
    await w.executor.driveDue(5);
    expect(w.row()).toMatchObject({ state: 'settling', looks: 1, unsettled: SOL });
    expect(w.logged).toContain('settle_failed');
  });

  it('a failed swap with money outstanding is checked once an hour and may still be paid', async () => {
    let settled: Settled = pending;
    const w = createKernel({ settle: async () => settled });
    w.add(outstanding({ dueAt: NOW }));
    await w.executor.driveDue(5);
    expect(w.row()).toMatchObject({ state: 'failed', dueAt: NOW + 3_600_000, unsettled: SOL });
    settled = paid;
    w.clock.now += 3_600_000;
    await w.executor.driveDue(5);
    expect(w.row()).toMatchObject({ state: 'failed', detail: 'late', unsettled: 0n, dueAt: null });
    expect(w.journal.consumerOf('output:t:0')).toBe('swap:one');
  });
});

describe('due operations', () => {
  it('due operations are run a limited number at a time, the longest overdue first, and none before its time', async () => {
    const asked: string[] = [];
    const w = createKernel({
      async settle({ id }) {
        asked.push(id);
        return pending;
      },
    });
    for (let at = 1; at <= 4; at++) w.add(settling({ id: `swap:${at}`, signing: null, dueAt: NOW - at }));
    w.add(settling({ id: 'swap:later', signing: null, dueAt: NOW + 1 }));
    await w.executor.driveDue(3);
    expect(asked).toEqual(['swap:4', 'swap:3', 'swap:2']);
  });

  it('ignores a row that does not exist', async () => {
    const w = createKernel();
    await w.executor.drive('swap:nobody');
    expect(w.order).toEqual([]);
  });

  it('a row that throws waits, is logged, and does not block the others', async () => {
    const broken: Settled = {
      ...pending,
      get claims(): string[] {
        throw new TypeError('a defect');
      },
    };
    const w = createKernel({ settle: async (op) => (op.id === 'swap:bad' ? broken : pending) });
    w.add(settling({ id: 'swap:bad', signing: null, dueAt: NOW - 1 }));
    w.add(settling({ id: 'swap:good', looks: 0 }));
    await w.executor.driveDue(5);
    expect(w.logged).toContain('work_failed');
    expect(w.journal.due(w.clock.now, 5)).toEqual([]);
    expect(w.row('swap:good')).toMatchObject({ looks: 1 });
  });
});
