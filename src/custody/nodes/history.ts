/**
 * The lists of an address's transactions, one per node. A node may hide or invent entries. So a listed transaction is
 * read again from a quorum before it moves money. Only the lists of a quorum prove that none is missing.
 * @module
 */
import { upstreamFailed } from '../../core/errors.ts';
import { isUnsupportedVersion, type SignatureEntry, type SolanaNode } from '../../providers/solana-rpc.ts';
import { MAX_NODE_LAG } from './finality.ts';
import { quorumOf, valuesOf } from './quorum.ts';

/** A part of a list, newest first. */
type Page = { readonly limit: number; readonly before?: string };

export type Listed = Pick<SignatureEntry, 'signature' | 'slot'>;

export type HistoryNode = {
  /** Derived from the node's URL, so that data stored about a node never belongs to another node in its place. */
  readonly id: string;
  readonly name: string;
  /** Finalized signatures of the reserve, newest first. @throws AppError UPSTREAM_FAILED */
  signatures(page: Page): Promise<SignatureEntry[]>;
  /** The oldest slot of the node's history; 0 if it keeps all history. @throws AppError UPSTREAM_FAILED */
  firstAvailableBlock(): Promise<bigint>;
};

export type History = {
  readonly nodes: readonly HistoryNode[];
  /** Whether a quorum proves that a listed transaction does not exist. @throws AppError UPSTREAM_FAILED */
  isAbsent(entry: Listed): Promise<boolean>;
};

export const historyOf = (nodes: readonly SolanaNode[], address: string): History => ({
  nodes: nodes.map((node) => ({
    id: node.id,
    name: node.name,
    signatures: (page) => node.signaturesFor(address, { ...page, commitment: 'finalized' }),
    firstAvailableBlock: () => node.firstAvailableBlock(),
  })),
  isAbsent: (entry) => isProven(nodes.map((node) => lacks(node, entry))),
});

/**
 * Whether a node's finalized history spans the transaction's slot but lacks the transaction. A slot far above a node's
 * finalized slot does not exist either.
 */
async function lacks(node: SolanaNode, { signature, slot }: Listed): Promise<boolean> {
  const { slot: finalized } = await node.epochInfo('finalized');
  if (slot > finalized && slot < finalized + MAX_NODE_LAG) return false;
  if ((await node.firstAvailableBlock()) > slot) return false;
  return (await node.transaction(signature, 'finalized')) === null;
}

/**
 * Whether a quorum of nodes proves a fact. Once the other nodes have decided, a hanging node is not awaited.
 * @param checks one for each node; a failed check proves nothing
 */
export function isProven(checks: readonly Promise<boolean>[]): Promise<boolean> {
  const quorum = quorumOf(checks.length);
  let proofs = 0;
  let left = checks.length;
  return new Promise((resolve) => {
    const decide = () => {
      if (proofs >= quorum) resolve(true);
      else if (proofs + left < quorum) resolve(false);
    };
    const take = (holds: boolean) => {
      left -= 1;
      if (holds) proofs += 1;
      decide();
    };
    for (const check of checks) check.then(take, () => take(false));
    decide();
  });
}

/**
 * The value, or `unreadable` for a transaction of an unsupported version, so that a search continues after it. Anyone
 * can send such transactions to our addresses, but we never sign them.
 */
export async function orUnreadable<T>(read: Promise<T>): Promise<T | 'unreadable'> {
  try {
    return await read;
  } catch (error) {
    if (isUnsupportedVersion(error)) return 'unreadable';
    throw error;
  }
}

/**
 * The results of the nodes that respond.
 * @param least minimum number of nodes: a quorum if the absence of an entry matters
 * @throws the first failure when fewer nodes respond
 */
export async function readLists<T>(
  { nodes }: Pick<History, 'nodes'>,
  least: number,
  read: (node: HistoryNode) => Promise<T>,
): Promise<T[]> {
  const answers = await Promise.allSettled(nodes.map(read));
  const lists = valuesOf(answers);
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (lists.length < Math.max(least, 1)) throw failed?.reason ?? new Error('no Solana node is configured');
  return lists;
}

const PAGE = 1_000;

/** Failure reason: the node no longer lists the entry at which the list continues. */
export const LIST_CHANGED = 'list_changed';

/** Where a list continues. The next page is read below `before`, and must start with `first`, the last entry read. */
export type Cursor = { readonly before: string; readonly first: string };

type ReadPage = (page: Page) => Promise<readonly SignatureEntry[]>;

/**
 * One page of a list of transactions, newest first. It repeats the last entry of the previous page. So an empty page
 * from a machine that lacks this entry is never taken for the end of the list.
 * @param cursor continues an earlier page
 * @returns new entries, and where the list continues; undefined at its end
 * @throws AppError UPSTREAM_FAILED
 */
export async function pageDown(
  read: ReadPage,
  cursor: Cursor | undefined,
): Promise<{ readonly entries: readonly SignatureEntry[]; readonly next: Cursor | undefined }> {
  const page = await read({ limit: PAGE, ...(cursor ? { before: cursor.before } : {}) });
  if (cursor && page[0]?.signature !== cursor.first) throw upstreamFailed('solana-rpc', LIST_CHANGED);
  const [before, first] = page.slice(-2);
  return {
    entries: cursor ? page.slice(1) : page,
    next:
      page.length >= PAGE && before && first
        ? { before: before.signature, first: first.signature }
        : undefined,
  };
}

/** @param pages maximum number of pages */
export async function* pagesDown(
  read: ReadPage,
  pages: number,
  from?: Cursor,
): AsyncGenerator<Awaited<ReturnType<typeof pageDown>>> {
  let cursor = from;
  for (let count = 0; count < pages; count++) {
    const page = await pageDown(read, cursor);
    cursor = page.next;
    yield page;
    if (!cursor) return;
  }
}

export function unionOf(lists: readonly (readonly SignatureEntry[])[]): SignatureEntry[] {
  const found = new Map<string, SignatureEntry>();
  for (const entry of lists.flat()) if (!found.has(entry.signature)) found.set(entry.signature, entry);
  // The sort is stable, so transactions of one slot keep their node's order.
  return [...found.values()].toSorted((a, b) => (a.slot === b.slot ? 0 : a.slot > b.slot ? -1 : 1));
}
