import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../src/custody/kernel/operation.ts';
import { upstream } from '../../../src/custody/kernel/reason.ts';
import { effectOf, type Observation, step } from '../../../src/custody/kernel/state-machine.ts';
import {
  NOW,
  outstanding,
  PAYOUT,
  planned,
  SWAP,
  settling,
  signed,
  statusOf,
  view,
} from '../../kit/sample-operations.ts';

const HOUR = 3_600_000;
const next = (op: Operation, seen: Observation, now = NOW): Operation => step(op, seen, SWAP, now);
const PENDING: Observation = { type: 'settlement', settlement: { state: 'pending', detail: 'settling' } };
const UNREACHABLE: Observation = { type: 'unreachable' };
const NOT_SEEN: Observation = { type: 'viewed', quorum: 1, views: [view()], landing: null };

describe('checks', () => {
  it('the interval of the checks grows by a factor of 1.3 up to its maximum', () => {
    const waits = [0, 1, 2, 10].map((looks) => Number(next(signed({ looks }), NOT_SEEN).dueAt) - NOW);
    expect(waits.map(Math.round)).toEqual([100, 130, 169, 1_379]);
  });

  it('plans the next check of a transaction that a node shows from the slots that are not final', () => {
    const shown = (...missing: bigint[]): Observation => ({
      type: 'viewed',
      quorum: 1,
      landing: null,
      views: missing.map((slots) => {
        const status = statusOf('confirmed');
        return view({ status, finalizedSlot: (status?.slot ?? 0n) - slots });
      }),
    });
    const waitOf = (seen: Observation, looks = 0) => Number(next(signed({ looks }), seen).dueAt) - NOW;
    expect([waitOf(shown(32n)), waitOf(shown(9n, 5n)), waitOf(shown(1n))]).toEqual([2_000, 500, 100]);
    // A node that never shows it as final is not asked ever more often.
    expect([waitOf(shown(0n), 9), waitOf(shown(1n), 150)].map(Math.round)).toEqual([1_060, 60_000]);
  });

  it('checks for money that may still arrive are an hour apart, and increase the number of checks', () => {
    const op = outstanding({ looks: 5 });
    expect(effectOf(op)).toBe('settle');
    expect(next(op, PENDING)).toMatchObject({ looks: 6, dueAt: NOW + HOUR });
    expect(next(op, UNREACHABLE)).toMatchObject({ dueAt: NOW + HOUR });
  });

  it('checks of an unfinished search are a second apart, keep its progress, and do not increase the number of checks', () => {
    const settlement = {
      state: 'pending',
      detail: 'settling',
      progress: { page: 2 },
      continues: true,
    } as const;
    const after = next(settling({ looks: 5 }), { type: 'settlement', settlement });
    expect(after).toMatchObject({ looks: 5, dueAt: NOW + 1_000, outcome: { page: 2 } });
  });

  it('a landing and an incomplete settlement reset the interval of the checks', () => {
    const landing = { slot: 940n, blockTime: null, fee: signed().cost, debit: signed().amount };
    const landed = next(signed({ looks: 9 }), {
      type: 'viewed',
      quorum: 1,
      views: [view({ status: statusOf('finalized') })],
      landing,
    });
    expect(landed).toMatchObject({ state: 'settling', looks: 0, dueAt: NOW, releasedSlot: 940n, landing });
    const incomplete = next(settling({ looks: 9 }), {
      type: 'settlement',
      settlement: { state: 'incomplete', reason: 'refunded', arrived: true, outcome: {} },
    });
    expect(incomplete).toMatchObject({ state: 'failed', looks: 0, dueAt: null, unsettled: 0n });
  });
});

describe('a preparation that failed', () => {
  const waitOf = (looks: number, waiting: number) => {
    const seen: Observation = { type: 'unprepared', reason: upstream('timeout'), waiting };
    return Number(step(planned({ looks }), seen, PAYOUT, NOW).dueAt) - NOW;
  };

  it('a failed preparation is repeated after 2 s at first, and at least once a minute while few operations wait', () => {
    expect([waitOf(0, 1), waitOf(100, 1), waitOf(100, 6)]).toEqual([2_000, 60_000, 60_000]);
  });

  it('a failed preparation is repeated less often when more operations wait: 10 s for each, at most an hour', () => {
    expect([waitOf(100, 7), waitOf(100, 360), waitOf(100, 100_000)]).toEqual([70_000, 3_600_000, 3_600_000]);
  });
});

it.each([
  [119_999, 'planned'],
  [120_000, 'failed'],
])(
  'an operation with an expiring quote waits at most two minutes for its signature (%i ms)',
  (age, state) => {
    const op = planned({ createdAt: NOW - age });
    expect(next(op, { type: 'unsigned', reason: upstream('timeout') }).state).toBe(state);
  },
);

it('an operation without an expiring quote waits for its signature without limit, and is first retried after 2 s', () => {
  const op = planned({ createdAt: NOW - 24 * HOUR });
  const after = step(op, { type: 'unsigned', reason: upstream('timeout') }, PAYOUT, NOW);
  expect(after).toMatchObject({ state: 'planned', reason: upstream('timeout'), dueAt: NOW + 2_000 });
});

it('a signed operation ignores a late report that no signature was available', () => {
  const op = signed();
  expect(next(op, { type: 'unsigned', reason: upstream('timeout') })).toBe(op);
});

it('returns the same row, with the same time of change, if an observation changes nothing', () => {
  const op = planned();
  expect(next(op, PENDING, NOW + 5)).toBe(op);
  expect(next(settling(), PENDING, NOW + 5).updatedAt).toBe(NOW + 5);
});
