/**
 * Refunds a payment that bought nothing to its payer: one System transfer whose memo names the payment, so
 * the chain itself records the refund. The plan fixes all parameters.
 * @module
 */
import { memoTransferMessage } from '../../chain/solana/transaction.ts';
import { lamports } from '../../core/amount.ts';
import {
  type KindRules,
  type OperationKind,
  type Prepared,
  plainlyPrepared,
  settlesByLanding,
} from '../kernel/operation.ts';
import type { Blockhash } from '../nodes/solana-view.ts';

const REFUND_RULES: KindRules = {
  maxAttempts: 5,
  retriesPreparation: true,
  settles: false,
  coveredAt: 'begin',
};

export type RefundKindPorts = {
  /** Finalized lamports of an account. */
  balanceOf(address: string): Promise<bigint>;
  /** Minimum balance of an account in lamports. */
  leastBalance(): Promise<bigint>;
  latestBlockhash(): Promise<Blockhash>;
};

/** @param number from 1: another operation begins only after the previous one provably moved nothing */
export const refundId = (refund: string, number: number): string => `refund:${refund}:${number}`;

export function createRefundKind(ports: RefundKindPorts): OperationKind {
  return {
    rules: REFUND_RULES,

    async prepare({ plan, amount, signer, id }): Promise<Prepared> {
      const payer = String(plan.payer);
      const [balance, least] = await Promise.all([ports.balanceOf(payer), ports.leastBalance()]);
      // The chain rejects a transfer that leaves an account below the minimum.
      if (balance + amount < least) return { ok: false, reason: 'payer_account_closed' };
      const lifetime = await ports.latestBlockhash();
      const transfer = { from: signer, to: payer, amount: lamports(amount), memo: id, lifetime };
      return plainlyPrepared(memoTransferMessage(transfer), lifetime);
    },

    settle: settlesByLanding,
  };
}
