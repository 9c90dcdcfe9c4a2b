/**
 * The reserve's transactions as each node lists them. A single node may leave one out, so what must be read is the union
 * of the lists, and "nothing more" needs the lists of a quorum.
 * @module
 */
import type { SignatureEntry } from '../../providers/solana-rpc.ts';

export type HistoryPage = { readonly limit: number; readonly before?: string; readonly until?: string };

export type HistoryNode = {
  readonly name: string;
  /** Finalized signatures of the reserve, newest first. @throws AppError UPSTREAM_FAILED */
  signatures(page: HistoryPage): Promise<SignatureEntry[]>;
};

export type History = {
  readonly nodes: readonly HistoryNode[];
  /** Whether a quorum proves that a listed transaction does not exist. @throws AppError UPSTREAM_FAILED */
  isAbsent(entry: Pick<SignatureEntry, 'signature' | 'slot'>): Promise<boolean>;
};

/**
 * The lists of the nodes that answer.
 * @param least nodes that must answer: a quorum where something follows from what is not listed
 * @throws the first failure when fewer answer
 */
export async function readLists(
  { nodes }: Pick<History, 'nodes'>,
  least: number,
  read: (node: HistoryNode) => Promise<SignatureEntry[]>,
): Promise<SignatureEntry[][]> {
  const answers = await Promise.allSettled(nodes.map(read));
  const lists = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (lists.length < Math.max(least, 1)) throw failed?.reason ?? new Error('no Solana node is configured');
  return lists;
}

/** All that one list or another holds, newest first. */
export function unionOf(lists: readonly (readonly SignatureEntry[])[]): SignatureEntry[] {
  const found = new Map<string, SignatureEntry>();
  for (const entry of lists.flat()) if (!found.has(entry.signature)) found.set(entry.signature, entry);
  // The sort is stable, so transactions of one slot stay in the order of their node.
  return [...found.values()].toSorted((a, b) => (a.slot === b.slot ? 0 : a.slot > b.slot ? -1 : 1));
}
