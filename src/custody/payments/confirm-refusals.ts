/**
 * The responses to a confirm call that does not complete a request.
 * @module
 */
import type { Refusal } from '../api.ts';
import type { PaymentContext } from './context.ts';
import { findUnmatched } from './owed.ts';
import type { PaymentRequest } from './request-store.ts';

export const NOT_FOUND: Refusal = { code: 'NOT_FOUND', message: 'No request has this id.' };
export const INVALID_SIGNATURE: Refusal = {
  code: 'INVALID_SIGNATURE',
  message: 'tx_signature is not a Solana signature.',
};

export const PAYMENT_FAILED: Refusal = {
  code: 'PAYMENT_FAILED',
  message: 'This transaction failed on the chain.',
};

export const REFUND_DUE: Refusal = {
  code: 'REFUND_DUE',
  message:
    'The payment bought nothing. An amount above 10,000 lamports is recorded for a refund by the operator.',
};

export const MAY_BE_RETURNED: Refusal = {
  code: 'PAYMENT_NOT_FINAL',
  message:
    'This may be money that a bridge returned. It is recorded once the open swap of about that amount has settled.',
  retryAfterSeconds: 60,
};

const NOT_BOUND: Refusal = {
  code: 'PAYMENT_NOT_BOUND',
  message:
    "This payment does not pay this request: it needs this request's reference and no other, or exactly this request's amount.",
};

/** The purchase changed during every check of the sale. */
export const NOT_BOOKED_YET: Refusal = {
  code: 'PAYMENT_NOT_FINAL',
  message: 'The payment is final but is not recorded yet. Repeat the call.',
  retryAfterSeconds: 5,
};

export const notFinal = (chain: 'confirmed' | 'pending' | 'unknown'): Refusal => ({
  code: 'PAYMENT_NOT_FINAL',
  message: 'This transaction is not final yet, or it does not exist.',
  retryAfterSeconds: 5,
  ...(chain === 'unknown' ? { details: { chain } } : {}),
});

export function incomplete({ fee, received }: PaymentRequest): Refusal {
  const missingLamports = (BigInt(fee) - BigInt(received)).toString();
  const message = `${missingLamports} lamports are missing. Pay them to the same reference.`;
  return { code: 'PAYMENT_INCOMPLETE', message, details: { missingLamports } };
}

export const inProgress = (reason: string | null): Refusal => ({
  code: 'INVOICE_IN_PROGRESS',
  message: 'The payment is final and the token is being created. Repeat the call or read the invoice.',
  retryAfterSeconds: 5,
  details: { reason },
});

/** The refusal of a payment that is not for the request that its caller names. */
export function notForRequest(
  context: PaymentContext,
  signature: string,
  usedBy: string | undefined,
): Refusal {
  const refusal = usedElsewhere(context, usedBy);
  const unmatched = usedBy === undefined ? findUnmatched(context, signature) : undefined;
  if (!unmatched) return refusal;
  const { payer, lamports: received } = unmatched;
  const message = `${refusal.message} It was received but matches no request; the operator will return it.`;
  return { ...refusal, message, details: { receivedLamports: received.toString(), payer } };
}

/**
 * @param usedBy the row that uses the transaction. A transaction that is not a caller's payment, such as a bridge's
 * refund, has no purpose to name
 */
export function usedElsewhere({ products }: PaymentContext, usedBy: string | undefined): Refusal {
  const [purpose = ''] = usedBy?.split(':') ?? [];
  if (![...Object.keys(products), 'asry', 'unmatched'].includes(purpose)) return NOT_BOUND;
  const message = `This payment already serves another purpose (${purpose}).`;
  return { code: 'PAYMENT_ALREADY_USED', message, details: { purpose } };
}
