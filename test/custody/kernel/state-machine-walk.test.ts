/** The state machine on random walks: the rules about money hold for any observations in any order. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import type { Landing, Operation } from '../../../src/custody/kernel/operation.ts';
import { code, upstream } from '../../../src/custody/kernel/reason.ts';
import {
  attemptVerdict,
  effectOf,
  type NodeView,
  type Observation,
  type Settlement,
  step,
} from '../../../src/custody/kernel/state-machine.ts';
import { FEE, NOW, PAYOUT, planned, SIGNED_AT, SOL, SWAP } from '../../kit/sample-operations.ts';

const status = fc.record({
  slot: fc.bigInt({ min: 900n, max: 1_300n }),
  failed: fc.boolean(),
  commitment: fc.constantFrom('processed' as const, 'confirmed' as const, 'finalized' as const),
  charged: fc.constantFrom(true, false, null),
});
const nodeView: fc.Arbitrary<NodeView> = fc.record({
  node: fc.constantFrom('one', 'two'),
  finalizedSlot: fc.bigInt({ min: 950n, max: 1_300n }),
  finalizedHeight: fc.bigInt({ min: 995n, max: 1_005n }),
  statusSlot: fc.bigInt({ min: 950n, max: 1_300n }),
  status: fc.option(status, { nil: null, freq: 2 }),
  firstAvailableSlot: fc.option(fc.constantFrom(0n, 900n, 901n), { nil: null, freq: 5 }),
});
const landing: fc.Arbitrary<Landing | null> = fc.constantFrom(null, {
  slot: 940n,
  blockTime: null,
  fee: lamports(FEE),
  debit: lamports(SOL + FEE),
});
const settlement: fc.Arbitrary<Settlement> = fc.oneof(
  fc.constant<Settlement>({ state: 'pending', detail: 'settling' }),
  fc.constant<Settlement>({ state: 'complete', outcome: { btcSats: '1' } }),
  fc.record({
    state: fc.constant('incomplete' as const),
    reason: fc.constantFrom('refunded', 'partial', 'bridge_failed'),
    arrived: fc.boolean(),
    outcome: fc.constant({}),
  }),
);
/** Each signing of a walk gets a signature of its own. */
type Seen = Exclude<Observation, { type: 'signed' }> | { type: 'signed' };
const observation: fc.Arbitrary<Seen> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Seen>({ type: 'refused', reason: code('quote_amount') }) },
  { weight: 1, arbitrary: fc.constant<Seen>({ type: 'found', outcome: {} }) },
  {
    weight: 1,
    arbitrary: fc.constant<Seen>({ type: 'unprepared', reason: upstream('timeout'), waiting: 1 }),
  },
  { weight: 5, arbitrary: fc.constant<Seen>({ type: 'signed' }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('sent' as const), accepted: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('viewed' as const),
      quorum: fc.constant(1),
      views: fc.array(nodeView, { maxLength: 3 }),
      landing,
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('settlement' as const), settlement }) },
  { weight: 2, arbitrary: fc.constant<Seen>({ type: 'unreachable' }) },
);
const minute = 60_000;
const walks = fc.array(fc.tuple(observation, fc.integer({ min: -minute, max: 10 * minute })), {
  maxLength: 40,
});

type Walked = { readonly before: Operation; readonly seen: Observation; readonly after: Operation };

function walk(rules: typeof SWAP, steps: readonly (readonly [Seen, number])[]): Walked[] {
  let row = planned({ kind: rules.settles ? 'swap' : 'asry' });
  let now = NOW;
  let signings = 0;
  const walked: Walked[] = [];
  for (const [given, ms] of steps) {
    now += ms;
    const seen: Observation =
      given.type === 'signed'
        ? {
            ...given,
            signing: { signature: `s${++signings}`, wire: 'w', ...SIGNED_AT },
            plan: {},
            cost: 1n,
          }
        : given;
    const after = step(row, seen, rules, now);
    walked.push({ before: row, seen, after });
    row = after;
  }
  return walked;
}

const eachStep = (check: (walked: Walked, rules: typeof SWAP) => void): void => {
  for (const rules of [SWAP, PAYOUT, { ...PAYOUT, settles: true }]) {
    fc.assert(
      fc.property(walks, (steps) => {
        for (const walked of walk(rules, steps)) check(walked, rules);
      }),
      { numRuns: 1_500 },
    );
  }
};

