/**
 * Completes a journal that was lost or rolled back. Every row that is newer in D1 is restored, and everything that is
 * still open is held for the operator. Transactions of the reserve that no row explains are reported; no operation is
 * created from them. Only the operator starts a reconciliation.
 * @module
 */
import { lamportsChange, memoText } from '../../chain/solana/transaction.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import { isSuspect, type JournalCheckPorts } from './journal-integrity.ts';
import type { CustodyModule } from './module.ts';
import { answeredPayment, decodeOperation, isTerminal } from './operation.ts';
import { eachRecord } from './outbox.ts';
import type { Storage } from './ports.ts';
import { type HistoryNode, quorumOf, readLists, unionOf } from './quorum.ts';
import { held } from './reason.ts';
import { orUnreadable } from './solana-view.ts';

export type ReconcilePorts = Omit<JournalCheckPorts, 'log' | 'transaction' | 'balance'> & {
  readonly storage: Storage;
  /** A finalized transaction, or null while no quorum of nodes shows it. */
  transaction(signature: string): Promise<ChainTransaction | null>;
  readonly modules: readonly CustodyModule[];
};

/** A transaction that the reserve signed and no row of the journal explains, for the operator. */
export type UnexplainedTransaction = {
  readonly signature: string;
  /** ISO 8601; null if no quorum of nodes gives the block's time. */
  readonly time: string | null;
  /** Lamports that left the reserve, with the fee; negative when more came in. */
  readonly lamports: string;
  readonly memo: string | null;
  /** What the transaction seems to be, in words. */
  readonly seems: string;
};

export type Reconciled = {
  /** Rows taken from D1. */
  readonly restored: number;
  /** Signatures checked on the chain. */
  readonly checked: number;
  /** The unexplained transactions, newest first. */
  readonly unexplained: readonly UnexplainedTransaction[];
};

const CHAIN_PAGE = 100;
/**
 * Maximum entries read from each node's list. Rows of older transactions reached D1 long ago.
 */
const MAX_CHECKED = 1_000;

/**
 * @throws AppError UPSTREAM_FAILED, or when D1 cannot be read; a failed run can simply be repeated
 */
export async function reconcile(p: ReconcilePorts): Promise<Reconciled> {
  const { journal, storage, now } = p;
  // D1 ignores a row whose revision is not above its own, so every row written here takes a higher one.
  journal.adoptRevision(await p.mirror.mark());
  const restored = await restoreRows(p);
  const { checked, found } = await findUnexplained(p);
  if (isSuspect(journal)) {
    storage.transaction(() => {
      for (const { transaction, memos } of found)
        for (const memo of memos) journal.block(memo, transaction.signature, now());
      holdOpen(p);
    });
  }
  await storage.sync();
  return { restored, checked, unexplained: found.map((each) => describe(each, p.reserveAddress)) };
}

/**
 * Requests and claims come first, because a payment must be recorded as used by them, not by the operation of its
 * reward or refund.
 */
async function restoreRows({ journal, storage, mirror, modules, now }: ReconcilePorts): Promise<number> {
  let restored = 0;
  for (const { table, restore } of modules.flatMap(({ mirrored }) => mirrored ?? []))
    await eachRecord(mirror, table, (text) => {
      if (storage.transaction(() => restore(text))) restored++;
    });
  await eachRecord(mirror, 'operation', (text) => {
    if (journal.restore(decodeOperation(text), now())) restored++;
  });
  return restored;
}

/**
 * D1 may lack the last changes, so an operation may have been signed, or signed again, without a trace in its row. One
 * that has landed needs no further signature and continues.
 */
function holdOpen({ journal, modules, now }: ReconcilePorts): void {
  for (const module of modules) module.hold?.();
  for (const operation of journal.open())
    if (operation.state === 'planned' || operation.state === 'signed')
      journal.update(operation, { ...operation, reason: held('reconciled') }, now());
}

/**
 * Blocks a restored debt (a reward or refund) whose row contradicts its operations. Either D1 has an operation with a
 * higher number than the row records, or an operation is still open that the row does not show as paying.
 * @param known  number of operations that were started according to the row
 * @param paying ids of the operations that pay the debt according to its rows
 */
export function blockContradicted(
  { journal, now }: Pick<ReconcilePorts, 'journal' | 'now'>,
  idOf: (number: number) => string,
  known: number,
  paying: readonly (string | null)[],
): void {
  for (let number = 1; number <= known + 1; number++) {
    const operation = journal.get(idOf(number));
    if (operation && (number > known || (!isTerminal(operation) && !paying.includes(operation.id))))
      journal.block(operation.id, operation.id, now());
  }
}

