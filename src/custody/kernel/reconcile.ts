/**
 * Rebuilds a journal that was restored or lost: every row that the mirror knows better, and every transaction that the
 * reserve signed on chain and nobody remembers. Only the operator starts it; afterwards signing may go on.
 * @module
 */
import { lamportsChange } from '../../chain/solana/balance-change.ts';
import { memoText } from '../../chain/solana/memo.ts';
import { type Lamports, lamports } from '../../core/amount.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import type { Journal } from './journal.ts';
import { isDoubted } from './journal-integrity.ts';
import type { CustodyModule } from './module.ts';
import { claimsOf, type Facts, type Operation, plannedOperation } from './operation.ts';
import type { Mirror, Storage } from './ports.ts';
import { orUnreadable } from './solana-view.ts';
import { HELD_RECONCILED } from './state-machine.ts';

export type ReconcilePorts = {
  readonly journal: Journal;
  readonly storage: Storage;
  readonly mirror: Mirror;
  readonly reserveAddress: string;
  /** Finalized signatures of the reserve, newest first. */
  reserveSignatures(page: { limit: number; before?: string }): Promise<SignatureEntry[]>;
  /** A finalized transaction, or null while the node does not have it. */
  transaction(signature: string): Promise<ChainTransaction | null>;
  readonly modules: readonly CustodyModule[];
  /** Whether preparing a kind finds out on the chain if it has happened, so that it cannot happen twice. */
  provesItself(kind: Operation['kind']): boolean;
  /** The row of a transaction of ours that no module recognizes. */
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
/** Bounds one run; strangers' payments to the reserve count as well. What lies further back, D1 has heard of long ago. */
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
  for (let before: string | undefined; looked < MAX_LOOKED; ) {
    const page = await p.reserveSignatures({
      limit: CHAIN_PAGE,
      ...(before === undefined ? {} : { before }),
    });
    for (const { signature, memo } of page) {
      looked++;
      if (p.journal.bySignature(signature)) continue;
      const transaction = await orUnreadable(p.transaction(signature));
      if (transaction === 'unreadable') continue;
      if (!transaction) throw new Error(`transaction ${signature} is listed but cannot be read yet`);
      if (transaction.signers[0] !== p.reserveAddress || p.journal.bySignature(transaction.signature))
        continue;
      recover(p, transaction, memo);
      recovered++;
    }
    before = page[page.length - 1]?.signature;
    if (page.length < CHAIN_PAGE) break;
  }
  if (isDoubted(p.journal)) {
    for (const operation of p.journal.open()) suspend(p, operation);
    for (const module of p.modules) module.holdDoubtful?.();
  }
  await p.storage.sync();
  return { restored, recovered, looked };
}

/** Books a transaction of ours that no row knows: it landed, so its operation is done, whatever its row says. */
function recover(p: ReconcilePorts, transaction: ChainTransaction, memo: string | null | undefined): void {
  const { journal, reserveAddress, now } = p;
  const onChain = landed(transaction, reserveAddress);
  p.storage.transaction(() => {
    const recognized = transaction.failed ? undefined : recognizedBy(p.modules, transaction, memoText(memo));
    if (!recognized) {
      const operation = { ...p.adopt(transaction, now()), ...onChain };
      journal.insert(operation);
      for (const name of claimsOf(operation)) journal.claim(name, operation.id, now());
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
