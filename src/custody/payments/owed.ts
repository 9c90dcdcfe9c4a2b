/**
 * Refunds that are owed. A refund is recorded in the storage transaction that finds that a payment, or a part of it,
 * bought nothing.
 * @module
 */
import type { PaymentContext } from './context.ts';
import { mirrorRequest, refundColumns } from './request-records.ts';
import type { PaymentRequest, RefundDue } from './request-store.ts';
import { DUST } from './treasury-payment.ts';
import type { TreasuryPayment } from './treasury-store.ts';

/** Stores a refund and queues the D1 update with its request. Call inside a transaction. */
export function saveRefund(context: PaymentContext, refund: RefundDue): void {
  const { requests, journal, now } = context;
  const changed = { ...refund, changes: refund.changes + 1 };
  requests.putRefund(changed);
  journal.queue.publish('refunds', changed.id, refundColumns(changed), now());
  const request = requests.get(refund.requestId);
  if (request) mirrorRequest(context, request);
}

/** Lamports of a payment that are recorded as owed back, paid or not. */
export const owedOf = ({ requests }: PaymentContext, signature: string): bigint =>
  requests.refundsOfPayment(signature).reduce((sum, refund) => sum + BigInt(refund.lamports), 0n);

/**
 * Records the part of a payment that is owed back, unless it is dust. Call inside a transaction.
 * @param requestId the request of the payment; the payment's signature if it matched none
 */
export function oweRefund(
  context: PaymentContext,
  requestId: string,
  { signature, payer }: Pick<TreasuryPayment, 'signature' | 'payer'>,
  amount: bigint,
  reason: RefundDue['reason'],
): void {
  if (amount <= DUST) return;
  const { requests, now, log } = context;
  const earlier = requests.refundsOfPayment(signature);
  // One transaction refunds everything that is owed of one payment, except a part that is already under way.
  const open = earlier.find(({ state, operations }) => state === 'due' && operations === 0);
  const refund: RefundDue = open ?? {
    id: earlier.length === 0 ? signature : `${signature}.${earlier.length + 1}`,
    signature,
    requestId,
    lamports: '0',
    payer,
    reason,
    state: 'due',
    operations: 0,
    operationId: null,
    refundSignature: null,
    createdAt: now(),
    paidAt: null,
    changes: 0,
  };
  saveRefund(context, { ...refund, reason, lamports: (BigInt(refund.lamports) + amount).toString() });
  log({ level: 'alarm', event: 'refund_due', request: requestId, lamports: amount.toString(), reason });
}

/** Owes each part to its payer, less what is owed of it already. Call inside a storage transaction. */
export function oweParts(
  context: PaymentContext,
  request: PaymentRequest,
  reason: 'underpaid' | 'failed',
): void {
  for (const part of request.parts)
    oweRefund(context, request.id, part, BigInt(part.lamports) - owedOf(context, part.signature), reason);
}
