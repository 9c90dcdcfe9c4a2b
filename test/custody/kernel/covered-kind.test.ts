import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { openJournal } from '../../../src/custody/kernel/journal.ts';
import { type OperationKind, settlesByLanding } from '../../../src/custody/kernel/module.ts';
import { type Operation, plannedOperation } from '../../../src/custody/kernel/operation.ts';
import { coveredKind } from '../../../src/custody/kernel/spending-limits.ts';
import { createSqliteStorage } from '../sqlite-storage.ts';

const NOW = 1_800_000_000_000;
const COST = lamports(1_000n);
const KEPT = 100n;

function setUp(balance: bigint, mostPerDay = 10n) {
  const journal = openJournal(createSqliteStorage());
  const bare: OperationKind = {
    rules: { maxAttempts: 1, retriesPreparation: true, settles: false },
    prepare: async () => ({ ok: false, reason: 'prepared' }),
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
          of: ({ state }) => (state === 'failed' ? 0n : 1n),
          adds: () => 1n,
        },
      ],
    },
    readBalance: async () => ({ lamports: lamports(balance), slot: 1n }),
    now: () => NOW,
  });
  const plan = (id: string, change: Partial<Operation> = {}): Operation =>
    journal.insert({
      ...plannedOperation({ id, kind: 'token', amount: lamports(0n), reserved: COST, plan: {}, now: NOW }),
      ...change,
    });
  const prepare = (operation: Operation) =>
    kind.prepare(operation).then(
      (prepared) => (prepared.ok || 'found' in prepared ? 'other' : prepared.reason),
      (error: { details: { reason: string } }) => error.details.reason,
    );
  return { plan, prepare };
}

describe('a kind that reserves when it is sold', () => {
  it.each([
    ['to the lamport', 1_100n, 'prepared'],
    ['except one lamport', 1_099n, 'short_of_sol'],
  ])('is prepared when the balance covers cost and floor %s', async (_name, balance, outcome) => {
    const { plan, prepare } = setUp(balance);
    expect(await prepare(plan('token:1'))).toBe(outcome);
  });

  it('waits for what is signed, and not for what is only planned', async () => {
    const { plan, prepare } = setUp(1_100n);
    plan('token:1');
    const second = plan('token:2');
    expect(await prepare(second)).toBe('prepared');
    plan('token:3', { state: 'signed' });
    expect(await prepare(second)).toBe('short_of_sol');
  });

  it('keeps the cap of a day, the oldest operations first, and does not count failed ones', async () => {
    const { plan, prepare } = setUp(1_000_000n, 2n);
    const failed = plan('token:0', { state: 'failed', dueAt: null, reserved: lamports(0n) });
    const planned = ['token:1', 'token:2', 'token:3'].map((id) => plan(id));
    expect(failed.seq).toBe(1);
    expect(await Promise.all(planned.map(prepare))).toEqual(['prepared', 'prepared', 'creations_day']);
  });
});
