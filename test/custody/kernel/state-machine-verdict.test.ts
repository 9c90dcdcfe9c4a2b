import { describe, expect, it } from 'vitest';
import {
  attemptVerdict,
  expiryHeight,
  type NodeView,
  prunedNodes,
  withLateWitnesses,
} from '../../../src/custody/kernel/state-machine.ts';
import { deathProof, signingOf, statusOf, view } from '../../kit/sample-operations.ts';

const judge = (...views: NodeView[]) => attemptVerdict(signingOf('one'), views, 1);
const judgeByTwo = (...views: NodeView[]) => attemptVerdict(signingOf('one'), views, 2);

describe('an attempt has provably expired', () => {
  it('the complete sequence of reads of one node proves that an attempt has expired', () => {
    expect(judge(deathProof())).toBe('dead');
  });

  it('an attempt has provably expired when one of several nodes has the complete proof and none has a status', () => {
    expect(judge(view(), deathProof(), view())).toBe('dead');
  });

  it('an attempt has provably expired if the status was read at the same slot as the finalized block height', () => {
    expect(judge(deathProof({ finalizedSlot: 1_200n, statusSlot: 1_200n }))).toBe('dead');
  });

  it("an attempt has provably expired if the node's history starts exactly at the slot of the signing", () => {
    expect(judge(deathProof({ firstAvailableSlot: 900n }))).toBe('dead');
  });
});

describe('with a quorum of two, an attempt', () => {
  const second = (change: Partial<NodeView> = {}) => deathProof({ node: 'two', ...change });

  it('an attempt has expired with a quorum of two when both nodes prove it, each with its own height', () => {
    expect(judgeByTwo(deathProof(), second())).toBe('dead');
  });

  it.each([
    ['one node alone proves it', [deathProof()]],
    ['one node proves it twice', [deathProof(), deathProof()]],
    ['the second node has not passed its own height', [deathProof(), second({ finalizedHeight: 1_000n })]],
    ['no height was recorded for the second node', [deathProof(), second({ node: 'three' })]],
  ])('an attempt has not provably expired with a quorum of two when %s', (_name, views) => {
    expect(judgeByTwo(...views)).toBe('unseen');
  });

  it('with a quorum of two, an attempt is rejected only when both nodes show the failure as final', () => {
    const failed = statusOf('finalized', true);
    expect(judgeByTwo(view({ status: failed }), view({ node: 'two' }))).toBe('seen');
    expect(judgeByTwo(view({ status: failed }), view({ node: 'two', status: failed }))).toBe('rejected');
  });

  it('with a quorum of two, an attempt is not signed again when one node shows a finalized success', () => {
    expect(judgeByTwo(view({ status: statusOf('finalized') }), second())).toBe('landed');
  });
});

describe('a witness', () => {
  const { slot, witnesses, ...bare } = signingOf('one');
  const old = { ...bare, slot, witnesses: [] };

  it('a node proves expiry only above its own height at the signing plus 150 blocks and a margin of 32 blocks', () => {
    expect(expiryHeight(signingOf('one'), 'one')).toBe(818n + 150n + 32n);
    expect(expiryHeight(signingOf('one'), 'three')).toBeUndefined();
  });

  it('without stored heights, a node can prove expiry once its finalized slot has reached the slot of the signing', () => {
    const views = [
      view({ finalizedSlot: 900n, finalizedHeight: 870n }),
      view({ node: 'two', finalizedSlot: 899n }),
    ];
    const witnessed = withLateWitnesses(old, views);
    expect(witnessed.witnesses).toEqual([{ node: 'one', slot: 900n, height: 870n }]);
    expect(attemptVerdict(old, [deathProof({ finalizedHeight: 5_000n })], 1)).toBe('unseen');
    expect(attemptVerdict(witnessed, [deathProof({ finalizedHeight: 1_052n })], 1)).toBe('unseen');
    expect(attemptVerdict(witnessed, [deathProof({ finalizedHeight: 1_053n })], 1)).toBe('dead');
  });

  it('a node keeps the height that was recorded for it at the signing', () => {
    expect(withLateWitnesses(signingOf('one'), [view({ finalizedHeight: 5_000n })])).toEqual(
      signingOf('one'),
    );
  });
});

it('a node added after the signing must have reached the slot of the signing and the slots of all recorded nodes', () => {
  const { witnesses, ...bare } = signingOf('one');
  const signing = {
    ...bare,
    witnesses: [...witnesses, { node: 'three', slot: 950n, height: 860n }].toReversed(),
  };
  const added = (node: string, finalizedSlot: bigint) =>
    withLateWitnesses(signing, [view({ node, finalizedSlot })]).witnesses.length - 3;
  expect([added('four', 949n), added('four', 950n), added('two', 2_000n)]).toEqual([0, 1, 0]);
  const unknown = { ...bare, witnesses: witnesses.map((one) => ({ ...one, slot: 800n })) };
  const late = (finalizedSlot: bigint) => withLateWitnesses(unknown, [view({ node: 'four', finalizedSlot })]);
  expect([late(899n), late(900n)].map((one) => one.witnesses.length)).toEqual([2, 3]);
});

