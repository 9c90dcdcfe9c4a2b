import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import type { Landing, Operation, State } from '../../../src/custody/kernel/operation.ts';
import { code, held, upstream } from '../../../src/custody/kernel/reason.ts';
import { effectOf, type Observation, step } from '../../../src/custody/kernel/state-machine.ts';
import {
  closed,
  deathProof,
  done,
  FEE,
  NOW,
  outstanding,
  PAYOUT,
  planned,
  SOL,
  SWAP,
  settling,
  signed,
  signingOf,
  statusOf,
  view,
} from '../../kit/sample-operations.ts';

const LATER = NOW + 5_000;
const landing: Landing = { slot: 940n, blockTime: 1, fee: lamports(FEE), debit: lamports(SOL + FEE) };

const ROWS = { planned, signed, settling, done, outstanding, closed } as const;
const SEEN = {
  refused: { type: 'refused', reason: code('quote_amount') },
  found: { type: 'found', outcome: { mint: 'x' } },
  unprepared: { type: 'unprepared', reason: upstream('timeout'), waiting: 1 },
  signed: { type: 'signed', signing: signingOf('two'), plan: { a: '1' }, cost: 5n },
  sent: { type: 'sent', accepted: true },
  viewed: { type: 'viewed', quorum: 1, views: [view()], landing: null },
  settlement: { type: 'settlement', settlement: { state: 'complete', outcome: { btcSats: '1' } } },
  unreachable: { type: 'unreachable' },
} as const satisfies Record<string, Observation>;

/** The observations that change a row of each state; every other pair must leave it unchanged. */
const TAKES: Record<keyof typeof ROWS, (keyof typeof SEEN)[]> = {
  planned: ['refused', 'found', 'unprepared', 'signed'],
  signed: ['sent', 'viewed', 'unreachable'],
  settling: ['settlement', 'unreachable'],
  done: [],
  outstanding: ['settlement', 'unreachable'],
  closed: [],
};

describe('every state with every observation', () => {
  const pairs = Object.keys(ROWS).flatMap((row) => Object.keys(SEEN).map((seen) => [row, seen] as const));
  it.each(pairs)(
    'in the state %s, the observation %s changes the row only if it applies there',
    (row, seen) => {
      const before = ROWS[row as keyof typeof ROWS]();
      const after = step(before, SEEN[seen as keyof typeof SEEN], SWAP, LATER);
      const takes = TAKES[row as keyof typeof ROWS].some((name) => name === seen);
      if (takes) expect(after).toMatchObject({ updatedAt: LATER, seq: before.seq, id: before.id });
      // The very same row: nothing is written for it.
      else expect(after).toBe(before);
    },
  );

  it('ignores every observation in a state of a newer version', () => {
    const unknown = planned({ state: 'melting' as State });
    for (const seen of Object.values(SEEN)) expect(step(unknown, seen, SWAP, LATER)).toBe(unknown);
    expect(effectOf(unknown)).toBe('none');
  });
});

it.each<[string, Operation, string]>([
  ['an intent is prepared', planned(), 'prepare'],
  ['an intent that is held waits for the operator', planned({ reason: held('unknown_state') }), 'none'],
  [
    'an intent whose first attempt expired is prepared',
    planned({ reason: code('expired'), attempt: 2 }),
    'prepare',
  ],
  ['stored bytes that were not sent are sent', signed({ detail: 'signed', looks: 0 }), 'send'],
  ['sent bytes are watched', signed({ detail: 'sent', looks: 1 }), 'watch'],
  [
    'bytes that no node accepted are watched too: a node may have accepted them without a response',
    signed({ detail: 'signed', looks: 1 }),
    'watch',
  ],
  ['a landed swap awaits its payment', settling(), 'settle'],
  ['a failure with money outstanding is still checked', outstanding(), 'settle'],
  ['a failure without money outstanding needs no further step', closed(), 'none'],
  ['a success needs no further step', done(), 'none'],
])('%s', (_name, row, effect) => {
  expect(effectOf(row)).toBe(effect);
});

