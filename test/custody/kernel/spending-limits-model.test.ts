/** Spending limits under any order of intents and outcomes, compared with independently computed sums. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/durations.ts';
import type { Operation } from '../../../src/custody/kernel/operation.ts';
import { code } from '../../../src/custody/kernel/reason.ts';
import type { SpendingVerdict } from '../../../src/custody/kernel/spending-limits.ts';
import type { Observation } from '../../../src/custody/kernel/state-machine.ts';
import { step } from '../../../src/custody/kernel/state-machine.ts';
import type { CustodyLimits } from '../../../src/custody/limits.ts';
import { LIMITS as KIT_LIMITS } from '../../kit/limits.ts';
import {
  deathProof,
  FEE,
  NOW,
  planned,
  SIGNED_AT,
  SWAP,
  statusOf,
  view,
} from '../../kit/sample-operations.ts';
import { checkIntent, maySign } from '../spending.ts';

const LIMITS: CustodyLimits = {
  ...KIT_LIMITS,
  operation: 40n,
  hour: 80n,
  day: 120n,
  unsettled: 110n,
  cost_day: 20n,
  floor: lamports(1_000n),
};

type Step =
  | { readonly do: 'ask'; readonly amount: bigint }
  | { readonly do: 'sign'; readonly pick: number; readonly cost: bigint }
  | {
      readonly do: 'land' | 'reject' | 'expire' | 'pay' | 'refund' | 'bridgeFails' | 'refuse';
      readonly pick: number;
    }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'topUp'; readonly amount: bigint };

const pick = fc.nat({ max: 30 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('ask' as const), amount: fc.bigInt({ min: 1n, max: 45n }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('sign' as const), pick, cost: fc.bigInt({ min: 0n, max: 6n }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('land', 'reject', 'expire', 'pay', 'refund', 'bridgeFails', 'refuse'),
      pick,
    }) as fc.Arbitrary<Step>,
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: 3 * HOUR_MS }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('topUp' as const), amount: fc.bigInt({ min: 1n, max: 20_000n }) }),
  },
);

/** An independent record of the amounts that left, and when they were reserved. */
function run(
  steps: readonly Step[],
  judge: (world: World, verdict: SpendingVerdict, amount: bigint) => void,
): World {
  const world: World = { now: NOW, slot: 1_000n, balance: 60_000n, rows: [] };
  for (const given of steps) take(world, given, judge);
  return world;
}
type World = { now: number; slot: bigint; balance: bigint; rows: Operation[] };

function take(
  w: World,
  given: Step,
  judge: (world: World, verdict: SpendingVerdict, amount: bigint) => void,
): void {
  if (given.do === 'wait') {
    w.now += given.ms;
    return;
  }
  if (given.do === 'topUp') {
    w.balance += given.amount;
    return;
  }
  if (given.do === 'ask') {
    const amount = lamports(given.amount);
    const reserved = lamports(given.amount + FEE);
    const balance = { lamports: lamports(w.balance), slot: w.slot };
    const verdict = checkIntent({
      kind: 'swap',
      amount,
      reserved,
      balance,
      operations: w.rows,
      limits: LIMITS,
      now: w.now,
    });
    judge(w, verdict, given.amount);
    if (verdict.ok) w.rows.push(planned({ id: `swap:${w.rows.length}`, amount, reserved, createdAt: w.now }));
    return;
  }
  const index = given.pick % Math.max(w.rows.length, 1);
  const row = w.rows[index];
  if (!row) return;
  const next = step(row, observationOf(w, row, given), SWAP, w.now);
  if (given.do === 'sign' && next !== row) {
    if (!maySign(w.rows, { amount: row.amount, cost: given.cost }, LIMITS, w.now)) return;
  }
  // The landing debits the money, and a refund credits it.
  if (row.state === 'signed' && next.state === 'settling') w.balance -= row.amount + FEE;
  if (row.state === 'signed' && next.detail === 'rejected') w.balance -= FEE;
  if (next !== row && given.do === 'refund') w.balance += row.amount;
  w.rows[index] = next;
}

function observationOf(
  w: World,
  row: Operation,
  given: Exclude<Step, { do: 'wait' | 'ask' | 'topUp' }>,
): Observation {
  const settle = (settlement: Extract<Observation, { type: 'settlement' }>['settlement']): Observation => ({
    type: 'settlement',
    settlement,
  });
  const arrived = { state: 'incomplete', arrived: true, outcome: {} } as const;
  switch (given.do) {
    case 'sign':
      return {
        type: 'signed',
        signing: { signature: row.id, wire: '', ...SIGNED_AT },
        plan: {},
        cost: given.cost,
      };
    case 'refuse':
      return { type: 'refused', reason: code('quote_amount') };
    case 'land': {
      w.slot += 1n;
      const landing = {
        slot: w.slot,
        blockTime: null,
        fee: lamports(FEE),
        debit: lamports(row.amount + FEE),
      };
      return { type: 'viewed', quorum: 1, views: [view({ status: statusOf('finalized') })], landing };
    }
    case 'reject':
      return {
        type: 'viewed',
        quorum: 1,
        views: [view({ status: statusOf('finalized', true) })],
        landing: null,
      };
    case 'expire':
      return { type: 'viewed', quorum: 1, views: [deathProof()], landing: null };
    case 'pay':
      return settle({ state: 'complete', outcome: {} });
    case 'refund':
      return settle({ ...arrived, reason: 'refunded' });
    case 'bridgeFails':
      return settle({ state: 'incomplete', reason: 'bridge_failed', arrived: false, outcome: {} });
  }
}

