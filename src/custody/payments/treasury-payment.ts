/**
 * What a transaction pays to a treasury, and who paid it. Pure.
 * @module
 */
import { lamportsChange } from '../../chain/solana/transaction.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { TreasuryPayment } from './treasury-store.ts';

/** In lamports. Amounts up to it are not refunded: the refund's transaction alone costs 5,400. */
export const DUST = 10_000n;

/** What a transaction pays to a treasury, or undefined if it failed or pays nothing. */
export function treasuryPayment(transaction: ChainTransaction, payee: string): TreasuryPayment | undefined {
  const credit = lamportsChange(transaction, payee) ?? 0n;
  if (transaction.failed || credit <= 0n) return undefined;
  const { signature, slot, blockTime } = transaction;
  return { signature, slot, blockTime, lamports: credit, payee, payer: payerOf(transaction, payee) };
}

/**
 * The only account that lost more lamports than the fee, if it signed and lost at least what the treasury gained.
 * Otherwise null: in a wallet with several members, a program owns the money, and a member only executes the
 * transaction.
 */
export function payerOf(transaction: ChainTransaction, treasury: string): string | null {
  const { accounts, signers, fee } = transaction;
  const losers = accounts.flatMap((account, index) => {
    const change = lamportsChange(transaction, account) ?? 0n;
    const paid = -change - (index === 0 ? fee : 0n);
    return account !== treasury && paid > 0n ? [{ account, paid }] : [];
  });
  const [payer] = losers;
  const credit = lamportsChange(transaction, treasury) ?? 0n;
  const isPayer = payer && losers.length === 1 && payer.paid >= credit && signers.includes(payer.account);
  return isPayer ? payer.account : null;
}

/** Unix milliseconds of the block; our clock if the node gives no block time. */
export const paidAtOf = ({ blockTime }: Pick<TreasuryPayment, 'blockTime'>, now: number): number =>
  blockTime === null ? now : blockTime * 1_000;

/** A bridge deducts at most this part of a sum that it returns, in percent. */
const MOST_RETURN_FEE = 10n;
/** A block's time may be earlier than the time of our clock at the swap. */
const BLOCK_TIME_LAG_MS = 120_000;

/**
 * Whether a payment may be money that a bridge returned to the signer of these operations. This is so if its amount is
 * close to what an unsettled operation sent, and the payment is not older than that operation.
 */
export function mayBeReturned(
  payment: Pick<TreasuryPayment, 'lamports' | 'blockTime'>,
  operations: readonly { readonly unsettled: bigint; readonly createdAt: number }[],
  now: number,
): boolean {
  const paidAt = paidAtOf(payment, now);
  return operations.some(
    ({ unsettled, createdAt }) =>
      payment.lamports <= unsettled &&
      payment.lamports * 100n >= unsettled * (100n - MOST_RETURN_FEE) &&
      unsettled > 0n &&
      paidAt >= createdAt - BLOCK_TIME_LAG_MS,
  );
}
