import { createRoute, z } from '@hono/zod-openapi';
import { lamports, SOL_DECIMALS, toNumber } from '../../core/amount.ts';
import { refusalError } from '../../core/errors.ts';
import type { CustodianApi } from '../../custody/api.ts';
import { problemOf, problemResponse } from '../../http/problem.ts';
import { clientKey, rateLimit } from '../../http/rate-limit.ts';
import { atomsText, errorResponses, jsonResponse, NO_STORE } from '../../http/responses.ts';
import { component, newRouter } from '../../http/router.ts';
import { amountSol } from './create-route.ts';
import { getMinimum, type SwapMinimumDeps } from './get-minimum.ts';

export type SwapQuoteDeps = SwapMinimumDeps & {
  readonly custody: Pick<CustodianApi, 'estimateSwap'>;
  /** @throws AppError NOT_CONFIGURED naming the missing variables */
  readonly requireSwaps: () => void;
};

const asOf = z.iso.datetime().describe('When the figures were read from their sources');
const stale = z.boolean().describe('True when a source is unavailable and an older value is shown');

const minimumSource = z
  .enum(['contract', 'cost', 'bridge'])
  .describe("What sets the smallest swap: this API, the bridge's fixed cost, or a refusal of the bridge");

const notConfigured = ['NOT_CONFIGURED', 'CUSTODIAN_UNAVAILABLE'] as const;

const minimumRoute = createRoute({
  method: 'get',
  path: '/swap/min',
  operationId: 'getSwapMinimum',
  tags: ['swap'],
  summary: 'Swap bounds',
  description: 'Smallest and largest swap now.',
  responses: {
    200: jsonResponse(
      component('SwapMinimum', {
        minAmountSol: z
          .number()
          .openapi({ description: 'Smallest SOL amount whose cost stays below the limit', example: 0.25 }),
        minAmountLamports: atomsText('The same in lamports', '250000000'),
        minimumSource,
        balanceSol: z.number().nullable().describe('Reserve SOL, finalized; null when unknown'),
        balanceLamports: atomsText('The same in lamports', '10000000000').nullable(),
        maxAmountSol: z
          .number()
          .describe('Largest SOL amount that the caps allow now; 0 if swaps are not possible'),
        maxAmountLamports: atomsText('The same in lamports', '2000000000'),
        available: z.boolean(),
        reason: z.string().nullable().describe('Code of the reason why no swap can start now'),
        nextAvailableAt: z.iso.datetime().nullable(),
        as_of: asOf,
        stale: stale,
      }),
      'Bounds of a swap',
    ),
    ...errorResponses([
      'UPSTREAM_FAILED',
      ...notConfigured,
      'AMOUNT_TOO_LARGE',
      'QUOTE_BUDGET_SPENT',
      'QUOTE_REFUSED',
      'BRIDGE_REQUEST_INVALID',
      'PRICE_UNAVAILABLE',
    ]),
  },
});

/** Codes of a refused create call, except those about its key and body. */
const CREATE_REFUSALS = [
  'UPSTREAM_FAILED',
  'RATE_LIMITED',
  'INSUFFICIENT_BALANCE',
  'AMOUNT_TOO_SMALL',
  'AMOUNT_TOO_LARGE',
  'SWAP_LIMIT_REACHED',
  'SWAPS_PAUSED',
  'QUOTE_BUDGET_SPENT',
  'QUOTE_REFUSED',
  'BRIDGE_REQUEST_INVALID',
  'PRICE_UNAVAILABLE',
] as const;

