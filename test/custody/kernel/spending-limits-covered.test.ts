import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { openJournal } from '../../../src/custody/kernel/journal.ts';
import {
  type Operation,
  type OperationKind,
  type Prepared,
  plannedOperation,
  settlesByLanding,
} from '../../../src/custody/kernel/operation.ts';
import { type Cap, coveredKind } from '../../../src/custody/kernel/spending-limits.ts';
import { SIGNED_AT, signingOf } from '../../kit/sample-operations.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const NOW = 1_800_000_000_000;
const COST = lamports(1_000n);
const KEPT = 100n;

function setUp(balance: bigint, mostPerDay = 10n, ...moreCaps: Cap[]) {
  const journal = openJournal(createSqliteStorage());
  const state = {
    /** Awaited by every balance. */
    reading: async () => {},
    /** Awaited by every preparation that passed the check, which then ends with the given result. */
    preparing: async () => 'prepared',
    now: NOW,
  };
  const bare: OperationKind = {
    rules: { maxAttempts: 1, retriesPreparation: true, settles: false },
    prepare: async () => {
      const end = await state.preparing();
      return end === 'ready' ? READY : { ok: false, reason: end };
    },
    settle: settlesByLanding,
  };
  const kind = coveredKind(bare, {
    journal,
    budget: {
      kind: 'token',
      keeps: () => KEPT,
      caps: [
        {
          name: 'creations_day',
          unit: 'count',
          windowMs: 86_400_000,
          maximum: mostPerDay,
          countsWaiting: true,
          of: ({ state }) => (state === 'failed' ? 0n : 1n),
          adds: () => 1n,
        },
        ...moreCaps,
      ],
    },
    readBalance: async () => {
      await state.reading();
      return { lamports: lamports(balance), slot: 1n };
    },
    now: () => state.now,
  });
  const plan = (id: string, change: Partial<Operation> = {}): Operation =>
    journal.insert({
      ...plannedOperation({ id, kind: 'token', amount: lamports(0n), reserved: COST, plan: {}, now: NOW }),
      ...change,
    });
  const prepare = (operation: Operation) =>
    kind.prepare(operation).then(
      (prepared) => (prepared.ok ? 'ready' : 'found' in prepared ? 'other' : prepared.reason),
      (error: { details: { reason: string } }) => error.details.reason,
    );
  return { plan, prepare, journal, state };
}

const READY: Prepared = {
  ok: true,
  message: new Uint8Array(),
  signedAt: SIGNED_AT,
  plan: {},
  cost: 0n,
  claims: [],
};

