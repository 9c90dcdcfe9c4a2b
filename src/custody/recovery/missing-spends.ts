/**
 * Finds the reserve's transactions that a restored journal lacks. Each call reads a part of each node's list, and the
 * journal stores how far it got. So the search never starts again, even with a long list or a new instance.
 * @module
 */
import type { ModuleTools } from '../kernel/module.ts';
import type { HistoryNode, Listed } from '../nodes/history.ts';
import {
  againFrom,
  isPassed,
  type Part,
  type Place,
  partBelow,
  placeAfter,
  takeInTurn,
} from '../nodes/list-places.ts';
import { quorumOf } from '../nodes/quorum.ts';
import type { UnexplainedSpend } from '../operator-api.ts';
import { decideEntries, type SpendPorts } from './unexplained-spends.ts';

/** The platform allows 10,000 calls in each request. An entry that all nodes lack needs four calls to each node. */
const MOST_CALLS = 9_000;
const CALLS_OF_ENTRY = 4;
/** Number of entries that are read before the places are stored. */
const READS_AT_ONCE = 100;

type Walked = { readonly node: HistoryNode; readonly part: Part; readonly isProven: boolean };

/**
 * Unexplained spends after a slot. The list is empty if a quorum of nodes lists only explained transactions. Each
 * transaction that a node lists is read, because another node may omit it.
 * @throws Error with a message for the operator, including when entries remain for the next call
 */
export async function missingSpends(
  ports: SpendPorts,
  journal: ModuleTools['journal'],
  after: bigint,
): Promise<readonly UnexplainedSpend[]> {
  const { nodes } = ports.histories[0];
  const key = `missing_spends:${ports.reserveAddress}`;
  const places = new Map(Object.entries(JSON.parse(journal.getMeta(key) ?? '{}') as Record<string, Place>));
  /** Nodes whose pass started in this call. An earlier pass lacks the entries that arrived after its start. */
  const begun = new Set<string>();
  const whole = new Set<string>();
  let failure: unknown;
  let left = Math.floor(MOST_CALLS / CALLS_OF_ENTRY / nodes.length);
  for (let open = nodes; open.length > 0; ) {
    if (left <= 0) throw new Error(leftText(open));
    const walked: Walked[] = [];
    for (const answer of await Promise.allSettled(open.map((node) => walk(node, places, after))))
      if (answer.status === 'fulfilled') walked.push(answer.value);
      else failure ??= answer.reason;
    if (whole.size + walked.length < quorumOf(nodes.length))
      throw failure ?? new Error(prunedText(after, nodes.length));
    const { chosen, decided } = await readParts(ports, walked, Math.min(READS_AT_ONCE, left));
    const [unshown] = decided.unshown;
    if (unshown) throw new Error(unshownText(unshown.signature, nodes.length));
    if (decided.spends.length > 0) return decided.spends;
    left -= chosen + 1;
    for (const { node, part, isProven } of walked) {
      // A pass that ends above the slot proves nothing, so its newest entry does not become a head.
      const isUnproven = isPassed(part) && !isProven;
      places.set(node.id, isUnproven ? againFrom(part.place) : placeAfter(part, decided.shown));
      if (!part.place.cursor) begun.add(node.id);
    }
    const ids = new Set(nodes.map(({ id }) => id));
    journal.setMeta(key, JSON.stringify(Object.fromEntries([...places].filter(([id]) => ids.has(id)))));
    const ended = walked.filter(({ node, part }) => isPassed(part) && begun.has(node.id));
    for (const { node, isProven } of ended) if (isProven) whole.add(node.id);
    open = walked.filter((each) => !ended.includes(each)).map(({ node }) => node);
  }
  if (whole.size < quorumOf(nodes.length)) throw new Error(prunedText(after, nodes.length));
  return [];
}

/** Reads one node's list. A list that ends above the slot may have been pruned there. */
async function walk(node: HistoryNode, places: ReadonlyMap<string, Place>, after: bigint): Promise<Walked> {
  const part = await partBelow(node, places.get(node.id) ?? {}, ({ slot }) => slot <= after);
  return { node, part, isProven: !part.isListEnd || (await node.firstAvailableBlock()) <= after };
}

async function readParts(ports: SpendPorts, walked: readonly Walked[], most: number) {
  const parts = walked.map(({ part }) => part);
  const chosen = new Set<string>();
  takeInTurn(parts, chosen, most, ({ signature }) => !ports.isExplained(signature));
  const listed = parts.flatMap(({ entries }) => entries);
  const entries = new Map<string, Listed>(listed.map((entry) => [entry.signature, entry]));
  const read = [...chosen].flatMap((signature) => entries.get(signature) ?? []);
  return { chosen: chosen.size, decided: await decideEntries(ports, read, listed) };
}

const leftText = (nodes: readonly HistoryNode[]): string =>
  `More transactions of the reserve are listed by ${nodes.map(({ name }) => name).join(', ')}. ` +
  'Repeat the command: it continues. If the list of one node alone never ends, that node invents transactions: replace it.';

const unshownText = (signature: string, nodes: number): string =>
  `Transaction ${signature} is listed by a node, but ${quorumOf(nodes)} of ${nodes} nodes must show it. Try again in a minute. ` +
  'If this message stays, one node keeps too little history or invents transactions: replace it, or add a third node.';

const prunedText = (after: bigint, nodes: number): string =>
  `${quorumOf(nodes)} of ${nodes} nodes must keep the history since slot ${after}. Replace those that keep less.`;
