/**
 * Finds the transactions that the reserve's key signed and that no row explains.
 * @module
 */
import { lamportsChange, memoText } from '../../chain/solana/transaction.ts';
import type { ChainTransaction, SignatureEntry, TokenRow } from '../../providers/solana-rpc.ts';
import { type History, type HistoryNode, quorumOf, readLists } from '../kernel/quorum.ts';
import { orUnreadable } from '../kernel/solana-view.ts';

export type SpendPorts = {
  readonly reserveAddress: string;
  readonly history: History;
  /** A finalized transaction of any version, or null while no quorum of nodes shows it. */
  transaction(signature: string): Promise<ChainTransaction | null>;
  /** Whether a row has this signature. */
  isExplained(signature: string): boolean;
};

/** What an account of the reserve lost, or what was minted. */
export type Moved = {
  /** Mint of the token; null for SOL. */
  readonly mint: string | null;
  /** Lamports including the fee, or atoms. */
  readonly atoms: string;
  /** Owner of the account that gained most; null if none gained. */
  readonly receiver: string | null;
};

export type UnexplainedSpend = {
  readonly signature: string;
  /** ISO 8601; null if no quorum of nodes gives the block's time. */
  readonly time: string | null;
  readonly moved: readonly Moved[];
  readonly memo: string | null;
};

export type SpendSearch = {
  /** Oldest first. */
  readonly spends: readonly UnexplainedSpend[];
  /** Entries without a decision: no quorum shows them, or this search had no reads left. */
  readonly undecided: readonly SignatureEntry[];
  /** Number of entries that no row explains. */
  readonly listed: number;
};

/** The most lamports that one of our transactions costs if it fails on the chain; a creation's fee is 14,000. */
const MOST_FEE = 20_000n;
const CHAIN_PAGE = 1_000;
/** Maximum entries read from each node's list, newest first. Anyone can add entries to it. */
const MAX_LISTED = 20_000;

/**
 * The transactions that the reserve signed and that no row explains. A row does not name its attempts that failed on
 * the chain, so a failed transaction is ignored unless its fee is higher than any of ours.
 * @param after slot after which transactions are searched
 * @param reads maximum number of transactions that are read
 * @param run   number of the search: after a part of each list, the next run reads the next part
 * @throws AppError UPSTREAM_FAILED while fewer nodes than a quorum list
 */
export async function searchSpends(
  ports: SpendPorts,
  after: bigint,
  reads: number,
  run = 0,
): Promise<SpendSearch> {
  const { history, reserveAddress, isExplained } = ports;
  // One node may omit what another lists, so the lists of a quorum are combined.
  const lists = await readLists(history, quorumOf(history.nodes.length), (node) => listOf(node, after));
  const entries = inTurn(lists, run * reads).filter(({ signature }) => !isExplained(signature));
  const spends: UnexplainedSpend[] = [];
  const undecided = entries.slice(reads);
  for (const entry of entries.slice(0, reads)) {
    const transaction = await orUnreadable(ports.transaction(entry.signature)).catch(() => null);
    if (transaction === 'unreadable') continue;
    if (!transaction) {
      if (!(await history.isAbsent(entry).catch(() => false))) undecided.push(entry);
      continue;
    }
    const { signature, signers, failed, fee } = transaction;
    // A node may list a transaction under another of its signatures.
    if (!signers.includes(reserveAddress) || isExplained(signature)) continue;
    if (failed && fee <= MOST_FEE) continue;
    if (!spends.some((found) => found.signature === signature))
      spends.push(spendOf(transaction, memosOf(lists.flat(), entry.signature), reserveAddress));
  }
  return { spends, undecided, listed: entries.length };
}

/** Maximum transactions that one call of `unexplainedSpends` reads. */
const MAX_READS = 1_000;

/** Every unexplained spend after a slot. @throws also while a listed transaction is undecided */
export async function unexplainedSpends(
  ports: SpendPorts,
  after: bigint,
): Promise<readonly UnexplainedSpend[]> {
  const { spends, undecided, listed } = await searchSpends(ports, after, MAX_READS);
  if (listed > MAX_READS)
    throw new Error(`More than ${MAX_READS} transactions of the reserve are listed after slot ${after}.`);
  const [first] = undecided;
  if (first) throw new Error(unshown(first.signature, ports.history.nodes.length));
  return spends;
}

