/**
 * A payment that bought nothing, sent back to its payer: one System transfer with a memo that names the payment, so
 * that the chain itself remembers what was paid back. All that it needs was decided when it was planned.
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
  /** Lamports of an account at finalized. */
  balanceOf(address: string): Promise<bigint>;
  /** Lamports below which no account may stay. */
  leastBalance(): Promise<bigint>;
  latestBlockhash(): Promise<Blockhash>;
  /** A final transaction of ours that paid this refund back; null when a quorum of nodes shows none. */
  findPaid(refund: string): Promise<string | null>;
};

export type RefundPlan = {
  /** The refund's name: the payment's signature, with a number after the first. */
  readonly refund: string;
  readonly payment: string;
  readonly payer: string;
  /** Nothing can have paid it before, Unix milliseconds. */
  readonly since: number;
  /** When its row was rebuilt after a loss, Unix milliseconds; null when it never was. */
  readonly doubtedAt: number | null;
};

/** @param number from 1: another begins only after the one before has provably moved nothing */
export const refundId = (refund: string, number: number): string => `refund:${refund}:${number}`;

const MEMO = /^refund:([1-9A-HJ-NP-Za-km-z]{64,88}(?:\.[2-9])?):[1-9]\d{0,5}$/;

/** The refund that a memo of ours names. */
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
      // The chain would refuse to leave an account with so little.
      if (balance + amount < least) return { ok: false, reason: 'payer_account_closed' };
      const lifetime = await ports.latestBlockhash();
      const from = ports.reserveAddress;
      const transfer = { from, to: payer, amount: lamports(amount), memo: id, lifetime };
      return plainlyPrepared(memoTransferMessage(transfer), lifetime);
    },

    settle: settlesByLanding,
  };
}

/** Whether it may have been signed before: by an earlier attempt, or by a lost instance. */
const mayBePaid = ({ plan, attempt }: Operation): boolean =>
  attempt > 1 || typeof plan.doubtedAt === 'number' || typeof plan.reconciledAt === 'number';
