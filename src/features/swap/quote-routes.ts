import { createRoute, z } from '@hono/zod-openapi';
import { lamports, SOL_DECIMALS, toNumber } from '../../core/amount.ts';
import { clientKey, rateLimit } from '../../http/rate-limit.ts';
import { atomsText, errorResponses, jsonResponse } from '../../http/responses.ts';
import { component, newRouter } from '../../http/router.ts';
import { amountSol } from './create-route.ts';
import { type EstimateDeps, getEstimate } from './get-estimate.ts';
import { getMinimum } from './get-minimum.ts';

export type SwapQuoteDeps = EstimateDeps & {
  /** @throws AppError NOT_CONFIGURED naming the missing variables */
  readonly requireSwaps: () => void;
};

const asOf = z.iso.datetime().describe('When the figures were read from their sources');
const stale = z.boolean().describe('True when a source is unavailable and an older value is shown');

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
        balanceSol: z.number().nullable().describe('Reserve SOL, finalized; null when unknown'),
        balanceLamports: atomsText('The same in lamports', '10000000000').nullable(),
        maxAmountSol: z.number().describe('Largest SOL amount that the caps allow now; 0 when none'),
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
      'DATABASE_UNAVAILABLE',
      'QUOTE_BUDGET_SPENT',
      'QUOTE_REFUSED',
      'PRICE_UNAVAILABLE',
    ]),
  },
});

const estimateRoute = createRoute({
  method: 'get',
  path: '/swap/estimate',
  operationId: 'getSwapEstimate',
  tags: ['swap'],
  summary: 'Estimate a swap',
  description: 'The sats that an amount of SOL would yield.',
  middleware: [rateLimit('estimate')] as const,
  request: { query: z.object({ amountSol }) },
  responses: {
    200: jsonResponse(
      component('SwapEstimate', {
        amountSol: z.number(),
        estimatedBtcSats: z.int().describe("Expected sats, after the bridge's fees"),
        amountLamports: atomsText('Requested amount in lamports', '500000000'),
        estimatedSatoshis: atomsText('The estimate as text', '62000'),
        minimumSatoshis: atomsText('Sats guaranteed by the bridge', '61690'),
        quotedAmountLamports: atomsText(
          'Lamports of the quote that the estimate is scaled from: the largest of 1, 2 and 5 times a power of ten that is at most the amount',
          '500000000',
        ),
        etaSeconds: z.number().nullable(),
        creatable: z.boolean().describe('Whether a create of this amount would be accepted now'),
        reason: z.string().nullable().describe('Code of the refusal for a create; null when creatable'),
        source: z.string().openapi({ description: 'The route of the quote', example: 'near-intents' }),
        as_of: asOf,
        stale: stale,
      }),
      'An estimate from the routing provider',
    ),
    ...errorResponses([
      'INVALID_INPUT',
      'UPSTREAM_FAILED',
      ...notConfigured,
      'DATABASE_UNAVAILABLE',
      'RATE_LIMITED',
      'AMOUNT_TOO_SMALL',
      'AMOUNT_TOO_LARGE',
      'QUOTE_BUDGET_SPENT',
      'QUOTE_REFUSED',
    ]),
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
    const estimate = await getEstimate(deps, lamports(c.req.valid('query').amountSol), clientKey(c));
    c.header('Cache-Control', 'public, max-age=15');
    return c.json(
      {
        amountSol: sol(estimate.amount),
        estimatedBtcSats: Number(estimate.estimatedSats),
        amountLamports: estimate.amount.toString(),
        estimatedSatoshis: estimate.estimatedSats.toString(),
        minimumSatoshis: estimate.minimumSats.toString(),
        quotedAmountLamports: estimate.quotedAmount.toString(),
        etaSeconds: estimate.etaSeconds,
        creatable: estimate.reason === null,
        reason: estimate.reason,
        source: estimate.route,
        as_of: new Date(estimate.asOf).toISOString(),
        stale: estimate.stale,
      },
      200,
    );
  });
