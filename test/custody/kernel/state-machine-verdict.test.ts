import { expect, it } from 'vitest';
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
  one of several nodes proves it, none shows a status   | 1 | one view, two proof, three view                       | dead
  one of several witnesses has read everything          | 1 | one proof, two view, three view                       | dead
  the status is as old as the finalized height          | 1 | one proof finalizedSlot=1200 statusSlot=1200          | dead
  the history begins at the slot of the attempt         | 1 | one proof firstAvailableSlot=900                      | dead
  the history begins one slot later                     | 1 | one proof firstAvailableSlot=901                      | unseen
  the start of the history is not read                  | 1 | one proof firstAvailableSlot=null                     | unseen
  a block at the last valid height may hold it          | 1 | one proof finalizedHeight=1000                        | unseen
  the height is below the last valid one                | 1 | one proof finalizedHeight=999                         | unseen
  the status is older than the height                   | 1 | one proof statusSlot=1199                             | unseen
  two nodes each have a part of the proof               | 1 | one proof firstAvailableSlot=null, two proof finalizedHeight=1000, two proof finalizedHeight=900 finalizedSlot=900 | unseen
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

const BOTH = 'one 900/818, two 900/818';
const THREE = `three 950/860, ${BOTH}`;
/** The nodes whose slot and height were recorded when the attempt was signed, such as `one 900/818`. */
const witnessesOf = (text: string) =>
  text
    .split(', ')
    .filter((each) => each !== '')
    .map((each) => {
      const [node = '', slot = '', height = ''] = each.split(/[ /]/);
      return { node, slot: BigInt(slot), height: BigInt(height) };
    });
const signingBy = (witnesses: string) => ({ ...signingOf('one'), witnesses: witnessesOf(witnesses) });

/** The recorded nodes, what nodes show now, and the nodes that can prove expiry. The signing was in slot 900. */
eachScene(`
  without stored heights, a node can prove expiry once its finalized slot has reached the slot of the attempt | | one view finalizedSlot=900 finalizedHeight=870, two view finalizedSlot=899 | one 900/870
  a node keeps the height that was recorded for it when the attempt was signed                                | ${BOTH}  | one view finalizedHeight=5000   | ${BOTH}
  an added node must have reached the slots of all recorded nodes                                             | ${THREE} | four view finalizedSlot=949     | ${THREE}
  an added node that has reached the slots of all recorded nodes counts                                       | ${THREE} | four view finalizedSlot=950     | ${THREE}, four 900/950
  a recorded node is not added again                                                                          | ${THREE} | two view finalizedSlot=2000     | ${THREE}
  an added node must have reached the slot of the attempt                                                     | one 800/818, two 800/818 | four view finalizedSlot=899 | one 800/818, two 800/818
  an added node that has reached the slot of the attempt counts                                               | one 800/818, two 800/818 | four view finalizedSlot=900 | one 800/818, two 800/818, four 900/950
`)('%s', (_title, recorded = '', views = '', expected = '') => {
  const { witnesses } = withLateWitnesses(signingBy(recorded), views.split(', ').map(viewOf));
  expect(witnesses).toEqual(witnessesOf(expected));
});

it('a node proves expiry only more than 182 blocks above its own height when the attempt was signed', () => {
  expect(expiryHeight(signingOf('one'), 'one')).toBe(818n + 150n + 32n);
  expect(expiryHeight(signingOf('one'), 'three')).toBeUndefined();
  const verdict = (recorded: string, height: bigint) =>
    attemptVerdict(signingBy(recorded), [deathProof({ finalizedHeight: height })], 1);
  expect([verdict('', 5_000n), verdict('one 900/870', 1_052n), verdict('one 900/870', 1_053n)]).toEqual([
    'unseen',
    'unseen',
    'dead',
  ]);
});

eachScene(`
  a node has not pruned an attempt if its history starts at the node's own slot when the attempt was signed | ${BOTH} | one view firstAvailableSlot=900 |
  a node has pruned an attempt if its history starts after the node's own slot when the attempt was signed | ${BOTH} | one view firstAvailableSlot=901 | one
  each node's pruning is judged by its own slot when the attempt was signed, not by the slot of another witness | one 900/818, two 901/818 | one view firstAvailableSlot=901, two view firstAvailableSlot=901 | one
  does not assume that a node has pruned an attempt if the node has no recorded slot                  | ${BOTH} | three view firstAvailableSlot=5000 |
  does not assume that a node has pruned an attempt if the node did not report its history            | ${BOTH} | one view firstAvailableSlot=null |
`)('%s', (_title, recorded = '', views = '', expected) => {
  expect(prunedNodes(signingBy(recorded), views.split(', ').map(viewOf)).join(', ')).toBe(expected);
});
