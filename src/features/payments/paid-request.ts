/**
 * The common parts of all routes for paid products: the payment instructions, the confirmation of a payment, and their
 * errors.
 * @module
 */

import { z } from '@hono/zod-openapi';

import { isAddress } from '../../chain/solana/address.ts';
import { formatAmount, SOL_DECIMALS, toNumber } from '../../core/amount.ts';
import { MAX_WAIT_MS } from '../../core/durations.ts';
import { BODY_ERRORS, refusalError } from '../../core/errors.ts';
import type { CustodianApi, NamedPayment, RequestView } from '../../custody/api.ts';
import { ADDRESS, SIGNATURE } from '../../http/params.ts';
import { component } from '../../http/router.ts';

export const instant = z.iso.datetime();

/** Members of every response that requests a payment; `paymentBody` fills them. */
export const PaymentRequest = component('PaymentRequest', {
  treasury_address: z.string(),
  fee_sol: z
    .number()
    .describe(
      'SOL to pay: a multiple of ten lamports, which an exchange can pay. The last five digits of fee_lamports identify this request',
    ),
  fee_lamports: z.int(),
  amount: z.string().describe('The same SOL as a string'),
  currency: z.literal('SOL'),
  reference: z.string().describe('Solana Pay reference key'),
  solana_pay_url: z.string(),
  created_at: instant,
  expires_at: instant,
});

/** Members of every record of a request that show what its payments did; `progressBody` fills them. */
export const PaymentProgress = z.object({
  detail: z
    .string()
    .describe(
      'awaiting_payment, seen (a payment is not final or too small), paid, creating, completed, expired, refund_due',
    ),
  received_lamports: z.string(),
  refunds: z.array(
    component('Refund', {
      signature: z.string(),
      lamports: z.string(),
      payer: z.string().nullable(),
      reason: z.string(),
      status: z.enum(['due', 'paid']),
      refund_signature: z.string().nullable(),
    }),
  ),
});

export const progressBody = (request: RequestView): z.infer<typeof PaymentProgress> => ({
  detail: request.detail,
  received_lamports: request.receivedLamports,
  refunds: request.refunds.map(({ refundSignature, ...refund }) => ({
    ...refund,
    refund_signature: refundSignature,
  })),
});

export const priceOf = (lamports: bigint) => ({
  fee_sol: toNumber(lamports, SOL_DECIMALS),
  fee_lamports: Number(lamports),
  amount: formatAmount(lamports, SOL_DECIMALS),
  currency: 'SOL' as const,
});

/**
 * The payment instructions of a request.
 * @param treasury the receiver if the request names none
 * @param purpose label in the payer's wallet
 */
export function paymentBody(request: RequestView, treasury: string, purpose: string) {
  const price = priceOf(BigInt(request.feeLamports));
  const { reference } = request;
  const payee = request.payee ?? treasury;
  const query = new URLSearchParams({ amount: price.amount, reference, label: 'Sluice', message: purpose });
  return {
    treasury_address: payee,
    ...price,
    reference,
    solana_pay_url: `solana:${payee}?${query.toString().replaceAll('+', '%20')}`,
    created_at: request.createdAt,
    expires_at: request.expiresAt,
  };
}

/** Errors of every call that opens or confirms a request. */
export const requestErrors = [
  ...BODY_ERRORS,
  'NOT_CONFIGURED',
  'CUSTODIAN_UNAVAILABLE',
  'UPSTREAM_FAILED',
  'RATE_LIMITED',
] as const;

export const confirmErrors = [
  ...requestErrors,
  'NOT_FOUND',
  'INVALID_SIGNATURE',
  'PAYMENT_FAILED',
  'PAYMENT_NOT_FINAL',
  'PAYMENT_NOT_BOUND',
  'PAYMENT_ALREADY_USED',
  'OLDER_THAN_RECORDS',
  'PAYMENT_INCOMPLETE',
  'REFUND_DUE',
  'INVOICE_IN_PROGRESS',
] as const;

export const address = z.string().refine(isAddress, 'must be a Solana address').openapi(ADDRESS);

/** The payment that the caller confirms; the custodian checks it. */
export const paymentSignature = z
  .string()
  .openapi({ ...SIGNATURE, description: 'Signature of the payment in base58' });

/** The id of an invoice or a listing request, in upper or lower case; any other string is not found. */
export const requestId = z.string().toLowerCase().openapi({ format: 'uuid' });

export type ConfirmPaymentDeps = { readonly custody: Pick<CustodianApi, 'confirmPayment'> };

/**
 * Confirms the payment of a request: waits until the payment is final and the purchased work is done.
 *
 * @throws AppError that states what is still missing after the wait, or why the payment does not pay for the request
 */
export async function confirmPayment(
  { custody }: ConfirmPaymentDeps,
  request: NamedPayment,
): Promise<RequestView> {
  const answer = await custody.confirmPayment({ ...request, waitMs: MAX_WAIT_MS });
  if (answer.type === 'refused') throw refusalError(answer.refusal);
  return answer.request;
}
