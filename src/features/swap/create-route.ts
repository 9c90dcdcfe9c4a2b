import { createRoute, z } from '@hono/zod-openapi';
import { lamports, SOL_DECIMALS, toNumber } from '../../core/amount.ts';
import { BODY_ERRORS, refusalError } from '../../core/errors.ts';
import type { CustodianApi } from '../../custody/api.ts';
import { jsonBody } from '../../http/body.ts';
import { idempotencyHeaders, requestKey } from '../../http/idempotency.ts';
import { amountParam } from '../../http/params.ts';
import { clientKey, rateLimit } from '../../http/rate-limit.ts';
import { atomsText, errorResponses, jsonResponse } from '../../http/responses.ts';
import { component, jsonRequest, newRouter } from '../../http/router.ts';
import { CONTRACT_MINIMUM } from './get-minimum.ts';

export type CreateSwapDeps = {
  readonly custody: Pick<CustodianApi, 'createSwap' | 'previewSwap'>;
  /** Origin of absolute links. */
  readonly publicBaseUrl: string;
  /** @throws AppError NOT_CONFIGURED naming the missing variables */
  readonly requireSwaps: () => void;
};

export const amountSol = amountParam({
  decimals: SOL_DECIMALS,
  minimum: CONTRACT_MINIMUM,
  excess: 'drop',
  description:
    'SOL, as a JSON number or decimal text. Decimal places after the ninth are dropped: amountLamports of the response is the amount that is used.',
  example: '0.5',
});

const createSwapRoute = createRoute({
  method: 'post',
  path: '/swap/create',
  operationId: 'createSwap',
  tags: ['swap'],
  summary: 'Create a swap',
  description:
    'Swaps reserve SOL into BTC; the service signs. Send an Idempotency-Key: a repeat with it moves nothing.',
  middleware: [rateLimit('create'), jsonBody] as const,
  request: {
    headers: idempotencyHeaders,
    body: jsonRequest(
      z
        .strictObject({
          amountSol,
          dry_run: z
            .boolean()
            .optional()
            .describe('Perform every step except the reservation and the signature'),
        })
        .openapi('SwapCreate'),
    ),
  },
  responses: {
    200: jsonResponse(
      component('SwapCreated', {
        initiated: z.boolean(),
        id: z.string().nullable().describe('Solana signature; null on a dry run'),
        amountSol: z.number(),
        expectedBtcSats: z.int(),
        solanaSignature: z.string().nullable(),
        status: z.literal('waiting'),
        statusUrl: z.string().nullable(),
        message: z.string(),
        amountLamports: atomsText('Lamports swapped', '500000000'),
        expectedSatoshis: atomsText('Sats expected', '62000'),
        minimumSatoshis: atomsText('Sats guaranteed', '61690'),
        route: z.string(),
        dry_run: z.boolean().optional(),
      }),
      'The swap is signed and on its way',
    ),
    ...errorResponses([
      ...BODY_ERRORS,
      'INVALID_IDEMPOTENCY_KEY',
      'IDEMPOTENCY_KEY_REUSED',
      'IDEMPOTENCY_IN_PROGRESS',
      'RATE_LIMITED',
      'UPSTREAM_FAILED',
      'NOT_CONFIGURED',
      'CUSTODIAN_UNAVAILABLE',
      'INSUFFICIENT_BALANCE',
      'AMOUNT_TOO_SMALL',
      'AMOUNT_TOO_LARGE',
      'SWAP_LIMIT_REACHED',
      'SWAPS_PAUSED',
      'QUOTE_BUDGET_SPENT',
      'QUOTE_REFUSED',
      'PRICE_UNAVAILABLE',
    ]),
  },
});

export const createSwapRoutes = newRouter<{ readonly swap: CreateSwapDeps }>().openapi(
  createSwapRoute,
  async (c) => {
    const deps = c.var.deps.swap;
    deps.requireSwaps();
    const { amountSol: atoms, dry_run: dryRun } = c.req.valid('json');
    const request = { amountLamports: lamports(atoms), client: clientKey(c) };
    if (dryRun) {
      const preview = await deps.custody.previewSwap(request);
      if (preview.type === 'refused') throw refusalError(preview.refusal);
      return c.json(
        {
          initiated: false,
          id: null,
          solanaSignature: null,
          statusUrl: null,
          message: 'Dry run: this swap would pass now. Nothing was reserved or signed.',
          dry_run: true,
          ...created(request.amountLamports, preview),
        },
        200,
      );
    }
    const key = requestKey(c, 'swap/create', { amount: request.amountLamports });
    const answer = await deps.custody.createSwap({ ...request, ...(key ? { key } : {}) });
    if (answer.replayed) c.header('Idempotency-Replayed', 'true');
    if (answer.type === 'refused') throw refusalError(answer.refusal);
    const { swap } = answer;
    return c.json(
      {
        initiated: true,
        id: swap.signature,
        solanaSignature: swap.signature,
        statusUrl: `${deps.publicBaseUrl}/api/swap/status/${swap.signature}`,
        message: 'The swap is on its way. BTC arrives within minutes to hours. Poll statusUrl for its state.',
        ...created(swap.amountLamports, swap),
      },
      200,
    );
  },
);

/** The common part of the responses to a create and its dry run. */
const created = (
  amount: bigint,
  quote: { readonly expectedSats: bigint; readonly minimumSats: bigint; readonly route: string },
) => ({
  amountSol: toNumber(amount, SOL_DECIMALS),
  expectedBtcSats: Number(quote.expectedSats),
  status: 'waiting' as const,
  amountLamports: amount.toString(),
  expectedSatoshis: quote.expectedSats.toString(),
  minimumSatoshis: quote.minimumSats.toString(),
  route: quote.route,
});
