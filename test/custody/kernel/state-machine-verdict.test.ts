import { describe, expect, it } from 'vitest';
import { type NodeView, prunedNodes, withLateWitnesses } from '../../../src/custody/kernel/observation.ts';
import { attemptVerdict, expiryHeight } from '../../../src/custody/kernel/state-machine.ts';
import { deathProof, signingOf, statusOf, view } from '../../kit/sample-operations.ts';
import { eachScene } from '../../kit/scenes.ts';

/** One node's view as its scene writes it: `node proof|view [member=value] [commitment] [in=slot] [failed|free|unread]`. */
function viewOf(text: string): NodeView {
  const [node = '', kind, ...words] = text.split(' ');
  const members = words.flatMap((word) => {
    const [name = '', value] = word.split('=');
    return value === undefined || name === 'in' ? [] : [[name, value === 'null' ? null : BigInt(value)]];
  });
  const commitment = (['processed', 'confirmed', 'finalized'] as const).find((each) => words.includes(each));
  const isFailed = ['failed', 'free', 'unread'].some((word) => words.includes(word));
  const charged = words.includes('free') ? false : words.includes('unread') ? null : undefined;
  const slot = words.find((word) => word.startsWith('in='))?.slice(3);
  const shown = commitment && statusOf(commitment, isFailed, charged);
  const status = shown ? { status: { ...shown, slot: slot === undefined ? shown.slot : BigInt(slot) } } : {};
  return { ...(kind === 'proof' ? deathProof : view)({ node, ...status }), ...Object.fromEntries(members) };
}

eachScene(`
  one node has read everything                          | 1 | one proof                                             | dead
  one of several nodes has, and none shows a status     | 1 | one view, two proof, three view                       | dead
  one of several witnesses has                          | 1 | one proof, two view, three view                       | dead
  the status is as old as the finalized height          | 1 | one proof finalizedSlot=1200 statusSlot=1200          | dead
  the history begins at the slot of the signing         | 1 | one proof firstAvailableSlot=900                      | dead
  the history begins one slot later                     | 1 | one proof firstAvailableSlot=901                      | unseen
  the start of the history is not read                  | 1 | one proof firstAvailableSlot=null                     | unseen
  a block at the last valid height may hold it          | 1 | one proof finalizedHeight=1000                        | unseen
  the height is below the last valid one                | 1 | one proof finalizedHeight=999                         | unseen
  the status is older than the height                   | 1 | one proof statusSlot=1199                             | unseen
  two nodes have a piece of the proof each              | 1 | one proof firstAvailableSlot=null, two proof finalizedHeight=1000, two proof finalizedHeight=900 finalizedSlot=900 | unseen
  another node has the newer status                     | 1 | one proof statusSlot=1199, two view statusSlot=5000   | unseen
  no node responds                                      | 1 |                                                       | unseen
  any node has seen it processed                        | 1 | one proof, two view processed, three proof            | seen
  any node has seen it confirmed                        | 1 | one proof, two view confirmed                         | seen
  any node has seen it finalized                        | 1 | one proof, two view finalized                         | landed
  a failure that is confirmed may be undone             | 1 | one view confirmed failed                             | seen
  a failure that is processed may be undone             | 1 | one view processed failed, two proof                  | seen
  a finalized success                                   | 1 | one view finalized                                    | landed
  a finalized failure                                   | 1 | one view finalized failed                             | rejected
  a finalized status outranks others                    | 1 | one view confirmed failed, two view finalized         | landed
  finalized statuses that contradict decide nothing     | 1 | one view finalized, two view finalized failed         | seen
  both of two nodes prove it, each with its own height  | 2 | one proof, two proof                                  | dead
  one node alone proves it                              | 2 | one proof                                             | unseen
  one node proves it twice                              | 2 | one proof, one proof                                  | unseen
  the second has not passed its own height              | 2 | one proof, two proof finalizedHeight=1000             | unseen
  no height was recorded for the second                 | 2 | one proof, three proof                                | unseen
  one of two nodes shows the failure                    | 2 | one view finalized failed, two view                   | seen
  both show the failure                                 | 2 | one view finalized failed, two view finalized failed  | rejected
  both show the failure, in different slots             | 2 | one view finalized failed, two view finalized failed in=1000000000000000 | seen
  two of three show the failure in one slot             | 2 | one view finalized failed, two view finalized failed, three view finalized failed in=1000000000000000 | rejected
  one shows a success, the other proves its end         | 2 | one view finalized, two proof                         | landed
  the fee of a failure is not read                      | 2 | one proof finalized unread, two proof finalized unread | seen
  a failure took no fee                                 | 2 | one proof finalized free, two proof finalized free    | seen
  a failure took a fee at one of two nodes              | 2 | one proof finalized failed, two proof finalized free  | seen
  its fee is unread at one of two nodes                 | 2 | one proof finalized failed, two proof finalized unread | seen
  two of three show a fee                               | 2 | one proof finalized free, two proof finalized failed, three proof finalized failed | rejected
  no fee at one node, a success at another              | 2 | one proof finalized free, two proof finalized         | landed
  a fee at two nodes, a success at a third              | 2 | one proof finalized failed, two proof finalized failed, three proof finalized | seen
  an unread fee at one node, a success at another       | 2 | one proof finalized unread, two proof finalized       | seen
`)('the nodes give a verdict on an attempt: %s', (_what, quorum, views, verdict) => {
  const shown = views
    .split(', ')
    .filter((each) => each !== '')
    .map(viewOf);
  expect(attemptVerdict(signingOf('one'), shown, Number(quorum))).toBe(verdict);
  expect(attemptVerdict(signingOf('one'), shown.toReversed(), Number(quorum))).toBe(verdict);
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
