import { expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { code, held } from '../../../src/custody/kernel/reason.ts';
import { effectOf, type Observation, step } from '../../../src/custody/kernel/state-machine.ts';
import { NOW, outstanding, SOL, SWAP, settling } from '../../kit/sample-operations.ts';

const LATER = NOW + 5_000;
const UNREACHABLE: Observation = { type: 'unreachable' };
const PAID: Observation = {
  type: 'settlement',
  settlement: { state: 'complete', outcome: { btcSats: '1' } },
};

const settlement = (s: Extract<Observation, { type: 'settlement' }>['settlement']): Observation => ({
  type: 'settlement',
  settlement: s,
});
const refund = settlement({
  state: 'incomplete',
  reason: 'refunded',
  arrived: true,
  outcome: { refundLamports: '9' },
});
const failure = settlement({ state: 'incomplete', reason: 'bridge_failed', arrived: false, outcome: {} });

it.each([
  [false, 60_000],
  [true, 10_000],
])(
  'the checks of a settlement begin 0.1 seconds apart; if a block is awaited is %s, they end %i ms apart',
  (awaitsBlock, most) => {
    let row = settling({ looks: 0 });
    const waits: number[] = [];
    for (let look = 0; look < 60; look++) {
      row = step(row, settlement({ state: 'pending', detail: 'settling', awaitsBlock }), SWAP, LATER);
      waits.push((row.dueAt ?? 0) - LATER);
    }
    expect([waits[0], waits.at(-1)]).toEqual([100, most]);
  },
);

it('the next check of a settlement is soon if the counterpart has moved', () => {
  const moved = settlement({ state: 'pending', detail: 'settling', hasMoved: true });
  expect(step(settling({ looks: 20 }), moved, SWAP, LATER)).toMatchObject({ looks: 1, dueAt: LATER + 100 });
});

it.each(['pending', 'unreachable'])(
  'a settlement that is %s for six hours alerts the operator, and the checks continue',
  (kind) => {
    const seen = kind === 'pending' ? settlement({ state: 'pending', detail: 'settling' }) : UNREACHABLE;
    const at = NOW + 6 * 3_600_000;
    expect(step(settling(), seen, SWAP, at)).toMatchObject({ detail: 'settling', reason: null });
    const stuck = step(settling(), seen, SWAP, at + 1);
    expect(stuck).toMatchObject({
      state: 'settling',
      detail: 'held',
      reason: held('unsettled'),
      unsettled: SOL,
    });
    expect(effectOf(stuck)).toBe('settle');
    expect(step(stuck, PAID, SWAP, at + 2)).toMatchObject({
      state: 'done',
      reason: null,
      unsettled: 0n,
    });
  },
);

it('a refunded swap is not a success, and its exposure ends', () => {
  expect(step(settling(), refund, SWAP, LATER)).toMatchObject({
    state: 'failed',
    detail: 'refunded',
    reason: code('refunded'),
    unsettled: 0n,
    dueAt: null,
    amount: SOL,
    outcome: { refundLamports: '9' },
  });
});

it.each([
  ['as the settlement states it', lamports(9n), 9n],
  ['as agreed when the settlement states none', undefined, 5n],
])('the cost of a refund is recorded %s', (_name, stated, cost) => {
  const row = { ...settling(), cost: lamports(5n) };
  const seen = { state: 'incomplete', reason: 'refunded', arrived: true, outcome: {} } as const;
  const returned = settlement(stated === undefined ? seen : { ...seen, cost: stated });
  expect(step(row, returned, SWAP, LATER).cost).toBe(cost);
});

it('a swap that the bridge failed keeps its exposure, and is checked once an hour', () => {
  const after = step(settling(), failure, SWAP, LATER);
  expect(after).toMatchObject({ state: 'failed', unsettled: SOL, dueAt: LATER + 3_600_000 });
  expect(step(after, failure, SWAP, LATER + 9)).toMatchObject({
    unsettled: SOL,
    dueAt: LATER + 9 + 3_600_000,
  });
  expect(step(after, UNREACHABLE, SWAP, LATER + 9)).toMatchObject({
    unsettled: SOL,
    dueAt: LATER + 9 + 3_600_000,
  });
});

it('money that arrives after a failure is recorded, and the swap stays failed', () => {
  expect(step(outstanding(), PAID, SWAP, LATER)).toMatchObject({
    state: 'failed',
    detail: 'late',
    reason: code('bridge_failed'),
    unsettled: 0n,
    dueAt: null,
    outcome: { btcSats: '1' },
  });
  expect(step(outstanding(), refund, SWAP, LATER)).toMatchObject({
    state: 'failed',
    detail: 'refunded',
    unsettled: 0n,
    dueAt: null,
  });
});

it('a swap waits while one lamport is outstanding, and ends when none is', () => {
  expect(effectOf(outstanding({ unsettled: lamports(1n) }))).toBe('settle');
  expect(effectOf(outstanding({ unsettled: lamports(0n) }))).toBe('none');
});
