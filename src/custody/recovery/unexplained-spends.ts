/**
 * Finds transactions that no row explains: those that the reserve's key signed, and those that took watched tokens or
 * minted without its signature. SOL is covered too, because the reserve's account pays only with that signature.
 * @module
 */
import { lamportsGained, memoText } from '../../chain/solana/transaction.ts';
import type { ChainTransaction, SignatureEntry, TokenRow } from '../../providers/solana-rpc.ts';
import {
  type History,
  type HistoryNode,
  type Listed,
  orUnreadable,
  pagesDown,
  readLists,
} from '../nodes/history.ts';
import { quorumOf } from '../nodes/quorum.ts';
import type { Moved, UnexplainedSpend } from '../operator-api.ts';

/** What other keys than the reserve's can move. */
export type Watched = {
  /** The account that pays ASRY and the multisig that mints ABSR. Other keys may use them too. */
  readonly accounts: readonly string[];
  /** Mint whose supply only rows may raise; undefined if none is configured. */
  readonly mint?: string | undefined;
};

export type SpendPorts = {
  readonly reserveAddress: string;
  readonly watched?: Watched;
  /** The transactions of the reserve and of each watched account. */
  readonly histories: readonly [History, ...History[]];
  /** A finalized transaction of any version, or null while no quorum of nodes shows it. */
  transaction(signature: string): Promise<ChainTransaction | null>;
  isExplained(signature: string): boolean;
};

export type SpendSearch = {
  /** Oldest first. */
  readonly spends: readonly UnexplainedSpend[];
  readonly unshown: readonly Listed[];
  /** Entries whose version or JSON this release cannot read. None is ours; some may be a thief's. */
  readonly unreadable: readonly Listed[];
  /** Entries that this search has decided, so later searches need not read them. */
  readonly read: readonly Listed[];
  readonly left: readonly Listed[];
  /** Number of entries without an explaining row that earlier searches have not decided. */
  readonly listed: number;
};

/** Highest cost in lamports of a transaction of ours that fails on the chain; a creation's fee is 14,000. */
const MOST_FEE = 20_000n;
/** Maximum entries read from each node's list, newest first. Anyone can add entries to it. */
const MAX_LISTED = 20_000;

type Earlier = {
  /** Entries from earlier searches, which are read again. */
  readonly waiting: readonly Listed[];
  /** Signatures that earlier searches have decided. */
  readonly read: ReadonlySet<string>;
};

/**
 * Rows do not list failed attempts, so a failed transaction is a spend only if its fee is higher than any fee of ours.
 * @param reads maximum number of listed transactions that are read
 * @throws AppError UPSTREAM_FAILED while fewer nodes than a quorum list
 */
export async function searchSpends(
  ports: SpendPorts,
  after: bigint,
  reads: number,
  { waiting, read: known }: Earlier,
): Promise<SpendSearch> {
  const { histories, isExplained } = ports;
  // One node may omit an entry that another lists, so the lists of a quorum are combined.
  const all = histories.map((each) =>
    readLists(each, quorumOf(each.nodes.length), (node) => listOf(node, after)),
  );
  const lists = (await Promise.all(all)).flat();
  const isNew = ({ signature }: Listed): boolean =>
    !isExplained(signature) && !known.has(signature) && !waiting.some((each) => each.signature === signature);
  const entries = inTurn(lists).filter(isNew);
  const decided = await decideEntries(ports, [...waiting, ...entries.slice(0, reads)], lists.flat());
  return {
    ...decided,
    left: entries.slice(reads),
    listed: entries.length,
  };
}

type Decided = Pick<SpendSearch, 'spends' | 'unshown' | 'unreadable' | 'read'> & {
  /** Signature and slot of the transactions that a quorum has shown. */
  readonly shown: ReadonlyMap<string, bigint>;
};

/**
 * Reads listed transactions and decides which are unexplained spends.
 * @param listed all entries of the lists, for the memos
 */
export async function decideEntries(
  ports: SpendPorts,
  entries: readonly Listed[],
  listed: readonly SignatureEntry[],
): Promise<Decided> {
  const [history] = ports.histories;
  const spends = new Map<string, UnexplainedSpend>();
  const unshown: Listed[] = [];
  const unreadable: Listed[] = [];
  const read: Listed[] = [];
  const shown = new Map<string, bigint>();
  for (const entry of entries) {
    const transaction = await orUnreadable(ports.transaction(entry.signature)).catch(() => null);
    if (transaction === 'unreadable') unreadable.push(entry);
    else if (transaction === null || isUndecided(transaction, ports)) {
      if (transaction || !(await history.isAbsent(entry).catch(() => false))) unshown.push(entry);
      else read.push(entry);
    } else {
      read.push(entry);
      shown.set(entry.signature, transaction.slot);
      // A node may list a transaction by another of its signatures.
      if (isSpend(transaction, ports) && !ports.isExplained(transaction.signature))
        spends.set(transaction.signature, spendOf(transaction, memosOf(listed, entry.signature), ports));
    }
  }
  return { spends: [...spends.values()], unshown, unreadable, read, shown };
}