describe('a node has pruned the history of an attempt', () => {
  const pruned = (...views: NodeView[]) => prunedNodes(signingOf('one'), views);

  it('a node has pruned an attempt if its history starts after the slot that the node had at the signing', () => {
    expect(pruned(view({ firstAvailableSlot: 900n }))).toEqual([]);
    expect(pruned(view({ firstAvailableSlot: 901n }))).toEqual(['one']);
  });

  it("each node's pruning is judged by its own slot at the signing, not by the slot of another witness", () => {
    const { witnesses, ...bare } = signingOf('one');
    const signing = { ...bare, witnesses: witnesses.map((one, at) => ({ ...one, slot: 900n + BigInt(at) })) };
    const views = ['one', 'two'].map((node) => view({ node, firstAvailableSlot: 901n }));
    expect(prunedNodes(signing, views)).toEqual(['one']);
  });

  it.each<[string, Partial<NodeView>]>([
    ['has no recorded slot', { node: 'three', firstAvailableSlot: 5_000n }],
    ['did not report its history', { firstAvailableSlot: null }],
  ])('does not assume that a node has pruned an attempt if the node %s', (_name, change) => {
    expect(pruned(view(change))).toEqual([]);
  });
});

describe('an attempt has not provably expired', () => {
  it.each([
    ['at its last valid height: a block of that height may hold it', { finalizedHeight: 1_000n }],
    ['below its last valid height', { finalizedHeight: 999n }],
    ['with a status view that is older than the height', { statusSlot: 1_199n }],
    ['when the start of the history was not read', { firstAvailableSlot: null }],
    ['with a history that begins one slot after the signing', { firstAvailableSlot: 901n }],
  ])('an attempt has not provably expired %s', (_name, missing) => {
    expect(judge(deathProof(missing))).toBe('unseen');
  });

  it('pieces of a proof from different nodes never prove that an attempt has expired', () => {
    const height = deathProof({ firstAvailableSlot: null });
    const history = deathProof({ node: 'two', finalizedHeight: 1_000n });
    const status = deathProof({ node: 'two', finalizedHeight: 900n, finalizedSlot: 900n });
    expect(judge(height, history, status)).toBe('unseen');
    expect(judge(deathProof({ statusSlot: 1_199n }), view({ statusSlot: 5_000n }))).toBe('unseen');
  });

  it('an attempt has not provably expired while no node has reported anything', () => {
    expect(judge()).toBe('unseen');
  });

  it.each([
    ['processed', 'seen'],
    ['confirmed', 'seen'],
    ['finalized', 'landed'],
  ] as const)(
    'an attempt has not provably expired when any node has seen it %s, regardless of the proof by the others',
    (commitment, verdict) => {
      const seen = view({ status: statusOf(commitment) });
      expect(judge(deathProof(), seen)).toBe(verdict);
      expect(judge(seen, deathProof(), deathProof())).toBe(verdict);
    },
  );

  it('a failure that is not final does not prove that an attempt has expired, because a fork may undo it', () => {
    expect(judge(view({ status: statusOf('confirmed', true) }))).toBe('seen');
    expect(judge(view({ status: statusOf('processed', true) }), deathProof())).toBe('seen');
  });
});

describe('a finalized status decides', () => {
  it('a finalized success means that an attempt has landed, and a finalized failure that it is rejected', () => {
    expect(judge(view({ status: statusOf('finalized') }))).toBe('landed');
    expect(judge(view({ status: statusOf('finalized', true) }))).toBe('rejected');
  });

  it.each<[string, string, readonly (boolean | null | undefined)[]]>([
    ['is seen', 'not read', [null, null]],
    ['is seen', 'without a fee', [false, false]],
    ['is seen', 'without a fee at one of two nodes', [true, false]],
    ['is seen', 'with its fee unread at one of two nodes', [true, null]],
    ['is rejected', 'with a fee at a quorum, and without one at a third node', [false, true, true]],
    ['has landed', 'without a fee at one node, and a success at another', [false, undefined]],
    ['is seen', 'with a fee at two nodes, and a success at a third', [true, true, undefined]],
    ['is seen', 'with its fee unread at one node, and a success at another', [null, undefined]],
  ])('an attempt %s after a finalized failure %s', (verdict, _name, charges) => {
    const views = charges.map((charged, at) =>
      deathProof({ node: `${at}`, status: statusOf('finalized', charged !== undefined, charged ?? null) }),
    );
    expect(judgeByTwo(...views)).toBe(verdict.split(' ').at(-1));
    expect(judgeByTwo(...views.toReversed())).toBe(verdict.split(' ').at(-1));
  });

  it('a finalized status on one node overrides statuses that other nodes have not finalized yet', () => {
    expect(
      judge(view({ status: statusOf('confirmed', true) }), view({ status: statusOf('finalized') })),
    ).toBe('landed');
  });

  it('two nodes whose finalized statuses contradict each other decide nothing', () => {
    const yes = view({ node: 'a', status: statusOf('finalized') });
    const no = view({ node: 'b', status: statusOf('finalized', true) });
    expect(judge(yes, no)).toBe('seen');
    expect(judge(no, yes)).toBe('seen');
  });
});