describe('before anything is signed', () => {
  it.each(['refused', 'unprepared'] as const)(
    'the observation %s ends a swap and frees what it reserved',
    (name) => {
      const after = step(planned(), SEEN[name], SWAP, LATER);
      expect(after).toMatchObject({
        state: 'failed',
        reason: SEEN[name].reason,
        amount: 0n,
        reserved: 0n,
        unsettled: 0n,
        cost: 0n,
        dueAt: null,
      });
      expect(after.plan).toMatchObject({ bodyHash: null, askedLamports: SOL.toString() });
      expect(after.releasedSlot).toBeNull();
    },
  );

  it('a payout whose preparation failed keeps its reservation and is retried after growing waits', () => {
    let row = planned({ kind: 'asry' });
    let last = 0;
    for (let look = 1; look <= 30; look++) {
      row = step(row, SEEN.unprepared, PAYOUT, LATER);
      expect(row).toMatchObject({
        state: 'planned',
        looks: look,
        reserved: SOL + FEE,
        reason: upstream('timeout'),
      });
      const wait = (row.dueAt ?? 0) - LATER;
      expect(wait).toBeGreaterThanOrEqual(last);
      last = wait;
    }
    expect(last).toBe(60_000);
  });

  it('an operation whose outcome is already on the chain is done without a signature', () => {
    const after = step(planned({ kind: 'token' }), SEEN.found, PAYOUT, LATER);
    expect(after).toMatchObject({
      state: 'done',
      reserved: 0n,
      dueAt: null,
      signing: null,
      outcome: { mint: 'x' },
    });
  });

  it('signing stores the signed bytes and records the amount as unsettled', () => {
    const after = step(planned(), SEEN.signed, SWAP, LATER);
    expect(after).toMatchObject({
      state: 'signed',
      signing: signingOf('two'),
      unsettled: SOL,
      reserved: SOL + FEE,
      cost: 5n,
      looks: 0,
      dueAt: LATER,
      plan: { bodyHash: null, a: '1' },
    });
    expect(effectOf(after)).toBe('send');
  });

  it('a signed payout has no exposure, because nothing is expected in return', () => {
    expect(step(planned(), SEEN.signed, PAYOUT, LATER).unsettled).toBe(0n);
  });
});