/** True if tokens may have moved without the reserve's signature, but no quorum agrees on the token balances. */
const isUndecided = (
  { signers, failed, preTokens, postTokens }: ChainTransaction,
  { reserveAddress, watched }: SpendPorts,
): boolean =>
  ((watched?.accounts ?? []).length > 0 || watched?.mint !== undefined) &&
  !failed &&
  !signers.includes(reserveAddress) &&
  (preTokens === null || postTokens === null);

/** Atoms by which a transaction changed the sum of the token balances that `isCounted` selects. */
function tokenChange(
  { preTokens, postTokens }: ChainTransaction,
  isCounted: (row: TokenRow) => boolean,
): bigint {
  const sum = (rows: readonly TokenRow[] | null): bigint =>
    (rows ?? []).filter(isCounted).reduce((total, { atoms }) => total + atoms, 0n);
  return sum(postTokens) - sum(preTokens);
}

function isSpend(transaction: ChainTransaction, { reserveAddress, watched }: SpendPorts): boolean {
  const { signers, failed, fee } = transaction;
  if (signers.includes(reserveAddress)) return !failed || fee > MOST_FEE;
  const isTaken = (account: string): boolean =>
    tokenChange(transaction, (row) => row.account === account) < 0n;
  const minted = tokenChange(transaction, ({ mint }) => mint === watched?.mint);
  return (watched?.accounts ?? []).some(isTaken) || minted > 0n;
}

/** The transactions after a slot in one node's list of the reserve or of a watched account, newest first. */
async function listOf(node: HistoryNode, after: bigint): Promise<SignatureEntry[]> {
  const listed: SignatureEntry[] = [];
  for await (const { entries } of pagesDown((page) => node.signatures(page), Number.POSITIVE_INFINITY)) {
    listed.push(...entries.filter(({ slot }) => slot > after));
    if (listed.length >= MAX_LISTED || entries.some(({ slot }) => slot <= after)) break;
  }
  return listed;
}

/**
 * Oldest first, alternating between the nodes' lists, so a node that invents entries uses only its share of the reads.
 */
function inTurn(lists: readonly (readonly SignatureEntry[])[]): SignatureEntry[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  const found = new Map<string, SignatureEntry>();
  for (let turn = 0; turn < longest; turn++)
    for (const list of lists) {
      const entry = list.at(-1 - turn);
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

const spendOf = (
  transaction: ChainTransaction,
  memos: readonly string[],
  ports: SpendPorts,
): UnexplainedSpend => ({
  signature: transaction.signature,
  time: transaction.blockTime === null ? null : new Date(transaction.blockTime * 1_000).toISOString(),
  signedByReserve: transaction.signers.includes(ports.reserveAddress),
  moved: [...solMoved(transaction, ports.reserveAddress), ...tokensMoved(transaction, ports)],
  memo: memos.join(' | ') || null,
});

function solMoved(transaction: ChainTransaction, reserve: string): Moved[] {
  const lost = -lamportsGained(transaction, reserve);
  if (lost <= 0n) return [];
  const gains = transaction.accounts.map((account) => ({
    owner: account,
    gain: lamportsGained(transaction, account),
  }));
  return [{ mint: null, atoms: lost.toString(), receiver: mostGained(gains) }];
}

/**
 * Tokens that left an account of the reserve or a watched account, were minted, or came from an account that it may
 * spend from.
 */
function tokensMoved(transaction: ChainTransaction, { reserveAddress, watched }: SpendPorts): Moved[] {
  const rows = [...(transaction.preTokens ?? []), ...(transaction.postTokens ?? [])];
  const owners = new Set(rows.map(({ owner }) => owner));
  return [...new Set(rows.map(({ mint }) => mint))].flatMap((mint) => {
    const changeOf = (isCounted: (row: TokenRow) => boolean): bigint =>
      tokenChange(transaction, (row) => row.mint === mint && isCounted(row));
    const gains = [...owners].map((owner) => ({ owner, gain: changeOf((row) => row.owner === owner) }));
    const isOwn = ({ owner, account }: TokenRow): boolean =>
      owner === reserveAddress || watched?.accounts.includes(account) === true;
    const own = changeOf(isOwn);
    const total = gains.reduce((sum, { gain }) => (gain > 0n ? sum + gain : sum), 0n);
    const atoms = own < 0n ? -own : total;
    return atoms > 0n ? [{ mint, atoms: atoms.toString(), receiver: mostGained(gains) }] : [];
  });
}

const mostGained = (
  gains: readonly { readonly owner: string | null; readonly gain: bigint }[],
): string | null =>
  gains.filter(({ gain }) => gain > 0n).toSorted((one, other) => Number(other.gain - one.gain))[0]?.owner ??
  null;
