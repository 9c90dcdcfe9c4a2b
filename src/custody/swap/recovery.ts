/**
 * Books a reserve transaction that has no row and that no module recognizes.
 * @module
 */
import { lamportsChange } from '../../chain/solana/balance-change.ts';
import { lamports } from '../../core/amount.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import { type Operation, plannedOperation } from '../kernel/operation.ts';

/**
 * A transaction that paid everything to a single account may be a swap. It stays unsettled under that deposit
 * address until the bridge or the operator explains it. Any other transaction is booked as failed, so that
 * its cost is known.
 *
 * @param now Unix milliseconds, for a transaction without a block time
 */
export function recoveredSwap(transaction: ChainTransaction, reserve: string, now: number): Operation {
  const debit = -(lamportsChange(transaction, reserve) ?? 0n);
  const amount = lamports(debit > transaction.fee && !transaction.failed ? debit - transaction.fee : 0n);
  const receivers = transaction.accounts.filter((account) => lamportsChange(transaction, account) === amount);
  const deposit = amount > 0n && receivers.length === 1 ? (receivers[0] ?? null) : null;
  const plan = {
    route: 'near-intents',
    depositAddress: deposit,
    expectedSats: '0',
    minimumSats: '1',
    bodyHash: null,
  };
  const intent = plannedOperation({
    id: `swap:recovered:${transaction.signature}`,
    kind: 'swap',
    amount,
    reserved: lamports(0n),
    plan: deposit === null ? {} : plan,
    now: transaction.blockTime === null ? now : transaction.blockTime * 1_000,
  });
  return {
    ...intent,
    state: deposit === null ? 'failed' : 'settling',
    detail: 'recovered',
    reason: 'recovered',
    dueAt: deposit === null ? null : now,
    unsettled: deposit === null ? lamports(0n) : amount,
  };
}
