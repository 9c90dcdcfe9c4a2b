/**
 * Finds the transactions that the reserve signed and no row explains.
 * @module
 */
import { lamportsChange, memoText } from '../../chain/solana/transaction.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import { type History, type HistoryNode, quorumOf, readLists, unionOf } from '../kernel/quorum.ts';
import { orUnreadable } from '../kernel/solana-view.ts';

export type SpendPorts = {
  readonly reserveAddress: string;
  readonly history: History;
  /** A finalized transaction, or null while no quorum of nodes shows it. */
  transaction(signature: string): Promise<ChainTransaction | null>;
  /** Whether a row has this signature. */
  isExplained(signature: string): boolean;
};

export type UnexplainedSpend = {
  readonly signature: string;
  /** ISO 8601; null if no quorum of nodes gives the block's time. */
  readonly time: string | null;
  /** Lamports that left the reserve, with the fee; negative when more came in. */
  readonly lamports: string;
  readonly memo: string | null;
};

const CHAIN_PAGE = 100;
/** Maximum entries read from each node's list. Anyone can add entries to it. */
const MAX_CHECKED = 1_000;

/**
 * The successful transactions of the reserve that no row explains, newest first. A failed one costs only its fee.
 * @param after slot after which transactions are searched
 * @throws AppError UPSTREAM_FAILED; Error while a listed transaction has no quorum, or when too many are listed
 */
export async function unexplainedSpends(ports: SpendPorts, after: bigint): Promise<UnexplainedSpend[]> {
  const { history, reserveAddress, isExplained } = ports;
  const quorum = quorumOf(history.nodes.length);
  // One node may omit what another lists, so the lists of a quorum are combined.
  const lists = await readLists(history, quorum, (node) => listOf(node, after));
  const found: UnexplainedSpend[] = [];
  for (const entry of unionOf(lists)) {
    const { signature } = entry;
    if (isExplained(signature)) continue;
    const transaction = await orUnreadable(ports.transaction(signature));
    if (transaction === 'unreadable' || (!transaction && (await history.isAbsent(entry)))) continue;
    if (!transaction) throw new Error(unshown(signature, history.nodes.length, quorum));
    if (transaction.signers[0] !== reserveAddress || transaction.failed) continue;
    // A node may list a transaction by another of its signatures.
    if (isExplained(transaction.signature)) continue;
    found.push(spendOf(transaction, memosOf(lists.flat(), signature), reserveAddress));
  }
  return found;
}

/** One node's list of the reserve's transactions after a slot, newest first. */
async function listOf(node: HistoryNode, after: bigint): Promise<SignatureEntry[]> {
  const listed: SignatureEntry[] = [];
  while (listed.length < MAX_CHECKED) {
    const before = listed.at(-1)?.signature;
    const page = await node.signatures({
      limit: CHAIN_PAGE,
      ...(before === undefined ? {} : { before }),
    });
    listed.push(...page.filter(({ slot }) => slot > after));
    if (page.length < CHAIN_PAGE || page.some(({ slot }) => slot <= after)) return listed;
  }
  throw new Error(`More than ${MAX_CHECKED} transactions of the reserve are listed after slot ${after}.`);
}

/** The memos that the nodes list for a transaction; honest nodes list the same one. */
const memosOf = (listed: readonly SignatureEntry[], signature: string): string[] => {
  const memos = listed.flatMap((entry) =>
    entry.signature === signature ? (memoText(entry.memo) ?? []) : [],
  );
  return [...new Set(memos)];
};

const unshown = (signature: string, nodes: number, quorum: number): string =>
  `Transaction ${signature} is listed by a node, but ${quorum} of ${nodes} nodes must show it. Try again in a minute. ` +
  'If this stays, one node keeps too little history or invents transactions: replace it, or add a third node.';

const spendOf = (
  transaction: ChainTransaction,
  memos: readonly string[],
  reserve: string,
): UnexplainedSpend => ({
  signature: transaction.signature,
  time: transaction.blockTime === null ? null : new Date(transaction.blockTime * 1_000).toISOString(),
  lamports: (-(lamportsChange(transaction, reserve) ?? 0n)).toString(),
  memo: memos.join(' | ') || null,
});
