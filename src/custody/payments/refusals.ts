/**
 * Why a payment does not pay for the request that somebody named with it.
 * @module
 */
import type { Refusal } from '../api.ts';

/** What payments to the treasury are for, as the names that they take begin. */
const PAID_PURPOSES: ReadonlySet<string> = new Set(['token', 'listing', 'asry']);

const notBound = (): Refusal => ({
  code: 'PAYMENT_NOT_BOUND',
  message: "This payment carries neither the request's reference nor exactly its amount.",
});

/** What somebody paid for names itself; anything else, such as a bridge's refund, was never a payment. */
export function usedElsewhere(claimant: string | undefined): Refusal {
  const [purpose = ''] = claimant?.split(':') ?? [];
  if (!PAID_PURPOSES.has(purpose)) return notBound();
  const message = `This payment serves another purpose already (${purpose}).`;
  return { code: 'PAYMENT_ALREADY_USED', message, details: { purpose } };
}

export const refundDue = (): Refusal => ({
  code: 'REFUND_DUE',
  message: 'The payment came too late; it is recorded as owed back to its payer.',
});