describe('a kind that reserves when it is sold', () => {
  it.each([
    ['to the lamport', 1_100n, 'prepared'],
    ['except one lamport', 1_099n, 'short_of_sol'],
  ])('is prepared when the balance covers cost and floor %s', async (_name, balance, outcome) => {
    const { plan, prepare } = setUp(balance);
    expect(await prepare(plan('token:1'))).toBe(outcome);
  });

  it('waits for signed operations, and not for planned ones', async () => {
    const { plan, prepare } = setUp(1_100n);
    plan('token:1');
    const second = plan('token:2');
    expect(await prepare(second)).toBe('prepared');
    plan('token:3', { state: 'signed' });
    expect(await prepare(second)).toBe('short_of_sol');
  });

  it('is prepared once when the balance covers one of five that are driven at the same time', async () => {
    const { plan, prepare, state } = setUp(1_100n);
    state.preparing = async () => 'ready';
    const all = await Promise.all([1, 2, 3, 4, 5].map((n) => prepare(plan(`token:${n}`))));
    expect(all).toEqual(['ready', ...Array(4).fill('short_of_sol')]);
  });

  it('waits for another operation that passed the check until it is signed, refused, or older than a minute', async () => {
    const { plan, prepare, state, journal } = setUp(2_100n);
    const [first, second, third] = ['token:1', 'token:2', 'token:3'].map((id) => plan(id));
    if (!first || !second || !third) throw new Error('not planned');
    state.preparing = async () => 'ready';
    expect([await prepare(first), await prepare(second)]).toEqual(['ready', 'ready']);
    expect(await prepare(third)).toBe('short_of_sol');
    // A signed operation counts once, as signed.
    journal.update(first, { ...first, state: 'signed', signing: signingOf('first') }, NOW);
    expect(await prepare(second)).toBe('ready');
    state.preparing = async () => 'refused';
    expect(await prepare(second)).toBe('refused');
    state.preparing = async () => 'ready';
    expect(await prepare(third)).toBe('ready');
    expect(await prepare(second)).toBe('short_of_sol');
    state.now += 60_000;
    expect(await prepare(second)).toBe('short_of_sol');
    state.now += 1;
    expect(await prepare(second)).toBe('ready');
  });

  it('takes the share of an operation whose preparation ended with an error', async () => {
    const { plan, prepare, state } = setUp(1_100n);
    const [first, second] = [plan('token:1'), plan('token:2')];
    state.preparing = () => Promise.reject({ details: { reason: 'node_down' } });
    expect(await prepare(first)).toBe('node_down');
    state.preparing = async () => 'ready';
    expect(await prepare(second)).toBe('ready');
  });

  it('takes the share of an operation that passed the check for an earlier attempt', async () => {
    const { plan, prepare, state, journal } = setUp(1_100n);
    const [first, second] = [plan('token:1'), plan('token:2')];
    state.preparing = async () => 'ready';
    expect([await prepare(first), await prepare(second)]).toEqual(['ready', 'short_of_sol']);
    journal.update(first, { ...first, attempt: first.attempt + 1 }, NOW);
    expect(await prepare(second)).toBe('ready');
  });

  it.each(['planned', 'signed'] as const)(
    'does not take what a %s refund has reserved',
    async (refundState) => {
      const { plan, prepare } = setUp(1_100n);
      plan('refund:1', { kind: 'refund', reserved: lamports(1n), state: refundState });
      expect(await prepare(plan('token:1'))).toBe('short_of_sol');
    },
  );

  it('rejects a balance from before an outcome that was released during the read', async () => {
    const { plan, prepare, state, journal } = setUp(1_100n);
    const paying = plan('refund:1', { kind: 'refund', state: 'signed', dueAt: null });
    state.reading = async () => {
      const landed = { reserved: lamports(0n), releasedSlot: 5n, state: 'done' } as const;
      journal.update(paying, { ...paying, ...landed }, NOW);
    };
    expect(await prepare(plan('token:1'))).toBe('balance_outdated');
  });

  it('accepts a balance from the slot of the last released outcome', async () => {
    const { plan, prepare, journal } = setUp(1_100n);
    const paying = plan('refund:1', { kind: 'refund', state: 'signed', dueAt: null });
    const landed = { reserved: lamports(0n), releasedSlot: 1n, state: 'done' } as const;
    journal.update(paying, { ...paying, ...landed }, NOW);
    expect(await prepare(plan('token:1'))).toBe('prepared');
  });

  it('adds nothing to a cap of costs before its cost is known', async () => {
    const ofCost: Pick<Cap, 'of' | 'adds'> = { of: ({ cost }) => cost, adds: ({ cost }) => cost };
    const used = { unit: 'lamports', windowMs: 86_400_000, maximum: 0n, ...ofCost } as const;
    const { plan, prepare } = setUp(1_100n, 10n, { name: 'cost_day', ...used });
    expect(await prepare(plan('token:1'))).toBe('prepared');
  });

  it('counts a signed operation once against the cap of a day', async () => {
    const { plan, prepare } = setUp(1_000_000n, 2n);
    plan('token:1', { state: 'signed' });
    expect(await prepare(plan('token:2'))).toBe('prepared');
  });

  it('keeps the cap of a day, the oldest operations first, and does not count failed ones', async () => {
    const { plan, prepare } = setUp(1_000_000n, 2n);
    const failed = plan('token:0', { state: 'failed', dueAt: null, reserved: lamports(0n) });
    const planned = ['token:1', 'token:2', 'token:3'].map((id) => plan(id));
    expect(failed.seq).toBe(1);
    expect(await Promise.all(planned.map(prepare))).toEqual(['prepared', 'prepared', 'creations_day']);
  });

  it('leaves the cap of a day to operations that were planned earlier, also before their preparation', async () => {
    const { plan, prepare } = setUp(1_000_000n, 2n);
    const [, second, third] = ['token:1', 'token:2', 'token:3'].map((id) => plan(id));
    if (!second || !third) throw new Error('not planned');
    expect(await prepare(third)).toBe('creations_day');
    expect(await prepare(second)).toBe('prepared');
  });

  it('keeps the cap of each day while more wait than a day may hold', async () => {
    const { plan, prepare, journal, state } = setUp(1_000_000n, 2n);
    const waiting = [1, 2, 3, 4, 5].map((number) => plan(`token:${number}`));
    const signedPerDay: string[][] = [];
    for (let day = 0; day < 3; day++) {
      signedPerDay.push([]);
      for (const { id } of waiting) {
        const op = journal.get(id);
        if (op?.state !== 'planned' || (await prepare(op)) !== 'prepared') continue;
        const ended = { state: 'done', signedAt: state.now, reserved: lamports(0n), dueAt: null } as const;
        journal.update(op, { ...op, ...ended }, state.now);
        signedPerDay[day]?.push(id);
      }
      state.now += 86_400_000;
    }
    expect(signedPerDay).toEqual([['token:1', 'token:2'], ['token:3', 'token:4'], ['token:5']]);
  });

  it('counts a creation from its signing, not from its plan', async () => {
    const { plan, prepare, journal, state } = setUp(1_000_000n, 1n);
    const first = plan('token:1', { createdAt: NOW - 80_000_000 });
    journal.update(first, { ...first, state: 'done', signedAt: NOW, dueAt: null }, NOW);
    const second = plan('token:2');
    state.now = NOW + 10_000_000;
    expect(await prepare(second)).toBe('creations_day');
    state.now = NOW + 86_400_000;
    expect(await prepare(second)).toBe('prepared');
  });
});
