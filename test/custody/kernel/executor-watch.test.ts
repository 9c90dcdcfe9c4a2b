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
  it.each([undefined, 'operator'])(
    'after a crash, a signed row sends its stored bytes and never signs new ones, also while signing is stopped: %s',
    async (stopped) => {
      const w = createKernel();
      w.state.stopped = stopped;
      w.add(signed({ looks: 0, detail: 'signed' }));
      await w.executor.driveDue(5);
      expect(w.chain.sent).toEqual(['wire-one']);
      expect(w.order).not.toContain('sign');
    },
  );

  it('after a crash, a signed row is checked on the chain even when no node confirmed the send', async () => {
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

it('a call that waits for the end of an operation returns at once while the journal is not verified', async () => {
  const w = watching();
  w.state.isVerified = false;
  await w.executor.finish(w.row().id, 25_000);
  expect(w.row()).toMatchObject({ state: 'signed', looks: 1 });
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

  it('sends the same signed bytes again while no node has seen them', async () => {
    const w = watching();
    for (let look = 0; look < 3; look++) {
      await w.executor.driveDue(5);
      w.clock.now += 2_000;
    }
    expect(w.chain.sent).toEqual(['wire-one', 'wire-one', 'wire-one']);
    expect(w.row()).toMatchObject({ state: 'signed', detail: 'sent', reserved: SOL + FEE });
  });

  it('stops sending a signed transaction once a node has seen it', async () => {
    const w = watching();
    w.chain.nextViews = () => [view({ status: statusOf('processed') })];
    await w.executor.driveDue(5);
    expect(w.chain.sent).toEqual([]);
    expect(w.row()).toMatchObject({ state: 'signed', detail: 'landed' });
  });

  it('resends a transaction when no node can report its status, because a node may still forward it', async () => {
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

  it('an operation stays signed while its final transaction is not yet returned by any node', async () => {
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

  it('settlement starts at once when the transaction has landed', async () => {
    const w = watching();
    land(w.chain);
    await w.executor.driveDue(5);
    expect(w.row()).toMatchObject({ state: 'settling', reserved: 0n, releasedSlot: 940n, looks: 1 });
  });

  it.each([
    ['one lamport more than was set aside', FEE + 1n, 'unexpected_debit'],
    ['exactly what was set aside', FEE, undefined],
  ])(
    'signing stops only if a landed transaction took more than was set aside: %s',
    async (_name, fee, frozen) => {
      const w = watching();
      land(w.chain, { debit: lamports(SOL + fee) });
      await w.executor.driveDue(5);
      expect(frozenReason(w.journal)).toBe(frozen);
      // The landing is booked even while signing is frozen.
      expect(w.row().state).toBe('settling');
    },
  );
});

describe('settling', () => {
  const settleWith = (settled: () => Promise<Settled>) => {
    const w = createKernel({ settle: settled });
    w.add(settling({ looks: 0 }));
    return w;
  };
  const paid: Settled = {
    settlement: { state: 'complete', outcome: { btcTxid: 't', btcVout: 0, btcSats: '124500' } },
    once: ['output:t:0'],
  };

  it('settling consumes the Bitcoin output and updates the row in one storage transaction', async () => {
    const w = settleWith(async () => paid);
    await w.executor.driveDue(5);
    expect(w.row()).toMatchObject({ state: 'done', unsettled: 0n, outcome: { btcSats: '124500' } });
    expect(w.journal.usedBy('output:t:0')).toBe('swap:one');
  });

  it('if one Bitcoin output could pay two swaps at the same time, only one of them is done', async () => {
    const w = settleWith(async () => paid);
    w.add(settling({ id: 'swap:two', signing: null }));
    await w.executor.driveDue(5);
    const rows = ['swap:one', 'swap:two'].map((id) => w.row(id));
    expect(rows.map(({ state }) => state)).toEqual(['done', 'settling']);
    expect(rows[1]).toMatchObject({ outcome: {}, unsettled: SOL });
    expect(w.journal.usedBy('output:t:0')).toBe('swap:one');
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
    expect(w.journal.usedBy('output:t:0')).toBe('swap:one');
  });
});

describe('due operations', () => {
  it('runs a limited number of due operations at a time, the longest overdue first, none before its time', async () => {
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

  it('ignores the id of an operation that does not exist', async () => {
    const w = createKernel();
    await w.executor.drive('swap:nobody');
    expect(w.order).toEqual([]);
  });

  it('an operation that throws is logged, is retried later, and does not block the others', async () => {
    const broken: Settled = {
      ...pending,
      get once(): string[] {
        throw new TypeError('a defect');
      },
    };
    const w = createKernel({ settle: async (op) => (op.id === 'swap:bad' ? broken : pending) });
    w.add(settling({ id: 'swap:bad', signing: null, dueAt: NOW - 1 }));
    w.add(settling({ id: 'swap:good', looks: 0 }));
    await w.executor.driveDue(5);
    expect(w.logged).toContain('work_failed');
    expect(w.tools.agenda.due('operation', 5)).toEqual([]);
    expect(w.row('swap:good')).toMatchObject({ looks: 1 });
  });
});
