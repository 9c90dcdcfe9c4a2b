import { createRoute, z } from '@hono/zod-openapi';
import { MAX_DESCRIPTION_BYTES, MAX_URI_BYTES } from '../../chain/solana/token-text.ts';
import { formatAmount, parseWrittenAmount } from '../../core/amount.ts';
import { MAX_WAIT_MS } from '../../core/durations.ts';
import { AppError } from '../../core/errors.ts';
import { numberText } from '../../core/json.ts';
import type { RequestView } from '../../custody/api.ts';
import { jsonBody } from '../../http/body.ts';
import { Miss } from '../../http/cached.ts';
import { integerMember, snakeCased } from '../../http/params.ts';
import { admitRead, clientKey, rateLimit } from '../../http/rate-limit.ts';
import { BOOKMARK_HEADER } from '../../http/read-session.ts';
import { errorResponses, jsonResponse } from '../../http/responses.ts';
import { component, jsonRequest, newRouter } from '../../http/router.ts';
import { preferHeaders, preferredWaitMs, type Waiting } from '../../http/wait.ts';
import {
  address,
  type ConfirmPaymentDeps,
  confirmErrors,
  confirmPayment,
  instant,
  PaymentProgress,
  PaymentRequest,
  paymentBody,
  paymentSignature,
  progressBody,
  requestErrors,
  requestId,
} from '../payments/paid-request.ts';
import { type CreateInvoiceDeps, createInvoice } from './create-invoice.ts';
import { type GetInvoiceDeps, getInvoice, type InvoiceState } from './get-invoice.ts';
import { nameFields } from './token-request.ts';

export type InvoiceDeps = CreateInvoiceDeps &
  ConfirmPaymentDeps &
  GetInvoiceDeps & {
    readonly waiting: Waiting;
    /** The treasury's address. @throws AppError NOT_CONFIGURED naming the missing variables */
    readonly requirePayments: () => string;
  };

const Invoice = PaymentRequest.extend({
  invoice_id: z.uuid(),
  stale: z.boolean().describe('True while the custodian does not respond: a payment may have arrived since'),
  status: z.enum(['pending', 'completed']),
  ...PaymentProgress.shape,
  reason: z.string().nullable(),
  fee_breakdown: z
    .record(z.string(), z.string())
    .nullable()
    .describe('Lamports by part. The rest of `fee_lamports` identifies the payment'),
  payment_tx_signature: z.string().nullable(),
  reported_tx_signature: z
    .string()
    .nullable()
    .describe('A payment that a caller named in the last three minutes, not final yet'),
  token_id: z.int().nullable(),
  mint_address: z.string().nullable(),
  paid_at: instant.nullable(),
  completed_at: instant.nullable(),
  name: z.string().nullable(),
  symbol: z.string().nullable(),
  decimals: z.int(),
  supply: z.string().nullable().describe('Smallest units'),
  supply_ui: z.string().nullable().describe('Whole tokens'),
  creator_address: z.string().nullable(),
  description: z.string(),
  image: z.string().nullable(),
  token_program: z.enum(['token-2022', 'token']),
  metaplex_metadata: z.boolean(),
  revoke_mint_authority: z.boolean(),
  revoke_freeze_authority: z.boolean(),
  revoke_update_authority: z.boolean(),
}).openapi('Invoice');

const flag = z.boolean().optional();

const DEFAULT_DECIMALS = 9;
/** An expired invoice can still be paid late, but no payment is expected. */
const FINAL_DETAILS = ['completed', 'expired', 'refund_due'];
const openState = ({ request: { detail, receivedLamports } }: InvoiceState): string | null =>
  FINAL_DETAILS.includes(detail) ? null : `${detail} ${receivedLamports}`;

