/**
 * Refunds a payment that bought nothing to its payer: one System transfer whose memo names the payment, so
 * the chain itself records the refund. The plan fixes all parameters. If a refund may already have been paid,
 * the chain is searched first for a finalized transaction with that memo whose first signer is the reserve.
 * Anyone can write such a memo, but only the
 * reserve can sign it.
 * @module
 */
import { memoText, memoTransferMessage } from '../../chain/solana/transaction.ts';
import { lamports } from '../../core/amount.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { SignatureEntry, SolanaNode } from '../../providers/solana-rpc.ts';
import {
  type Facts,
  type Operation,
  type OperationKind,
  type Prepared,
  plainlyPrepared,
  settlesByLanding,
} from '../kernel/operation.ts';
import type { Decide } from '../kernel/quorum.ts';
import { type Blockhash, orUnreadable, type SolanaView } from '../kernel/solana-view.ts';
import type { KindRules } from '../kernel/state-machine.ts';

export const REFUND_RULES: KindRules = {
  maxAttempts: 5,
  retriesPreparation: true,
  settles: false,
  provesItself: true,
};

export type RefundKindPorts = {
  readonly reserveAddress: string;
  /** Finalized lamports of an account. */
  balanceOf(address: string): Promise<bigint>;
  /** Minimum balance of an account in lamports. */
  leastBalance(): Promise<bigint>;
  latestBlockhash(): Promise<Blockhash>;
  /** A final reserve transaction that paid this refund; null when a quorum of nodes shows none. */
  findPaid(refund: string): Promise<string | null>;
};

export type RefundPlan = {
  /** The refund's name: the payment's signature, with a number for later refunds of it. */
  readonly refund: string;
  readonly payment: string;
  readonly payer: string;
  /** Unix milliseconds before which it cannot have been paid. */
  readonly since: number;
  /** When its row was rebuilt after a loss, in Unix milliseconds; null if it never was. */
  readonly doubtedAt: number | null;
};

/** @param number from 1: another operation begins only after the previous one provably moved nothing */
export const refundId = (refund: string, number: number): string => `refund:${refund}:${number}`;

const MEMO = /^refund:([1-9A-HJ-NP-Za-km-z]{64,88}(?:\.[2-9])?):[1-9]\d{0,5}$/;

/** The refund named by a memo of the reserve. */
export const refundOfMemo = (memo: string | undefined): string | undefined =>
  memo === undefined ? undefined : MEMO.exec(memo)?.[1];

export const encodeRefundPlan = (plan: RefundPlan): Facts => ({ ...plan });

export function createRefundKind(ports: RefundKindPorts): OperationKind {
  return {
    rules: REFUND_RULES,

    async prepare(operation): Promise<Prepared> {
      const { plan, amount, id } = operation;
      const payer = String(plan.payer);
      if (mayBePaid(operation)) {
        const paidBy = await ports.findPaid(String(plan.refund));
        if (paidBy !== null) return { ok: false, found: { paidBy } };
      }
      const [balance, least] = await Promise.all([ports.balanceOf(payer), ports.leastBalance()]);
      // The chain rejects a transfer that leaves an account below the minimum.
      if (balance + amount < least) return { ok: false, reason: 'payer_account_closed' };
      const lifetime = await ports.latestBlockhash();
      const from = ports.reserveAddress;
      const transfer = { from, to: payer, amount: lamports(amount), memo: id, lifetime };
      return plainlyPrepared(memoTransferMessage(transfer), lifetime);
    },

    settle: settlesByLanding,
  };
}

/** Whether it may have been signed before, by an earlier attempt or by a lost instance. */
const mayBePaid = ({ plan, attempt }: Operation): boolean =>
  attempt > 1 || typeof plan.doubtedAt === 'number' || typeof plan.reconciledAt === 'number';

const PAGE = 1_000;
/** Pages per call. The next call continues below them, so a search of any length ends. */
const PAGES_PER_CALL = 10;

/** One node's position in the search. It outlives a call, but not the instance. */
type Progress = { before: string | undefined; found: string | null | undefined };

/**
 * A found signature needs a quorum that agrees. Its absence needs a quorum too, and no answering node may
 * list it.
 */
const decidePaid =
  (quorum: number): Decide<string | null, string | null> =>
  (given, complete) => {
    const paid = given.find(
      ({ value }) => value !== null && given.filter((other) => other.value === value).length >= quorum,
    );
    if (paid) return { agreed: paid.value };
    const isUnpaid = complete && given.length >= quorum && given.every(({ value }) => value === null);
    return isUnpaid ? { agreed: null } : undefined;
  };

/**
 * @returns the search: the signature that paid a refund, or null. It throws AppError UPSTREAM_FAILED
 * `history_pruned`
 * when nodes do not keep the refunded payment, `history_continues` when a further call must continue, and
 * `quorum_missing` while the nodes do not agree
 */
export function createRefundSearch(
  { ask, quorum, transaction, isAbsent }: Pick<SolanaView, 'ask' | 'quorum' | 'transaction' | 'isAbsent'>,
  reserveAddress: string,
): (refund: string) => Promise<string | null> {
  const progress = new Map<string, Progress>();

  async function paidIn(page: readonly SignatureEntry[], refund: string): Promise<string | null> {
    for (const entry of page) {
      if (entry.err !== null || refundOfMemo(memoText(entry.memo)) !== refund) continue;
      const found = await orUnreadable(transaction(entry.signature));
      // The custodian never signs a version that nodes do not show.
      if (found === 'unreadable' || (!found && (await isAbsent(entry)))) continue;
      if (!found) throw upstreamFailed('solana-rpc', 'transaction_missing');
      if (!found.failed && found.signers[0] === reserveAddress) return entry.signature;
    }
    return null;
  }

  /**
   * One node's list of transactions after the refunded payment. A node whose history begins later proves
   * nothing.
   */
  async function searchNode(node: SolanaNode, refund: string, paidAt: bigint): Promise<string | null> {
    const name = `${refund} ${node.id}`;
    const place = progress.get(name) ?? { before: undefined, found: undefined };
    progress.set(name, place);
    for (let pages = 0; pages < PAGES_PER_CALL && place.found === undefined; pages++) {
      const next = place.before === undefined ? {} : { before: place.before };
      const page = await node.signaturesFor(reserveAddress, {
        limit: PAGE,
        commitment: 'finalized',
        ...next,
      });
      const found = await paidIn(page, refund);
      const last = page.at(-1);
      if (found !== null || !last || page.length < PAGE || last.slot < paidAt) place.found = found;
      else place.before = last.signature;
    }
    if (place.found === undefined) throw upstreamFailed('solana-rpc', 'history_continues');
    if (place.found === null && (await node.firstAvailableBlock()) > paidAt)
      throw upstreamFailed('solana-rpc', 'history_pruned');
    return place.found;
  }

  /** Forgets the ended searches for a refund, or all of them once it is decided. */
  function forget(refund: string, isDecided: boolean): void {
    for (const [name, { found }] of progress)
      if (name.startsWith(`${refund} `) && (isDecided || found !== undefined)) progress.delete(name);
  }

  return async (refund) => {
    const [payment = refund] = refund.split('.');
    const paid = await transaction(payment);
    if (!paid) throw upstreamFailed('solana-rpc', 'history_pruned');
    const answer = await ask(
      `refund ${refund}`,
      (node) => searchNode(node, refund, paid.slot),
      decidePaid(quorum),
    );
    // Searches that disagree start again, because a node may only have been late.
    forget(refund, answer !== undefined);
    if (!answer) throw upstreamFailed('solana-rpc', 'quorum_missing');
    return answer.agreed;
  };
}
