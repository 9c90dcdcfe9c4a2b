/**
 * Rebuilds a journal that was restored or lost: every row that the mirror knows better, and every transaction that the
 * reserve signed on chain and the journal has lost. Only the operator starts it; afterwards signing may go on.
 * @module
 */
import { lamportsChange } from '../../chain/solana/balance-change.ts';
import { memoText } from '../../chain/solana/memo.ts';
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
  /** Whether preparing a kind finds out on the chain if it has happened, so that it cannot happen twice. */
  provesItself(kind: Operation['kind']): boolean;
  /** The row of a transaction of the reserve that no module recognizes. */
  adopt(transaction: ChainTransaction, now: number): Operation;
  readonly now: () => number;
};

/** The operation that a transaction carried out. */
export type Recognized = {
  readonly id: string;
  readonly kind: Operation['kind'];
  /** For a row that has none of its own. */
  readonly plan: Facts;
  /** Lamports that it moved; what left beside the fee where it does not say. */
  readonly amount?: Lamports;
};

export type Reconciled = {
  /** Rows taken from the mirror. */
  readonly restored: number;
  /** Transactions of the reserve that no row knew. */
  readonly recovered: number;
  /** Signatures looked at on chain. */
  readonly looked: number;
};

const MIRROR_PAGE = 200;
const CHAIN_PAGE = 100;
/** Entries read of each node's list, payments of others included. D1 received all older ones long ago. */
const MAX_LOOKED = 1_000;

/** @throws AppError UPSTREAM_FAILED, or when the mirror cannot be read; nothing is half done, it can be run again */
export async function reconcile(p: ReconcilePorts): Promise<Reconciled> {
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
  let looked = 0;
  // A node may leave out what another lists, so the lists of a quorum are read, and all that they hold.
  const { nodes, isAbsent } = p.history;
  const quorum = quorumOf(nodes.length);
  for (const entry of unionOf(await readLists(p.history, quorum, listOf))) {
    const { signature, memo } = entry;
    looked++;
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
  return { restored, recovered, looked };
}

/** What one node lists of the reserve, newest first, up to the bound of one run. */
async function listOf(node: HistoryNode): Promise<SignatureEntry[]> {
  const listed: SignatureEntry[] = [];
  while (listed.length < MAX_LOOKED) {
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

/** Books a transaction of ours that no row knows: it landed, so its operation is done, whatever its row says. */
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

/** What the chain shows of a transaction of ours. */
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
 * The mirror may not have heard of the last changes: what it knows as planned may have been signed, and what it knows
 * as signed may have died and been signed again. Neither is signed by itself any more, unless its kind finds out for
 * itself whether it has happened.
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