/** One node's list of the reserve's transactions after a slot, newest first. */
async function listOf(node: HistoryNode, after: bigint): Promise<SignatureEntry[]> {
  const listed: SignatureEntry[] = [];
  while (listed.length < MAX_LISTED) {
    const before = listed.at(-1)?.signature;
    const page = await node.signatures({
      limit: CHAIN_PAGE,
      ...(before === undefined ? {} : { before }),
    });
    listed.push(...page.filter(({ slot }) => slot > after));
    if (page.length < CHAIN_PAGE || page.some(({ slot }) => slot <= after)) return listed;
  }
  return listed;
}

/**
 * Oldest first from a start, then the entries before it, alternating between the lists of the nodes: a node that invents
 * entries uses only its share of the reads.
 */
function inTurn(lists: readonly (readonly SignatureEntry[])[], start: number): SignatureEntry[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  const found = new Map<string, SignatureEntry>();
  for (let turn = 0; turn < longest; turn++)
    for (const list of lists) {
      const entry = turn < list.length ? list.at(-1 - ((start + turn) % list.length)) : undefined;
      if (entry && !found.has(entry.signature)) found.set(entry.signature, entry);
    }
  return [...found.values()];
}

/** The memos that the nodes list for a transaction; honest nodes list the same one. */
const memosOf = (listed: readonly SignatureEntry[], signature: string): string[] => {
  const memos = listed.flatMap((entry) =>
    entry.signature === signature ? (memoText(entry.memo) ?? []) : [],
  );
  return [...new Set(memos)];
};

const unshown = (signature: string, nodes: number): string =>
  `Transaction ${signature} is listed by a node, but ${quorumOf(nodes)} of ${nodes} nodes must show it. Try again in a minute. ` +
  'If this stays, one node keeps too little history or invents transactions: replace it, or add a third node.';

const spendOf = (
  transaction: ChainTransaction,
  memos: readonly string[],
  reserve: string,
): UnexplainedSpend => ({
  signature: transaction.signature,
  time: transaction.blockTime === null ? null : new Date(transaction.blockTime * 1_000).toISOString(),
  moved: [...solMoved(transaction, reserve), ...tokensMoved(transaction, reserve)],
  memo: memos.join(' | ') || null,
});

function solMoved(transaction: ChainTransaction, reserve: string): Moved[] {
  const lost = -(lamportsChange(transaction, reserve) ?? 0n);
  if (lost <= 0n) return [];
  const gains = transaction.accounts.map((account) => ({
    owner: account,
    gain: lamportsChange(transaction, account) ?? 0n,
  }));
  return [{ mint: null, atoms: lost.toString(), receiver: mostGained(gains) }];
}

/** Tokens that left the reserve's accounts, and tokens that were minted or came from an account it may spend. */
function tokensMoved({ preTokens, postTokens }: ChainTransaction, reserve: string): Moved[] {
  const before = preTokens ?? [];
  const after = postTokens ?? [];
  const mints = new Set([...before, ...after].map(({ mint }) => mint));
  return [...mints].flatMap((mint) => {
    const changeOf = (isCounted: (row: TokenRow) => boolean): bigint => {
      const sum = (rows: readonly TokenRow[]) =>
        rows
          .filter((row) => row.mint === mint && isCounted(row))
          .reduce((total, row) => total + row.atoms, 0n);
      return sum(after) - sum(before);
    };
    const owners = new Set([...before, ...after].map(({ owner }) => owner));
    const gains = [...owners].map((owner) => ({ owner, gain: changeOf((row) => row.owner === owner) }));
    const own = changeOf((row) => row.owner === reserve);
    const total = gains.reduce((sum, { gain }) => (gain > 0n ? sum + gain : sum), 0n);
    const atoms = own < 0n ? -own : total;
    return atoms > 0n ? [{ mint, atoms: atoms.toString(), receiver: mostGained(gains) }] : [];
  });
}

const mostGained = (
  gains: readonly { readonly owner: string | null; readonly gain: bigint }[],
): string | null =>
  gains
    .filter(({ gain }) => gain > 0n)
    .reduce<(typeof gains)[number] | undefined>(
      (most, next) => (most === undefined || next.gain > most.gain ? next : most),
      undefined,
    )?.owner ?? null;
