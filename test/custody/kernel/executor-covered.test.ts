/** Creations begin regardless of the balance, because their cost was set aside at the sale. The signature checks both. */
import { expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { DAY_MS } from '../../../src/core/durations.ts';
import { code, parseReason, upstream } from '../../../src/custody/kernel/reason.ts';
import { land } from '../../kit/fake-chain.ts';
import { createKernel, type KernelRig, ready } from '../../kit/kernel.ts';
import { FEE, NOW, planned } from '../../kit/sample-operations.ts';

const COST = lamports(1_000n);
const FLOOR = lamports(100n);

/** Creations of one cost each; the reserve holds `balance` lamports. */
function selling(balance: bigint, creationsDay = 10n) {
  let made = 0;
  const prepared: string[] = [];
  const w = createKernel(
    {
      async prepare({ id }) {
        prepared.push(id);
        return ready({ once: [], cost: 0n });
      },
    },
    { floor: FLOOR, creations_day: creationsDay },
  );
  w.chain.nextBalance = async (slot) => ({ lamports: lamports(balance), slot });
  const queue = (count: number): string[] =>
    Array.from({ length: count }, () => {
      const id = `token:${++made}`;
      return w.add(planned({ id, kind: 'token', amount: lamports(0n), reserved: COST })).id;
    });
  return { ...w, prepared, queue };
}
const driveAll = (w: KernelRig, ids: readonly string[]) => Promise.all(ids.map((id) => w.executor.drive(id)));
const statesOf = (w: KernelRig, ids: readonly string[]) => ids.map((id) => w.row(id).state);

it.each([
  ['is signed when the balance covers its cost and the floor', 0n, 'signed', null],
  ['waits while the balance is one lamport short', 1n, 'planned', code('short_of_sol')],
] as const)('a queued creation %s', async (_name, short, state, reason) => {
  const w = selling(COST + FLOOR - short);
  const [id = ''] = w.queue(1);
  await w.executor.drive(id);
  expect(w.row(id)).toMatchObject({ state, reason, reserved: COST });
  expect(w.prepared).toHaveLength(state === 'signed' ? 1 : 0);
});

it.each([
  ['at once', true],
  ['one after another', false],
])(
  'when the balance covers one of five queued creations, only one is signed if they run %s',
  async (_name, isAtOnce) => {
    const w = selling(COST + FLOOR);
    const ids = w.queue(5);
    if (isAtOnce) await driveAll(w, ids);
    else for (const id of ids) await w.executor.drive(id);
    expect(statesOf(w, ids)).toEqual(['signed', ...Array(4).fill('planned')]);
    expect(ids.slice(1).map((id) => w.row(id).reason)).toEqual(Array(4).fill(code('short_of_sol')));
    expect(w.chain.sent).toHaveLength(1);
  },
);

it('a queued creation is signed once an earlier one is done and the balance reflects it', async () => {
  const w = selling(COST + FLOOR);
  const [first = '', second = ''] = w.queue(2);
  await driveAll(w, [first, second]);
  land(w.chain, { debit: COST, slot: 5n });
  w.clock.now += 60_000;
  await w.executor.drive(first);
  expect(w.row(first)).toMatchObject({ state: 'done', releasedSlot: 5n });
  w.chain.nextBalance = async () => ({ lamports: lamports(COST + FLOOR), slot: 5n });
  await w.executor.drive(second);
  expect(w.row(second).state).toBe('signed');
});

it.each(['planned', 'signed'] as const)(
  'a queued creation does not use the amount that a %s refund has reserved',
  async (state) => {
    const w = selling(COST + FLOOR);
    const [id = ''] = w.queue(1);
    w.add(planned({ id: 'refund:1', kind: 'refund', state, reserved: lamports(1n) }));
    await w.executor.drive(id);
    expect(w.row(id)).toMatchObject({ state: 'planned', reason: code('short_of_sol') });
  },
);

it('a queued creation waits if another operation ended after the balance was read', async () => {
  const w = selling(10n * COST);
  const paying = w.add(planned({ id: 'refund:1', kind: 'refund', state: 'signed', dueAt: null }));
  const [id = ''] = w.queue(1);
  w.chain.nextBalance = async () => {
    const landed = { state: 'done', reserved: lamports(0n), releasedSlot: 5n } as const;
    w.journal.update(paying, { ...paying, ...landed }, NOW);
    return { lamports: lamports(10n * COST), slot: 4n };
  };
  await w.executor.drive(id);
  expect(w.row(id)).toMatchObject({ state: 'planned', reason: upstream('balance_outdated') });
  expect(w.order).toEqual([]);
});

it('a queued creation is not prepared while the balance cannot be read', async () => {
  const w = selling(10n * COST);
  const [id = ''] = w.queue(1);
  w.chain.nextBalance = () => Promise.reject(new Error('down'));
  await w.executor.drive(id);
  expect(w.row(id)).toMatchObject({ state: 'planned', reason: upstream('unexpected') });
  expect(w.prepared).toEqual([]);
});

it("a queued creation above the day's limit is signed on a later day", async () => {
  const w = selling(1_000n * COST, 2n);
  const ids = w.queue(5);
  land(w.chain, { debit: COST });
  const done: number[] = [];
  for (let day = 0; day < 3; day++) {
    await driveAll(w, ids);
    expect(ids.filter((id) => w.row(id).state === 'planned').map((id) => w.row(id).reason)).toEqual(
      Array(Math.max(3 - 2 * day, 0)).fill(parseReason('limit_creations_day')),
    );
    w.clock.now += 60_000;
    await w.executor.driveDue(5);
    done.push(statesOf(w, ids).filter((state) => state === 'done').length);
    w.clock.now += DAY_MS;
  }
  expect(done).toEqual([2, 4, 5]);
});

it('a creation is counted in the daily limit from its signature on, and a failed one is not counted', async () => {
  const w = selling(1_000n * COST, 1n);
  const old = { kind: 'token', createdAt: NOW - 2 * DAY_MS, dueAt: null, reserved: lamports(0n) };
  w.add(planned({ ...old, id: 'token:failed', state: 'failed', signedAt: NOW - 1 }));
  const [id = ''] = w.queue(1);
  w.add(planned({ ...old, id: 'token:late', state: 'done', signedAt: NOW - DAY_MS + 1 }));
  await w.executor.drive(id);
  expect(w.row(id)).toMatchObject({ state: 'planned', reason: parseReason('limit_creations_day') });
  w.clock.now += 10_000;
  await w.executor.drive(id);
  expect(w.row(id).state).toBe('signed');
});

it('a payout reserves its cost when it starts, so it is signed without a read of the balance', async () => {
  const w = createKernel({ prepare: async () => ready({ once: [] }) });
  await w.begin('asry:one', { reserved: lamports(FEE) });
  w.chain.nextBalance = () => Promise.reject(new Error('down'));
  await w.executor.drive('asry:one');
  expect(w.row('asry:one').state).toBe('signed');
});
