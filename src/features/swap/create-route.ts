import { createRoute, z } from '@hono/zod-openapi';
import { lamports, SOL_DECIMALS, toNumber } from '../../core/amount.ts';
import { BODY_ERRORS, refusalError } from '../../core/errors.ts';
import type { CustodianApi } from '../../custody/api.ts';
import { spendingBody } from '../../http/body.ts';
import { idempotencyHeaders, requestKey } from '../../http/idempotency.ts';
import { amountParam } from '../../http/params.ts';
import { clientKey, rateLimit } from '../../http/rate-limit.ts';
import { atomsText, errorResponses, jsonResponse } from '../../http/responses.ts';
import { component, jsonRequest, newRouter } from '../../http/router.ts';
import { CONTRACT_MINIMUM } from './get-minimum.ts';

export type CreateSwapDeps = {
  readonly custody: Pick<CustodianApi, 'createSwap'>;
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
    'SOL, as a JSON number or decimal string. Digits after the ninth decimal are dropped; amountLamports shows the amount used.',
  example: '0.5',
});
const ESTIMATE_FIRST = 'GET /api/swap/estimate shows the result of this call without moving money';

const createSwapRoute = createRoute({
  method: 'post',
  path: '/swap/create',
  operationId: 'createSwap',
  tags: ['swap'],
  summary: 'Create a swap',
  description:
    'Swaps reserve SOL to BTC; the service signs. Try it first with GET /api/swap/estimate. Send an Idempotency-Key, so that a repeat does not start a second swap.',
  middleware: [rateLimit('create'), spendingBody(ESTIMATE_FIRST)] as const,
  request: {
    headers: idempotencyHeaders,
    body: jsonRequest(z.strictObject({ amountSol }).openapi('SwapCreate')),
  },
  responses: {
    200: jsonResponse(
      component('SwapCreated', {
        initiated: z.boolean(),
        id: z.string().describe('Solana signature'),
        amountSol: z.number(),
        expectedBtcSats: z.int(),
        solanaSignature: z.string(),
        status: z.literal('waiting'),
        statusUrl: z.string(),
        message: z.string(),
        amountLamports: atomsText('Lamports swapped', '500000000'),
        expectedSatoshis: atomsText('Sats expected', '62000'),
        minimumSatoshis: atomsText('Sats guaranteed', '61690'),
        route: z.string(),
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
      'OLDER_THAN_RECORDS',
      'QUOTE_BUDGET_SPENT',
      'QUOTE_REFUSED',
      'BRIDGE_REQUEST_INVALID',
      'PRICE_UNAVAILABLE',
    ]),
  },
});

export const createSwapRoutes = newRouter<{ readonly swap: CreateSwapDeps }>().openapi(
  createSwapRoute,
  async (c) => {
    const deps = c.var.deps.swap;
    deps.requireSwaps();
    const request = { amountLamports: lamports(c.req.valid('json').amountSol), client: clientKey(c) };
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
        amountSol: toNumber(swap.amountLamports, SOL_DECIMALS),
        expectedBtcSats: Number(swap.expectedSats),
        status: 'waiting' as const,
        amountLamports: swap.amountLamports.toString(),
        expectedSatoshis: swap.expectedSats.toString(),
        minimumSatoshis: swap.minimumSats.toString(),
        route: swap.route,
      },
      200,
    );
  },
);