describe('while an attempt is on its way', () => {
  it.each([
    [true, 'sent'],
    [false, 'signed'],
  ])(
    'a send with accepted = %s is reported as %s, and the chain is checked either way',
    (accepted, detail) => {
      const fresh = signed({ detail: 'signed', looks: 0 });
      const after = step(fresh, { type: 'sent', accepted }, SWAP, LATER);
      expect(after).toMatchObject({ state: 'signed', detail, looks: 1 });
      expect(effectOf(after)).toBe('watch');
    },
  );

  it('without proof of landing or expiry, checks become rare after the 150th, and the 500th alerts the operator', () => {
    const look = (looks: number) => step(signed({ looks }), SEEN.viewed, SWAP, LATER);
    expect([look(149), look(150)].map((row) => (row.dueAt ?? 0) - LATER)).toEqual([2_000, 60_000]);
    expect([look(499).reason, look(500).reason]).toEqual([null, held('unproven')]);
    // It is watched even while held, and the final result of the chain is booked.
    expect(effectOf(look(500))).toBe('watch');
    const views = [view({ status: statusOf('finalized') })];
    expect(step(look(500), { type: 'viewed', quorum: 1, views, landing }, SWAP, LATER)).toMatchObject({
      state: 'settling',
      reason: null,
    });
  });

  it('an attempt with a confirmed status is shown as landed, but its operation stays signed until it is final', () => {
    const seen = step(
      signed(),
      { type: 'viewed', quorum: 1, views: [view({ status: statusOf('confirmed') })], landing: null },
      SWAP,
      LATER,
    );
    expect(seen).toMatchObject({ state: 'signed', detail: 'landed', reserved: SOL + FEE, unsettled: SOL });
    const forkedAway = step(seen, SEEN.viewed, SWAP, LATER);
    expect(forkedAway).toMatchObject({ state: 'signed', detail: 'sent' });
  });

  it('a final success releases no reservation until the transaction itself has been read', () => {
    const views = [view({ status: statusOf('finalized') })];
    const waiting = step(signed(), { type: 'viewed', quorum: 1, views, landing: null }, SWAP, LATER);
    expect(waiting).toMatchObject({
      state: 'signed',
      detail: 'landed',
      reserved: SOL + FEE,
      releasedSlot: null,
    });
    const landed = step(waiting, { type: 'viewed', quorum: 1, views, landing }, SWAP, LATER);
    expect(landed).toMatchObject({
      state: 'settling',
      reserved: 0n,
      releasedSlot: 940n,
      unsettled: SOL,
      landing,
      dueAt: LATER,
    });
  });

  it('a payout is done once it has landed, because nothing is expected in return', () => {
    const views = [view({ status: statusOf('finalized') })];
    const after = step(
      signed({ unsettled: lamports(0n) }),
      { type: 'viewed', quorum: 1, views, landing },
      PAYOUT,
      LATER,
    );
    expect(after).toMatchObject({ state: 'done', reserved: 0n, releasedSlot: 940n, dueAt: null });
  });

  it('a final failure ends the whole reservation, for balances of its slot or later', () => {
    const views = [view(), view({ status: statusOf('finalized', true) })];
    expect(step(signed(), { type: 'viewed', quorum: 1, views, landing: null }, SWAP, LATER)).toMatchObject({
      state: 'failed',
      detail: 'rejected',
      reason: code('rejected'),
      amount: 0n,
      reserved: 0n,
      unsettled: 0n,
      releasedSlot: 940n,
      dueAt: null,
    });
  });

  const failure = view({ status: statusOf('finalized', true) });
  const ends = (row: Operation, proof = failure, rules = SWAP) =>
    step(row, { type: 'viewed', quorum: 1, views: [proof], landing: null }, rules, LATER);

  it.each([
    ['its fee', SOL + FEE, 10_000_000n, FEE],
    ['its cost when that is less', SOL + FEE, FEE - 1n, FEE - 1n],
    ['its fee and priority fee', SOL + 2n * FEE, 10_000_000n, 2n * FEE],
  ])('a rejected swap costs %s', (_name, reserved, cost, lost) => {
    expect(ends(signed({ reserved: lamports(reserved), cost: lamports(cost) }))).toMatchObject({
      cost: lost,
    });
  });

  it('an operation of a kind that ends when it is rejected is signed again only after an expiry', () => {
    const rules = { ...PAYOUT, endsWhenRejected: true } as const;
    expect(ends(signed({ kind: 'asry' }), failure, rules)).toMatchObject({ state: 'failed', attempt: 1 });
    expect(ends(signed({ kind: 'asry' }), deathProof(), rules)).toMatchObject({
      state: 'planned',
      attempt: 2,
    });
  });

  it('a proven expiry ends a swap at no cost, because nothing was spent', () => {
    expect(
      step(signed(), { type: 'viewed', quorum: 1, views: [deathProof()], landing: null }, SWAP, LATER),
    ).toMatchObject({
      state: 'failed',
      detail: 'expired',
      reason: code('expired'),
      amount: 0n,
      reserved: 0n,
      unsettled: 0n,
      cost: 0n,
      signing: signingOf('one'),
    });
  });

  it.each([
    ['a proven expiry', deathProof(), code('expired')],
    ['a final failure', view({ status: statusOf('finalized', true) }), code('rejected')],
  ])('a payout is planned again after %s, up to its maximum of attempts', (_name, proof, reason) => {
    let row = signed({ kind: 'asry', unsettled: lamports(0n) });
    for (let attempt = 2; attempt <= PAYOUT.maxAttempts; attempt++) {
      row = step(row, { type: 'viewed', quorum: 1, views: [proof], landing: null }, PAYOUT, LATER);
      expect(row).toMatchObject({
        state: 'planned',
        attempt,
        signing: null,
        reason,
        reserved: SOL + FEE,
        amount: SOL,
        looks: 0,
        dueAt: LATER,
      });
      row = step(row, SEEN.signed, PAYOUT, LATER);
      row = { ...row, signing: signingOf('one') };
    }
    row = step(row, { type: 'viewed', quorum: 1, views: [proof], landing: null }, PAYOUT, LATER);
    expect(row).toMatchObject({ state: 'failed', reason, reserved: 0n, attempt: PAYOUT.maxAttempts });
  });
});
