/**
 * What an invoice and a listing request have in common: what their payer is told, how a payment is pointed at, and what
 * both can be refused for.
 * @module
 */
import { z } from '@hono/zod-openapi';
import { formatAmount, SOL_DECIMALS, toNumber } from '../../core/amount.ts';
import { AppError, BODY_ERRORS, refusalError, SHARED_ERRORS } from '../../core/errors.ts';
import type { CustodianApi, RequestView } from '../../custody/api.ts';
import { pickErrors } from '../../http/router.ts';
import { TOKEN_ERRORS } from './errors.ts';

export const instant = z.iso.datetime();

/** Members of every answer that asks for a payment; `paymentAnswer` fills them. */
export const paymentFields = {
  treasury_address: z.string(),
  fee_sol: z
    .number()
    .openapi({ description: 'SOL to pay; the last four digits of fee_lamports are this request’s own' }),
  fee_lamports: z.number().int(),
  amount: z.string().openapi({ description: 'The same SOL as text' }),
  currency: z.literal('SOL'),
  reference: z.string().openapi({ description: 'Solana Pay reference key' }),
  solana_pay_url: z.string(),
  created_at: instant,
  expires_at: instant,
};

/** What every request for a payment tells its payer. @param purpose as the payer's wallet shows it */
export function paymentAnswer(request: RequestView, treasury: string, purpose: string) {
  const lamports = BigInt(request.feeLamports);
  const amount = formatAmount(lamports, SOL_DECIMALS);
  const { reference } = request;
  const query = new URLSearchParams({ amount, reference, label: 'Sluice', message: purpose });
  return {
    treasury_address: treasury,
    fee_sol: toNumber(lamports, SOL_DECIMALS),
    fee_lamports: Number(lamports),
    amount,
    currency: 'SOL' as const,
    reference,
    solana_pay_url: `solana:${treasury}?${query.toString().replaceAll('+', '%20')}`,
    created_at: request.createdAt,
    expires_at: request.expiresAt,
  };
}

/** Of every call that opens or confirms a request. */
export const requestErrors = pickErrors(
  SHARED_ERRORS,
  ...BODY_ERRORS,
  'NOT_CONFIGURED',
  'CUSTODIAN_UNAVAILABLE',
  'UPSTREAM_FAILED',
  'RATE_LIMITED',
);

export const confirmErrors = {
  ...requestErrors,
  ...pickErrors(SHARED_ERRORS, 'NOT_FOUND'),
  ...pickErrors(
    TOKEN_ERRORS,
    'INVALID_SIGNATURE',
    'PAYMENT_FAILED',
    'PAYMENT_NOT_FINAL',
    'PAYMENT_NOT_BOUND',
    'PAYMENT_ALREADY_USED',
    'PAYMENT_INCOMPLETE',
    'REFUND_DUE',
    'INVOICE_IN_PROGRESS',
  ),
};

/** The signature in a confirm's body, in both spellings that clients use. */
export const signatureFields = {
  tx_signature: z.string().optional(),
  txSignature: z.string().optional(),
};

/**
 * Points at the payment of a request and waits for what it buys.
 * @param kind of the request that the route is for: the other kind's ids are unknown to it
 * @throws AppError with the custodian's refusal, NOT_FOUND
 */
export async function confirmPayment(
  custody: Pick<CustodianApi, 'confirmPayment'>,
  kind: RequestView['kind'],
  { id, signature }: { readonly id: string; readonly signature: string },
): Promise<RequestView> {
  const answer = await custody.confirmPayment(id, signature);
  if (answer.type === 'refused') throw refusalError(answer.refusal);
  if (answer.request.kind !== kind) throw new AppError('NOT_FOUND', 'No request has this id.');
  return answer.request;
}
