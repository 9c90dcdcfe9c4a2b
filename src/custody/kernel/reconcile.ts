/**
 * Rebuilds a journal that was restored or lost. It takes every row that is newer in the mirror, and every
 * transaction that the reserve signed on the chain and the journal lacks. Only the operator starts it;
 * afterwards signing may continue.
 * @module
 */
import { lamportsChange, memoText } from '../../chain/solana/transaction.ts';
import { type Lamports, lamports } from '../../core/amount.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import type { Journal } from './journal.ts';
import { isSuspect } from './journal-integrity.ts';
import type { CustodyModule } from './module.ts';
import { type Facts, namesConsumedBy, type Operation, plannedOperation } from './operation.ts';
import type { Mirror, Storage } from './ports.ts';
import { type History, type HistoryNode, quorumOf, readLists, unionOf } from './quorum.ts';
import { orUnreadable } from './solana-view.ts';
import { HELD_RECONCILED } from './state-machine.ts';

export type ReconcilePorts = {
  readonly journal: Journal;
  readonly storage: Storage;
  readonly mirror: Mirror;
  readonly reserveAddress: string;
  readonly history: History;
  /** A finalized transaction, or null while no quorum of nodes shows it. */
  transaction(signature: string): Promise<ChainTransaction | null>;
  readonly modules: readonly CustodyModule[];
  /**
   * Whether preparing a kind checks on the chain that the operation has not happened yet, so that it cannot
   * happen twice.
   */
  provesItself(kind: Operation['kind']): boolean;
  /** The row for a reserve transaction that no module recognizes. */
  adopt(transaction: ChainTransaction, now: number): Operation;
  readonly now: () => number;
};

/** The operation that a transaction carried out. */
export type Recognized = {
  readonly id: string;
  readonly kind: Operation['kind'];
  /** The plan for an operation without a row. */
  readonly plan: Facts;
  /** Lamports that it moved; if absent, everything that left except the fee. */
  readonly amount?: Lamports;
};

export type Reconciled = {
  /** Rows taken from the mirror. */
  readonly restored: number;
  /** Reserve transactions without a row in the journal. */
  readonly recovered: number;
  /** Signatures checked on the chain. */
  readonly checked: number;
};

const MIRROR_PAGE = 200;
const CHAIN_PAGE = 100;
/**
 * Entries read of each node's list, including other parties' payments. D1 received all older ones long ago.
 */
const MAX_CHECKED = 1_000;

/**
 * @throws AppError UPSTREAM_FAILED, or when the mirror cannot be read; a failed run can simply be repeated
 */
export async function reconcile(p: ReconcilePorts): Promise<Reconciled> {
  // The mirror ignores a row whose revision is not above its own, so every row written here takes a higher one.
  p.journal.adoptRevision(await p.mirror.highestRevision());
  let restored = 0;
  for (let after = ''; ; ) {
    const rows = await p.mirror.operationsAfter(after, MIRROR_PAGE);
    for (const row of rows) if (p.journal.restore(row, p.now())) restored++;
    const last = rows[rows.length - 1];
    if (!last || rows.length < MIRROR_PAGE) break;
    after = last.id;
  }
  for (const module of p.modules) restored += (await module.restore?.()) ?? 0;
  let recovered = 0;
  let checked = 0;
  // One node may omit what another lists, so the lists of a quorum are combined.
  const { nodes, isAbsent } = p.history;
  const quorum = quorumOf(nodes.length);
  for (const entry of unionOf(await readLists(p.history, quorum, listOf))) {
    const { signature, memo } = entry;
    checked++;
    if (p.journal.bySignature(signature)) continue;
    const transaction = await orUnreadable(p.transaction(signature));
    if (transaction === 'unreadable' || (!transaction && (await isAbsent(entry)))) continue;
    if (!transaction) throw new Error(unshown(signature, nodes.length, quorum));
    if (transaction.signers[0] !== p.reserveAddress || p.journal.bySignature(transaction.signature)) continue;
    recover(p, transaction, memo);
    recovered++;
  }
  if (isSuspect(p.journal)) {
    for (const operation of p.journal.open()) suspend(p, operation);
    for (const module of p.modules) module.holdSuspect?.();
  }
  await p.storage.sync();
  return { restored, recovered, checked };
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

const unshown = (signature: string, nodes: number, quorum: number): string =>
  `Transaction ${signature} is listed by a node, but ${quorum} of ${nodes} nodes must show it. Run reconcile again in a ` +
  'minute. If this stays, one node keeps too little history or invents transactions: replace it, or add a third node.';

/** Books a reserve transaction without a row: it landed, so its operation is done. */
function recover(p: ReconcilePorts, transaction: ChainTransaction, memo: string | null | undefined): void {
  const { journal, reserveAddress, now } = p;
  const onChain = landed(transaction, reserveAddress);
  p.storage.transaction(() => {
    const recognized = transaction.failed ? undefined : recognizedBy(p.modules, transaction, memoText(memo));
    if (!recognized) {
      const operation = { ...p.adopt(transaction, now()), ...onChain };
      journal.insert(operation);
      for (const name of namesConsumedBy(operation)) journal.consumeOnce(name, operation.id, now());
      return;
    }
    const { id, kind, plan } = recognized;
    const none = lamports(0n);
    const { debit, fee } = onChain.landing;
    const amount = recognized.amount ?? (debit > fee ? lamports(debit - fee) : none);
    const createdAt = transaction.blockTime === null ? now() : transaction.blockTime * 1_000;
    const own = journal.get(id);
    const row = own ?? plannedOperation({ id, kind, amount, reserved: none, plan, now: createdAt });
    const over = { state: 'done', detail: 'recovered', reason: null, dueAt: null } as const;
    const done = { ...row, ...over, ...onChain, reserved: none, unsettled: none };
    if (own) journal.update(own, done, now());
    else journal.insert(done);
  });
}

function recognizedBy(
  modules: readonly CustodyModule[],
  transaction: ChainTransaction,
  memo: string | undefined,
): Recognized | undefined {
  for (const module of modules) {
    const recognized = module.recognize?.(transaction, memo);
    if (recognized) return recognized;
  }
  return undefined;
}

/** The booked values of a landed reserve transaction. */
const landed = (transaction: ChainTransaction, reserve: string) => {
  const { signature, slot, blockTime } = transaction;
  return {
    releasedSlot: slot,
    signing: { signature, wire: '', slot, witnesses: [] },
    landing: {
      slot,
      blockTime,
      fee: lamports(transaction.fee),
      debit: lamports(-(lamportsChange(transaction, reserve) ?? 0n)),
    },
  };
};

/**
 * The mirror may lack the last changes. A planned row may have been signed; a signed row may have expired and been
 * signed again. Neither is signed automatically again, unless its kind checks the chain first.
 */
function suspend(p: ReconcilePorts, operation: Operation): void {
  const { journal, now } = p;
  const { state, kind } = operation;
  if (state !== 'planned' && state !== 'signed') return;
  const isSure = p.provesItself(kind);
  const plan = { ...operation.plan, reconciledAt: now(), ...(isSure ? {} : { reconciled: true }) };
  const reason = state === 'planned' && !isSure ? HELD_RECONCILED : operation.reason;
  journal.update(operation, { ...operation, plan, reason }, now());
}