const createInvoiceRoute = createRoute({
  method: 'post',
  path: '/invoices',
  operationId: 'createInvoice',
  tags: ['tokens'],
  summary: 'Order a token',
  description: 'Returns the amount to pay and the address.',
  middleware: [rateLimit('invoices'), jsonBody] as const,
  request: {
    body: jsonRequest(
      component('InvoiceCreate', {
        ...nameFields,
        decimals: integerMember(0, 9).optional().describe(`Default ${DEFAULT_DECIMALS}`),
        supply: z
          .unknown()
          .optional()
          .transform((value, context) => {
            const parsed = parseWrittenAmount(
              value === undefined ? '0' : (numberText(value) ?? ''),
              0,
              'refuse',
            );
            if (parsed.ok) return parsed.atoms;
            context.addIssue("must be a whole number of the token's smallest units");
            return z.NEVER;
          })
          .openapi({
            type: 'string',
            pattern: '^\\d{1,20}$',
            description: 'Smallest units, at most 18446744073709551615; default 0',
            example: '1000000000',
          }),
        description: z
          .string()
          .optional()
          .openapi({
            maxLength: MAX_DESCRIPTION_BYTES,
            description: `At most ${MAX_DESCRIPTION_BYTES} bytes of UTF-8`,
          }),
        image: z.string().nullish().openapi({
          pattern: '^https://[\\x21-\\x7e]+$',
          maxLength: MAX_URI_BYTES,
          description: 'https URL, never fetched by the service',
        }),
        creator_address: address.describe('Wallet that receives the supply'),
        revoke_freeze_authority: flag,
        revoke_mint_authority: flag,
        revoke_update_authority: flag,
        metaplex_metadata: flag,
        token_program: z.enum(['token-2022', 'token']).optional(),
      }),
    ),
  },
  responses: {
    200: jsonResponse(Invoice.extend({ message: z.string() }).openapi('InvoiceCreated'), 'The invoice'),
    ...errorResponses([
      ...requestErrors,
      'INVALID_TOKEN_TEXT',
      'CONTRADICTING_OPTIONS',
      'METAPLEX_UNAVAILABLE',
      'CREATION_REFUSED',
      'SALES_PAUSED',
      'SPENDING_LIMIT_REACHED',
      'TOO_MANY_OPEN_REQUESTS',
    ]),
  },
});

const getInvoiceRoute = createRoute({
  method: 'get',
  path: '/invoices/{id}',
  operationId: 'getInvoice',
  tags: ['tokens'],
  summary: 'Token invoice',
  description: 'An invoice with its order and its state.',
  request: { params: z.object({ id: requestId }), headers: preferHeaders },
  responses: {
    200: jsonResponse(Invoice, 'The invoice'),
    ...errorResponses([
      'NOT_FOUND',
      'OLDER_THAN_RECORDS',
      'RATE_LIMITED',
      'NOT_CONFIGURED',
      'CUSTODIAN_UNAVAILABLE',
    ]),
  },
});

const confirmRoute = createRoute({
  method: 'post',
  path: '/invoices/confirm',
  operationId: 'confirmInvoice',
  tags: ['tokens'],
  summary: 'Confirm a token payment',
  description: `Waits up to ${MAX_WAIT_MS / 1_000} seconds for the token. The service also finds payments without this call. The members may be in camel case.`,
  middleware: [rateLimit('invoices'), jsonBody] as const,
  request: {
    body: jsonRequest(
      snakeCased(component('InvoiceConfirm', { invoice_id: requestId, tx_signature: paymentSignature })),
    ),
  },
  responses: {
    200: jsonResponse(
      component('InvoiceConfirmed', {
        ok: z.literal(true),
        status: z.literal('completed'),
        token_id: z.int(),
        mint_address: z.string(),
        message: z.string(),
      }),
      'The token is created and listed',
    ),
    ...errorResponses(confirmErrors),
  },
});