const estimateRoute = createRoute({
  method: 'get',
  path: '/swap/estimate',
  operationId: 'getSwapEstimate',
  tags: ['swap'],
  summary: 'Estimate a swap',
  description:
    'The sats that a swap of this amount yields, and whether a create call would accept it now. It makes the same checks and reserves no SOL. Without a quote it returns the error of a create call, with creatable: false.',
  middleware: [rateLimit('estimate')] as const,
  request: { query: z.object({ amountSol }) },
  responses: {
    200: {
      ...jsonResponse(
        component('SwapEstimate', {
          amountSol: z.number(),
          estimatedBtcSats: z.int().describe("Expected sats, after the bridge's fees"),
          amountLamports: atomsText('Requested amount in lamports', '500000000'),
          estimatedSatoshis: atomsText('The estimate as a string', '62000'),
          minimumSatoshis: atomsText('Sats guaranteed by the bridge', '61690'),
          etaSeconds: z.number().nullable(),
          creatable: z.boolean().describe('Whether a create call for this amount would be accepted now'),
          error_code: z
            .string()
            .optional()
            .describe('Code that a create call would return now, if it is not creatable'),
          error: z.string().optional().describe('Its text'),
          action: z.string().optional().describe('Its next step'),
          retryable: z.boolean().optional().describe('Whether the same create call can succeed later'),
          retry_after_s: z.int().optional().describe('Seconds to wait'),
          details: z.record(z.string(), z.unknown()).optional().describe('Its details'),
          minAmountLamports: z.string().nullable().describe('Smallest swap, as in swap/min; null if unknown'),
          minimumSource: z.string().nullable().describe('As in swap/min; null if unknown'),
          source: z.string().openapi({ description: 'The route of the quote', example: 'near-intents' }),
          as_of: asOf,
          stale: stale,
        }),
        'An estimate from the bridge',
      ),
      headers: NO_STORE,
    },
    ...errorResponses(
      ['INVALID_INPUT', ...notConfigured, ...CREATE_REFUSALS],
      {},
      {
        creatable: { type: 'boolean', description: 'false, if a create call would return this error now' },
      },
    ),
  },
});

const sol = (atoms: bigint): number => toNumber(atoms, SOL_DECIMALS);

export const swapQuoteRoutes = newRouter<{ readonly swap: SwapQuoteDeps }>()
  .openapi(minimumRoute, async (c) => {
    c.var.deps.swap.requireSwaps();
    const minimum = await getMinimum(c.var.deps.swap);
    return c.json(
      {
        minAmountSol: sol(minimum.minimum),
        minAmountLamports: minimum.minimum.toString(),
        minimumSource: minimum.source,
        balanceSol: minimum.balance === null ? null : sol(minimum.balance),
        balanceLamports: minimum.balance?.toString() ?? null,
        maxAmountSol: sol(minimum.maximum),
        maxAmountLamports: minimum.maximum.toString(),
        available: minimum.available,
        reason: minimum.reason,
        nextAvailableAt: minimum.nextAvailableAt,
        as_of: new Date(minimum.asOf).toISOString(),
        stale: minimum.stale,
      },
      200,
    );
  })
  .openapi(estimateRoute, async (c) => {
    const deps = c.var.deps.swap;
    deps.requireSwaps();
    const amount = lamports(c.req.valid('query').amountSol);
    const estimate = await deps.custody.estimateSwap({ amountLamports: amount, client: clientKey(c) });
    // The figures and the refusal depend on the caller's quotas.
    c.header('Cache-Control', 'no-store');
    if (estimate.type === 'unquoted') {
      const error = refusalError(estimate.refusal);
      return problemResponse(c, error, estimate.isOfCreate ? { creatable: false } : {}) as never;
    }
    const { refusal, minimum } = estimate;
    return c.json(
      {
        amountSol: sol(amount),
        estimatedBtcSats: Number(estimate.expectedSats),
        amountLamports: amount.toString(),
        estimatedSatoshis: estimate.expectedSats.toString(),
        minimumSatoshis: estimate.minimumSats.toString(),
        etaSeconds: estimate.etaSeconds,
        creatable: refusal === null,
        ...(refusal ? problemOf(refusalError(refusal)) : {}),
        minAmountLamports: minimum?.lamports.toString() ?? null,
        minimumSource: minimum?.source ?? null,
        source: estimate.route,
        as_of: new Date(estimate.asOfMs).toISOString(),
        stale: estimate.stale,
      },
      200,
    );
  });
