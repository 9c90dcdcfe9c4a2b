/**
 * Confirms the payment that a caller names, and waits for the work that it pays for.
 * @module
 */
import { isSignature } from '../../chain/solana/address.ts';
import type { ConfirmRequest, PaymentConfirmed, Refusal, RequestView } from '../api.ts';
import type { ModuleTools } from '../kernel/module.ts';
import type { Booking } from './booking.ts';
import { purposeOf } from './request-changes.ts';
import type { PaymentRequest, RequestStore } from './request-store.ts';

export function createConfirmation(
  { journal, storage }: Pick<ModuleTools, 'journal' | 'storage'>,
  p: {
    readonly store: RequestStore;
    readonly booking: Pick<Booking, 'confirm'>;
    readonly viewOf: (request: PaymentRequest) => RequestView;
    readonly reasonOf: (request: PaymentRequest) => string | null;
    /** Continues a paid creation and books its end. */
    readonly carryOn: (request: PaymentRequest) => Promise<void>;
  },
) {
  const { store, booking } = p;

  /** Reason why a payment does not pay for a request, or undefined. @throws AppError UPSTREAM_FAILED */
  async function bind(request: PaymentRequest, signature: string): Promise<Refusal | undefined> {
    if (!isSignature(signature))
      return { code: 'INVALID_SIGNATURE', message: 'tx_signature is not a Solana signature.' };
    // A booked payment was final when it was booked.
    const isBooked = journal.consumerOf(`payment:${signature}`) === purposeOf(request);
    if (isBooked && (request.state === 'paid' || request.state === 'completed')) return undefined;
    const transaction = await booking.confirm(signature);
    if (!transaction) {
      const message = 'This transaction is not final yet, or it does not exist.';
      return { code: 'PAYMENT_NOT_FINAL', message, retryAfterSeconds: 5 };
    }
    if (transaction.failed)
      return { code: 'PAYMENT_FAILED', message: 'This transaction failed on the chain.' };
    const consumerOf = journal.consumerOf(`payment:${transaction.signature}`);
    if (consumerOf !== purposeOf(request)) return usedElsewhere(consumerOf);
    const current = store.get(request.id);
    if (current?.state !== 'open') return current?.state === 'expired' ? refundDue() : undefined;
    if (!current.parts.some((part) => part.signature === transaction.signature)) return refundDue();
    const missing = BigInt(current.fee) - BigInt(current.received);
    const message = `${missing} lamports are missing. Pay them to the same reference.`;
    return { code: 'PAYMENT_INCOMPLETE', message, details: { missingLamports: missing.toString() } };
  }

  /** Books the payment of a request and begins the work that it pays for. */
  return async function confirm(
    { id, kind, signature, waitMs }: ConfirmRequest,
    within: <T>(work: Promise<T>, ms: number) => Promise<T | undefined>,
  ): Promise<PaymentConfirmed> {
    const request = store.get(id);
    if (request?.kind !== kind) return refuse({ code: 'NOT_FOUND', message: 'No request has this id.' });
    const refusal = await bind(request, signature);
    if (refusal) return refuse(refusal);
    const paid = store.get(id);
    if (waitMs > 0 && paid?.state === 'paid') await within(p.carryOn(paid), waitMs);
    const end = store.get(id);
    if (end?.state === 'completed') {
      await storage.sync();
      return { type: 'confirmed', request: p.viewOf(end) };
    }
    if (end?.state === 'expired') return refuse(refundDue());
    const message =
      'The payment is final and the token is being created. Repeat the call or read the invoice.';
    const details = { reason: end ? p.reasonOf(end) : null };
    return refuse({ code: 'INVOICE_IN_PROGRESS', message, retryAfterSeconds: 5, details });
  };
}

const refuse = (refusal: Refusal): PaymentConfirmed => ({ type: 'refused', refusal });

/** Purposes that payments to the treasury serve: the prefixes of the names that they consume. */
const PAID_PURPOSES: ReadonlySet<string> = new Set(['token', 'listing', 'asry']);

const notBound = (): Refusal => ({
  code: 'PAYMENT_NOT_BOUND',
  message: "This payment contains neither the request's reference nor exactly its amount.",
});

/**
 * @param consumerOf purpose of a transaction; one that is never paid for, such as a bridge's refund, is not a
 * payment
 */
export function usedElsewhere(consumerOf: string | undefined): Refusal {
  const [purpose = ''] = consumerOf?.split(':') ?? [];
  if (!PAID_PURPOSES.has(purpose)) return notBound();
  const message = `This payment already serves another purpose (${purpose}).`;
  return { code: 'PAYMENT_ALREADY_USED', message, details: { purpose } };
}

export const refundDue = (): Refusal => ({
  code: 'REFUND_DUE',
  message: 'The payment bought nothing. It is recorded for a refund to its payer.',
});