export const invoiceRoutes = newRouter<{ readonly tokens: InvoiceDeps }>()
  .openapi(createInvoiceRoute, async (c) => {
    const treasury = c.var.deps.tokens.requirePayments();
    const body = c.req.valid('json');
    const { request } = await createInvoice(
      c.var.deps.tokens,
      {
        name: body.name,
        symbol: body.symbol,
        decimals: body.decimals ?? DEFAULT_DECIMALS,
        supply: body.supply,
        description: body.description ?? '',
        image: body.image ?? null,
        creator: body.creator_address,
        revokeFreeze: body.revoke_freeze_authority ?? false,
        revokeMint: body.revoke_mint_authority ?? false,
        revokeUpdate: body.revoke_update_authority ?? false,
        metaplex: body.metaplex_metadata ?? false,
        program: body.token_program,
      },
      clientKey(c),
    );
    const invoice = invoiceBody({ request, stale: false }, treasury);
    const message = `This orders ${invoice.supply_ui} ${invoice.symbol} (${invoice.supply} smallest units, ${invoice.decimals} decimals). Pay exactly ${invoice.amount} SOL to ${invoice.treasury_address}, or open the solana_pay_url. The token is created when the payment is final; you do not have to confirm it.`;
    return c.json({ ...invoice, message }, 200);
  })
  .openapi(getInvoiceRoute, async (c) => {
    const deps = c.var.deps.tokens;
    const treasury = deps.requirePayments();
    const { id } = c.req.valid('param');
    const { prefer } = c.req.valid('header');
    // A bookmark shows that the caller has changed a row, perhaps through another isolate, so the cache is skipped.
    const isOwnRead = c.req.header(BOOKMARK_HEADER) !== undefined && !preferredWaitMs(prefer);
    const read = async (): Promise<InvoiceState> => {
      await admitRead(c);
      return getInvoice(deps, id);
    };
    const state = await (isOwnRead
      ? read()
      : deps.waiting.read(c, {
          key: `invoice:${id}`,
          read: () => read().catch(missIfUnknown),
          stateOf: openState,
        }));
    return c.json(invoiceBody(state, treasury), 200);
  })
  .openapi(confirmRoute, async (c) => {
    c.var.deps.tokens.requirePayments();
    const { invoice_id: id, tx_signature: signature } = c.req.valid('json');
    const { tokenId, mintAddress } = await confirmPayment(c.var.deps.tokens, {
      kind: 'token',
      id,
      signature,
      client: clientKey(c),
    });
    if (tokenId === null || mintAddress === null)
      throw new AppError('INTERNAL', 'The invoice is completed but has no token.');
    const message = 'The token is created and listed.';
    return c.json(
      {
        ok: true as const,
        status: 'completed' as const,
        token_id: tokenId,
        mint_address: mintAddress,
        message,
      },
      200,
    );
  });

/** The custodian chooses random ids, so an unknown id never becomes known. */
function missIfUnknown(error: unknown): never {
  throw error instanceof AppError && error.code === 'NOT_FOUND' ? new Miss(error) : error;
}

/** A member of an invoice's subject as a string. */
const part = (request: RequestView, name: string): string | null => {
  const value = request.subject[name];
  return typeof value === 'string' ? value : null;
};

/** The supply in whole tokens, as a reader counts them. */
function wholeTokens(request: RequestView): string | null {
  const supply = part(request, 'supply');
  return supply === null ? null : formatAmount(BigInt(supply), Number(request.subject.decimals));
}

const FeeParts = z.record(z.string(), z.string());

const invoiceBody = ({ request, stale }: InvoiceState, treasury: string) => ({
  invoice_id: request.id,
  stale,
  status: request.status,
  ...progressBody(request),
  reason: request.reason,
  ...paymentBody(request, treasury, `Token ${part(request, 'symbol') ?? ''}`),
  fee_breakdown: FeeParts.safeParse(request.subject.fee).data ?? null,
  payment_tx_signature: request.paymentSignature,
  reported_tx_signature: request.reportedSignature,
  token_id: request.tokenId,
  mint_address: request.status === 'completed' ? request.mintAddress : null,
  paid_at: request.paidAt,
  completed_at: request.completedAt,
  name: part(request, 'name'),
  symbol: part(request, 'symbol'),
  decimals: Number(request.subject.decimals),
  supply: part(request, 'supply'),
  supply_ui: wholeTokens(request),
  creator_address: part(request, 'creator'),
  description: part(request, 'description') ?? '',
  image: part(request, 'image'),
  token_program: part(request, 'program') === 'token' ? ('token' as const) : ('token-2022' as const),
  metaplex_metadata: request.subject.metaplex === true,
  revoke_mint_authority: request.subject.revokeMint === true,
  revoke_freeze_authority: request.subject.revokeFreeze === true,
  revoke_update_authority: request.subject.revokeUpdate === true,
});