type Found = { readonly transaction: ChainTransaction; readonly memos: readonly string[] };

/** The successful transactions of the reserve that belong to no row of the journal, newest first. */
async function findUnexplained(p: ReconcilePorts): Promise<{ checked: number; found: readonly Found[] }> {
  const { nodes, isAbsent } = p.history;
  const quorum = quorumOf(nodes.length);
  // One node may omit what another lists, so the lists of a quorum are combined.
  const lists = await readLists(p.history, quorum, listOf);
  const entries = unionOf(lists);
  const found: Found[] = [];
  for (const entry of entries) {
    const { signature } = entry;
    if (p.journal.bySignature(signature)) continue;
    const transaction = await orUnreadable(p.transaction(signature));
    if (transaction === 'unreadable' || (!transaction && (await isAbsent(entry)))) continue;
    if (!transaction) throw new Error(unshown(signature, nodes.length, quorum));
    if (transaction.signers[0] !== p.reserveAddress || transaction.failed) continue;
    // A node may list a transaction by another of its signatures.
    if (p.journal.bySignature(transaction.signature)) continue;
    found.push({ transaction, memos: memosOf(lists.flat(), signature) });
  }
  return { checked: entries.length, found };
}

/** One node's list of the reserve's transactions, newest first, up to the limit of one run. */
async function listOf(node: HistoryNode): Promise<SignatureEntry[]> {
  const listed: SignatureEntry[] = [];
  while (listed.length < MAX_CHECKED) {
    const before = listed.at(-1)?.signature;
    const page = await node.signatures({
      limit: CHAIN_PAGE,
      ...(before === undefined ? {} : { before }),
    });
    listed.push(...page);
    if (page.length < CHAIN_PAGE) break;
  }
  return listed;
}

/** The memos that the nodes list for a transaction; honest nodes list the same one. */
const memosOf = (listed: readonly SignatureEntry[], signature: string): string[] => {
  const memos = listed.flatMap((entry) =>
    entry.signature === signature ? (memoText(entry.memo) ?? []) : [],
  );
  return [...new Set(memos)];
};

const unshown = (signature: string, nodes: number, quorum: number): string =>
  `Transaction ${signature} is listed by a node, but ${quorum} of ${nodes} nodes must show it. Run reconcile again in a ` +
  'minute. If this stays, one node keeps too little history or invents transactions: replace it, or add a third node.';

function describe({ transaction, memos }: Found, reserve: string): UnexplainedTransaction {
  const { signature, blockTime } = transaction;
  return {
    signature,
    time: blockTime === null ? null : new Date(blockTime * 1_000).toISOString(),
    lamports: (-(lamportsChange(transaction, reserve) ?? 0n)).toString(),
    memo: memos.join(' | ') || null,
    seems: seemingOf(transaction, memos, reserve),
  };
}

function seemingOf(transaction: ChainTransaction, memos: readonly string[], reserve: string): string {
  const answered = memos.map(answeredPayment).find((each) => each !== undefined);
  if (answered) return `answers payment ${answered.payment}; nothing more is paid for ${answered.use}`;
  const created = createdToken(transaction);
  if (created) return `creates ${created.atoms} atoms of the token ${created.mint}`;
  const sent = -(lamportsChange(transaction, reserve) ?? 0n) - transaction.fee;
  const receivers = transaction.accounts.filter((account) => lamportsChange(transaction, account) === sent);
  return sent > 0n && receivers.length === 1
    ? `sends ${sent} lamports to ${receivers[0]}: a swap, or a transfer by hand`
    : 'unknown: look at it in an explorer';
}

/** The token whose total over all accounts of the transaction has grown, and by how many atoms. */
function createdToken({
  preTokens,
  postTokens,
}: ChainTransaction): { mint: string; atoms: bigint } | undefined {
  const change = new Map<string, bigint>();
  for (const { mint, atoms } of postTokens ?? []) change.set(mint, (change.get(mint) ?? 0n) + atoms);
  for (const { mint, atoms } of preTokens ?? []) change.set(mint, (change.get(mint) ?? 0n) - atoms);
  const [mint, atoms = 0n] = [...change].find(([, more]) => more > 0n) ?? [];
  return mint === undefined ? undefined : { mint, atoms };
}