const steps = fc.array(anyStep, { maxLength: 120, size: 'max' });
const total = (values: readonly bigint[]): bigint => values.reduce((sum, value) => sum + value, 0n);
/** The amount moved in the window that ends at `until`, from the current rows. */
const moved = (w: World, windowMs: number, until = w.now): bigint =>
  total(w.rows.filter((row) => (row.signedAt ?? row.createdAt) > until - windowMs).map((row) => row.amount));
/** Signed in the window that ends now. */
const signedWithin = (w: World, windowMs: number): Operation[] =>
  w.rows.filter((row) => row.signedAt !== null && row.signedAt > w.now - windowMs);
const exposed = (w: World): bigint =>
  total(w.rows.filter((row) => row.state === 'planned' || row.unsettled > 0n).map((row) => row.amount));
const promised = (w: World): bigint =>
  total(
    w.rows.filter((row) => row.state === 'planned' || row.state === 'signed').map((row) => row.amount + FEE),
  );

describe('under any order of intents and outcomes', () => {
  it('under any order of intents and outcomes no limit is ever exceeded, and reservations never use the floor', () => {
    fc.assert(
      fc.property(steps, (given) => {
        run(given, (w, verdict, amount) => {
          if (!verdict.ok) return;
          expect(amount).toBeLessThanOrEqual(LIMITS.operation);
          expect(moved(w, HOUR_MS) + amount).toBeLessThanOrEqual(LIMITS.hour);
          expect(moved(w, DAY_MS) + amount).toBeLessThanOrEqual(LIMITS.day);
          expect(exposed(w) + amount).toBeLessThanOrEqual(LIMITS.unsettled);
          expect(w.balance - promised(w) - amount - FEE).toBeGreaterThanOrEqual(LIMITS.floor);
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it('every reservation can be paid: the balance never falls below the floor', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const w = run(given, () => {});
        expect(w.balance - promised(w)).toBeGreaterThanOrEqual(LIMITS.floor);
      }),
      { numRuns: 1_000 },
    );
  });

  it('a refusal always names a limit that would be exceeded', () => {
    fc.assert(
      fc.property(steps, (given) => {
        run(given, (w, verdict, amount) => {
          if (verdict.ok) return;
          if (verdict.code === 'INSUFFICIENT_BALANCE')
            expect(w.balance - promised(w) - amount - FEE).toBeLessThan(LIMITS.floor);
          if (verdict.code !== 'LIMIT_REACHED') return;
          const { name, maximum } = verdict.limit;
          const used: Readonly<Record<string, bigint>> = {
            operation: 0n,
            hour: moved(w, HOUR_MS),
            day: moved(w, DAY_MS),
            unsettled: exposed(w),
          };
          if (name === 'cost_day') return expect(verdict.used).toBeGreaterThan(maximum);
          expect(verdict.used).toBe(used[name]);
          expect(verdict.used + amount).toBeGreaterThan(maximum);
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it('a full window names the time at which it has room, and has none two milliseconds before', () => {
    fc.assert(
      fc.property(steps, (given) => {
        run(given, (w, verdict, amount) => {
          if (verdict.ok || verdict.code !== 'LIMIT_REACHED') return;
          const { counts, windowMs, maximum } = verdict.limit;
          if (counts !== 'amount' || !windowMs) return;
          const used = (now: number) => moved(w, windowMs, now) + amount;
          expect(used(verdict.availableAt)).toBeLessThanOrEqual(maximum);
          expect(used(verdict.availableAt - 2)).toBeGreaterThan(maximum);
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it('the cost of a day stays within its limit', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const w = run(given, () => {});
        expect(total(signedWithin(w, DAY_MS).map(({ cost }) => cost))).toBeLessThanOrEqual(LIMITS.cost_day);
      }),
      { numRuns: 1_000 },
    );
  });

  it('under any order of intents and outcomes no window holds more signed amounts than its limit, however long an intent waited', () => {
    fc.assert(
      fc.property(steps, (given) => {
        for (let length = 1; length <= given.length; length++) {
          if (given[length - 1]?.do !== 'sign') continue;
          const w = run(given.slice(0, length), () => {});
          const signed = (windowMs: number) => total(signedWithin(w, windowMs).map(({ amount }) => amount));
          expect(signed(HOUR_MS)).toBeLessThanOrEqual(LIMITS.hour);
          expect(signed(DAY_MS)).toBeLessThanOrEqual(LIMITS.day);
        }
      }),
      { numRuns: 100 },
    );
  });
});
