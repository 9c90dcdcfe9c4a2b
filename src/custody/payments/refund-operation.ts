/**
 * Refunds a payment that bought nothing to its payer: one System transfer whose memo names the payment, so
 * the chain itself records the refund. The plan fixes all parameters.
 * @module
 */
import { memoTransferMessage } from '../../chain/solana/transaction.ts';
import { lamports } from '../../core/amount.ts';
import { type OperationKind, type Prepared, plainlyPrepared, settlesByLanding } from '../kernel/module.ts';
import type { Facts, Operation } from '../kernel/operation.ts';
import type { Blockhash } from '../kernel/solana-view.ts';
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
