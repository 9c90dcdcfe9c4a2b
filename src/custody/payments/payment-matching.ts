/**
 * Assigns a payment to a payment request and decides its effect. Pure.
 * @module
 */
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import { type PaymentRequest, partOf, type RefundDue, type RequestStore } from './request-store.ts';
import type { TreasuryPayment } from './treasury-store.ts';

/** In lamports. Amounts up to it are not refunded: the refund's transaction alone costs 5,400. */
export const DUST = 10_000n;
/** A block's time may be before the request by this much. */
const CLOCK_SKEW_MS = 30_000;
/** Maximum payments towards one fee, so that a request's row stays small. */
const MAX_PARTS = 50;

/** Unix milliseconds of the block; our clock if the node gives no block time. */
const paidAtOf = ({ blockTime }: Pick<TreasuryPayment, 'blockTime'>, now: number): number =>
  blockTime === null ? now : blockTime * 1_000;

/**
 * The request that a payment names by reference or by its exact amount. `several` if the payment has several
 * references; undefined if no request matches or the amount fits several.
 */
export function matchRequest(
  payment: TreasuryPayment,
  transaction: Pick<ChainTransaction, 'accounts'>,
  find: Pick<RequestStore, 'byReference' | 'openByFee'>,
  now: number,
): PaymentRequest | 'several' | undefined {
  const referenced = transaction.accounts.flatMap((account) => find.byReference(account) ?? []);
  if (referenced.length > 0) return referenced.length === 1 ? referenced[0] : 'several';
  const paidAt = paidAtOf(payment, now);
  const exact = find
    .openByFee(payment.lamports.toString())
    .filter((request) => paidAt >= request.createdAt - CLOCK_SKEW_MS && paidAt <= request.closesAt);
  return exact.length === 1 ? exact[0] : undefined;
}

/** A bridge deducts at most this part of a sum that it returns, in percent. */
const MOST_RETURN_FEE = 10n;
/** A block's time may be behind the clock that dated the swap. */
const BLOCK_TIME_LAG_MS = 120_000;

/**
 * Whether a payment may be a sum that a bridge returned to the signer of these operations. True if its amount is close
 * to what an unsettled operation sent, and the payment is not older than that operation.
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

/** The effect of a payment on its request. */
export type PaymentEffect =
  /** The payment buys nothing and must be refunded. */
  | { readonly type: 'owed'; readonly reason: RefundDue['reason'] }
  /** The payment is added to the request, but the fee is not complete. */
  | { readonly type: 'part'; readonly request: PaymentRequest }
  /** The fee is paid; `excess` lamports are refunded unless they are dust. */
  | { readonly type: 'paid'; readonly request: PaymentRequest; readonly excess: bigint };

export function checkPayment(request: PaymentRequest, payment: TreasuryPayment, now: number): PaymentEffect {
  if (request.state === 'expired' || paidAtOf(payment, now) > request.closesAt)
    return { type: 'owed', reason: 'late' };
  if (request.state !== 'open') return { type: 'owed', reason: 'double' };
  const received = BigInt(request.received) + payment.lamports;
  const missing = BigInt(request.fee) - received;
  if (missing > 0n && request.parts.length >= MAX_PARTS) return { type: 'owed', reason: 'underpaid' };
  const parts = [...request.parts, partOf(payment)];
  const counted = {
    ...request,
    received: received.toString(),
    parts,
    payer: payment.payer,
    reported: null,
  };
  if (missing > 0n) return { type: 'part', request: counted };
  const paid = { ...counted, state: 'paid', paymentSignature: payment.signature, paidAt: now } as const;
  return { type: 'paid', request: paid, excess: -missing };
}
