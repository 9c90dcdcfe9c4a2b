/**
 * Reasons why a payment does not pay for a request, and why no request is opened.
 * @module
 */
import type { Refusal } from '../api.ts';

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

export const tooManyOpen = (message: string): Refusal => ({
  code: 'TOO_MANY_OPEN_REQUESTS',
  message,
  retryAfterSeconds: 600,
  details: { limit: 'open_requests' },
});