describe('on any walk', () => {
  it('reaches every state and both ends of a failure, so that the rules below are tested', () => {
    const met = new Set<string>();
    eachStep(({ after }) => met.add(`${after.state}${after.state === 'failed' ? after.unsettled > 0n : ''}`));
    expect([...met].toSorted()).toEqual([
      'done',
      'failedfalse',
      'failedtrue',
      'planned',
      'settling',
      'signed',
    ]);
  });

  it('nothing ever leads from a terminal state back to one that spends', () => {
    eachStep(({ before, after }) => {
      if (before.state === 'done') expect(after).toBe(before);
      if (before.state === 'failed') expect(after.state).toBe('failed');
      if (before.state === 'settling') expect(['settling', 'done', 'failed']).toContain(after.state);
    });
  });

  it('a signing is never replaced while it may still land: only a proven end allows the next one', () => {
    eachStep(({ before, seen, after }) => {
      if (!before.signing || after.signing?.signature === before.signing.signature) return;
      expect(seen.type).toBe('viewed');
      const verdict = seen.type === 'viewed' && attemptVerdict(before.signing, seen.views, seen.quorum);
      expect(['dead', 'rejected']).toContain(verdict);
      if (verdict === 'rejected' && seen.type === 'viewed')
        expect(seen.views.some((view) => view.status?.failed && view.status.charged)).toBe(true);
      expect(after).toMatchObject({ state: 'planned', signing: null, attempt: before.attempt + 1 });
    });
  });

  it('a walk never has more signings than the kind may use', () => {
    for (const rules of [SWAP, PAYOUT]) {
      fc.assert(
        fc.property(walks, (steps) => {
          const signatures = walk(rules, steps).map(({ after }) => after.signing?.signature);
          const different = new Set(signatures.filter(Boolean));
          expect(different.size).toBeLessThanOrEqual(rules.maxAttempts);
        }),
        { numRuns: 1_500 },
      );
    }
  });

  it('lamports are released only by an end that the chain has shown, or before anything was signed', () => {
    eachStep(({ before, seen, after }) => {
      if (after.reserved >= before.reserved) return;
      expect(after.reserved).toBe(0n);
      if (before.state === 'planned') {
        expect(before.signing).toBeNull();
        return;
      }
      expect(before.state).toBe('signed');
      if (seen.type !== 'viewed' || !before.signing) throw new Error(`released by ${seen.type}`);
      const verdict = attemptVerdict(before.signing, seen.views, seen.quorum);
      expect(['landed', 'rejected', 'dead']).toContain(verdict);
      // A balance is trusted only from the slot on at which it shows the outcome.
      if (verdict !== 'dead') expect(after.releasedSlot).not.toBeNull();
      if (verdict === 'landed') expect(after).toMatchObject({ amount: before.amount, releasedSlot: 940n });
    });
  });

  it('exposure ends only with an arrival, or with an attempt that moved nothing', () => {
    eachStep(({ before, seen, after }) => {
      if (after.unsettled >= before.unsettled) return;
      expect(after.unsettled).toBe(0n);
      if (before.state === 'signed') expect(seen.type).toBe('viewed');
      else {
        if (seen.type !== 'settlement') throw new Error(`closed by ${seen.type}`);
        const { settlement: s } = seen;
        expect(s.state === 'complete' || (s.state === 'incomplete' && s.arrived)).toBe(true);
      }
    });
  });

  it('a done operation has landed and was delivered, has landed and awaits nothing, or was found on the chain', () => {
    eachStep(({ before, seen, after }, rules) => {
      if (after.state !== 'done' || before.state === 'done') return;
      expect(after).toMatchObject({ reserved: 0n, unsettled: 0n, dueAt: null });
      if (before.state === 'planned') expect(seen.type).toBe('found');
      else expect(after.landing).not.toBeNull();
      if (before.state !== 'planned' && rules.settles) expect(before.state).toBe('settling');
    });
  });

  it('a row that has not ended is due within an hour', () => {
    eachStep(({ after }) => {
      const over = after.state === 'done' || (after.state === 'failed' && after.unsettled === 0n);
      if (over) expect(after.dueAt).toBeNull();
      else expect((after.dueAt ?? Number.POSITIVE_INFINITY) - after.updatedAt).toBeLessThanOrEqual(3_600_000);
    });
  });

  it('the next effect fits the row: no preparation during a live signing, no send without bytes', () => {
    eachStep(({ after }) => {
      const effect = effectOf(after);
      if (effect === 'prepare') expect(after.signing).toBeNull();
      if (effect === 'send' || effect === 'watch') expect(after.signing).not.toBeNull();
      if (effect === 'settle') expect(after.landing).not.toBeNull();
    });
  });

  it('natural key, number, kind and creation time never change, and the given row is never mutated', () => {
    eachStep(({ before, after }) => {
      const { id, seq, kind, createdAt } = before;
      expect(after).toMatchObject({ id, seq, kind, createdAt });
    });
    const frozen = Object.freeze({ ...planned(), plan: Object.freeze({}), outcome: Object.freeze({}) });
    expect(
      step(frozen, { type: 'refused', reason: code('x'), outcome: { a: 1 } }, SWAP, NOW).outcome,
    ).toEqual({
      a: 1,
    });
    expect(frozen.outcome).toEqual({});
  });
});
