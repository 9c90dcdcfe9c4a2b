import { createRoute, z } from '@hono/zod-openapi';
import { lamports, SOL_DECIMALS, toNumber } from '../../core/amount.ts';
import { SHARED_ERRORS } from '../../core/errors.ts';
import { jsonBody } from '../../http/body.ts';
import { clientKey } from '../../http/client.ts';
import { idempotencyKey, requestFingerprint } from '../../http/idempotency.ts';
import { amountParam } from '../../http/params.ts';
import { rateLimit } from '../../http/rate-limit.ts';
import { errorResponses, jsonResponse, newRouter, pickErrors } from '../../http/router.ts';
import { type CreateSwapDeps, createSwap, previewSwap, refusalError } from './create-swap.ts';
import { SWAP_ERRORS } from './errors.ts';
import { getEstimate } from './get-estimate.ts';
import { getMinimum, type SwapMinimumDeps } from './get-minimum.ts';
import { getSwapStatus, type SwapStatusDeps } from './get-swap-status.ts';
import { CONTRACT_MINIMUM } from './minimum.ts';
import type { SwapStore } from './swap-store.ts';

export type SwapDeps = SwapMinimumDeps &
  CreateSwapDeps &
  SwapStatusDeps & {
    readonly swaps: SwapStore;
    /** Origin of absolute links. */
    readonly publicBaseUrl: string;
    /** @throws AppError NOT_CONFIGURED naming the variables that swaps lack */
    readonly requireSwaps: () => void;
  };

const atomsText = (description: string, example: string) => z.string().openapi({ description, example });
const amountSol = amountParam(
  SOL_DECIMALS,
  CONTRACT_MINIMUM,
  'SOL, at least 0.001, at most 9 digits after the point; a JSON number or decimal text',
  '0.5',
);
const asOf = z.iso.datetime().openapi({ description: 'When the figures were read from their sources' });
const stale = z.boolean().openapi({ description: 'True when a source is down and an older value is shown' });

const upstream = pickErrors(SHARED_ERRORS, 'UPSTREAM_FAILED');
const notConfigured = pickErrors(SHARED_ERRORS, 'NOT_CONFIGURED', 'CUSTODIAN_UNAVAILABLE');
const database = pickErrors(SHARED_ERRORS, 'DATABASE_UNAVAILABLE');
const badInput = pickErrors(SHARED_ERRORS, 'INVALID_INPUT');

const minimumRoute = createRoute({
  method: 'get',
  path: '/swap/min',
  operationId: 'getSwapMinimum',
  tags: ['swap'],
  summary: 'Smallest and largest swap now',
  responses: {
    200: jsonResponse(
      z
        .object({
          minAmountSol: z
            .number()
            .openapi({ description: 'Smallest SOL whose cost stays under the limit', example: 0.25 }),
          minAmountLamports: atomsText('The same in lamports', '250000000'),
          balanceSol: z
            .number()
            .nullable()
            .openapi({ description: 'Reserve SOL, finalized; null when unknown' }),
          balanceLamports: atomsText('The same in lamports', '10000000000').nullable(),
          maxAmountSol: z
            .number()
            .openapi({ description: 'Largest SOL that the caps allow now; 0 when none' }),
          maxAmountLamports: atomsText('The same in lamports', '2000000000'),
          available: z.boolean(),
          reason: z.string().nullable().openapi({ description: 'Code of why no swap can start now' }),
          nextAvailableAt: z.iso.datetime().nullable(),
          as_of: asOf,
          stale,
        })
        .openapi('SwapMinimum'),
      'Bounds of a swap',
    ),
    ...errorResponses(
      upstream,
      notConfigured,
      database,
      pickErrors(SWAP_ERRORS, 'QUOTE_BUDGET_SPENT', 'QUOTE_REFUSED', 'PRICE_UNAVAILABLE'),
    ),
  },
});

const estimateRoute = createRoute({
  method: 'get',
  path: '/swap/estimate',
  operationId: 'getSwapEstimate',
  tags: ['swap'],
  summary: 'What an amount of SOL would bring in sats',
  middleware: [rateLimit('estimate')] as const,
  request: { query: z.object({ amountSol }) },
  responses: {
    200: jsonResponse(
      z
        .object({
          amountSol: z.number(),
          estimatedBtcSats: z
            .number()
            .int()
            .openapi({ description: 'Sats expected, fees of the bridge included' }),
          amountLamports: atomsText('Lamports asked about', '500000000'),
          estimatedSatoshis: atomsText('The estimate as text', '62000'),
          minimumSatoshis: atomsText('Sats that the bridge guarantees', '61690'),
          quotedAmountLamports: atomsText(
            'Lamports of the quote that the estimate was scaled from',
            '500000000',
          ),
          etaSeconds: z.number().nullable(),
          source: z.string().openapi({ description: 'The route that quoted', example: 'near-intents' }),
          as_of: asOf,
          stale,
        })
        .openapi('SwapEstimate'),
      'An estimate from the routing provider',
    ),
    ...errorResponses(
      badInput,
      upstream,
      notConfigured,
      database,
      pickErrors(SHARED_ERRORS, 'RATE_LIMITED'),
      pickErrors(SWAP_ERRORS, 'AMOUNT_TOO_SMALL', 'QUOTE_BUDGET_SPENT', 'QUOTE_REFUSED'),
    ),
  },
});

const createSwapRoute = createRoute({
  method: 'post',
  path: '/swap/create',
  operationId: 'createSwap',
  tags: ['swap'],
  summary: 'Swap reserve SOL into BTC; the service signs',
  description:
    'Send an Idempotency-Key of 16 to 128 visible ASCII characters: a repeat with it reads the first answer and moves nothing. At most 6 new swaps an hour and address.',
  middleware: [rateLimit('create'), jsonBody] as const,
  request: {
    headers: z.object({ 'idempotency-key': z.string().optional() }),
    body: {
      required: true,
      content: {
        'application/json': {
          schema: z
            .strictObject({
              amountSol,
              dry_run: z.boolean().optional().openapi({ description: 'Do everything but reserve and sign' }),
            })
            .openapi('SwapCreate'),
        },
      },
    },
  },
  responses: {
    200: jsonResponse(
      z
        .object({
          initiated: z.boolean(),
          id: z.string().nullable().openapi({ description: 'Solana signature; null on a dry run' }),
          amountSol: z.number(),
          expectedBtcSats: z.number().int(),
          solanaSignature: z.string().nullable(),
          status: z.literal('waiting'),
          statusUrl: z.string().nullable(),
          message: z.string(),
          amountLamports: atomsText('Lamports swapped', '500000000'),
          expectedSatoshis: atomsText('Sats expected', '62000'),
          minimumSatoshis: atomsText('Sats guaranteed', '61690'),
          route: z.string(),
          dry_run: z.boolean().optional(),
        })
        .openapi('SwapCreated'),
      'The swap is signed and on its way',
    ),
    ...errorResponses(
      badInput,
      pickErrors(
        SHARED_ERRORS,
        'INVALID_JSON',
        'UNSUPPORTED_CONTENT_TYPE',
        'INVALID_IDEMPOTENCY_KEY',
        'IDEMPOTENCY_KEY_REUSED',
        'IDEMPOTENCY_IN_PROGRESS',
        'BODY_TOO_LARGE',
        'RATE_LIMITED',
      ),
      upstream,
      notConfigured,
      SWAP_ERRORS,
    ),
  },
});

const statusRoute = createRoute({
  method: 'get',
  path: '/swap/status/{id}',
  operationId: 'getSwapStatus',
  tags: ['swap'],
  summary: 'The state of a swap; polling it costs no upstream call',
  request: { params: z.object({ id: z.string().openapi({ description: 'Solana signature' }) }) },
  responses: {
    200: jsonResponse(
      z
        .object({
          id: z.string(),
          status: z.enum(['waiting', 'finished', 'failed']),
          amountSol: z.number().nullable(),
          btcSats: z.number().int().nullable().openapi({ description: 'Sats that arrived' }),
          detail: z.string().openapi({
            description: 'Finer state: sent, landed, settling, refunded, partial, expired, held ...',
          }),
          reason: z.string().nullable(),
          amountLamports: atomsText('Lamports swapped', '500000000'),
          expectedSatoshis: z.string().nullable(),
          btcSatoshis: z.string().nullable(),
          txId: z.string().nullable().openapi({ description: 'Bitcoin txid that paid' }),
          nextPollSeconds: z
            .number()
            .int()
            .nullable()
            .openapi({ description: 'When to ask again; null when it is over' }),
        })
        .openapi('SwapStatus'),
      'The stored state',
    ),
    ...errorResponses(pickErrors(SHARED_ERRORS, 'NOT_FOUND'), notConfigured),
  },
});

const historyRoute = createRoute({
  method: 'get',
  path: '/exchanges/transactions',
  operationId: 'listSwaps',
  tags: ['swap'],
  summary: 'Every swap that landed on Solana, newest first, up to 100',
  responses: {
    200: jsonResponse(
      z
        .object({
          transactions: z.array(
            z.object({
              signature: z.string(),
              txId: z.string().nullable(),
              solAmount: z.number(),
              btcSats: z.number().int().nullable(),
              blockTime: z.number().int().nullable().openapi({ description: 'Unix seconds' }),
              status: z.enum(['waiting', 'finished', 'failed']),
              detail: z.string(),
              amountLamports: z.string(),
              btcSatoshis: z.string().nullable(),
            }),
          ),
        })
        .openapi('SwapHistory'),
      'Landed swaps',
    ),
    ...errorResponses(database),
  },
});

const HISTORY_LIMIT = 100;
const POLL_SECONDS = 5;
const sol = (atoms: bigint): number => toNumber(atoms, SOL_DECIMALS);

export const swapRoutes = newRouter<SwapDeps>()
  .openapi(minimumRoute, async (c) => {
    c.var.deps.requireSwaps();
    const minimum = await getMinimum(c.var.deps);
    c.header('Cache-Control', 'public, max-age=3');
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
    c.var.deps.requireSwaps();
    const estimate = await getEstimate(c.var.deps, lamports(c.req.valid('query').amountSol));
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
        source: estimate.route,
        as_of: new Date(estimate.asOf).toISOString(),
        stale: estimate.stale,
      },
      200,
    );
  })
  .openapi(createSwapRoute, async (c) => {
    const { deps } = c.var;
    deps.requireSwaps();
    const { amountSol: atoms, dry_run: dryRun } = c.req.valid('json');
    const request = { amount: lamports(atoms), client: clientKey(c) };
    if (dryRun) {
      const preview = await previewSwap(deps, request);
      return c.json(
        {
          initiated: false,
          id: null,
          solanaSignature: null,
          statusUrl: null,
          message: 'Dry run: this swap would pass now. Nothing was reserved or signed.',
          dry_run: true,
          ...created(request.amount, preview),
        },
        200,
      );
    }
    const text = idempotencyKey(c);
    const key =
      text === undefined ? undefined : requestFingerprint('swap/create', text, { amount: request.amount });
    const answer = await createSwap(deps, { ...request, key });
    if (answer.replayed) c.header('Idempotency-Replayed', 'true');
    if (answer.type === 'refused') throw refusalError(answer.refusal);
    const { swap } = answer;
    return c.json(
      {
        initiated: true,
        id: swap.signature,
        solanaSignature: swap.signature,
        statusUrl: `${deps.publicBaseUrl}/api/swap/status/${swap.signature}`,
        message:
          'The swap is on its way. BTC arrives within minutes to hours; poll statusUrl when it matters.',
        ...created(swap.amountLamports, swap),
      },
      200,
    );
  })
  .openapi(statusRoute, async (c) => {
    c.var.deps.requireSwaps();
    const swap = await getSwapStatus(c.var.deps, c.req.valid('param').id);
    return c.json(
      {
        id: swap.signature,
        status: swap.status,
        amountSol: sol(swap.amountLamports),
        btcSats: swap.btcSats === null ? null : Number(swap.btcSats),
        detail: swap.detail,
        reason: swap.reason,
        amountLamports: swap.amountLamports.toString(),
        expectedSatoshis: swap.expectedSats?.toString() ?? null,
        btcSatoshis: swap.btcSats?.toString() ?? null,
        txId: swap.btcTxid,
        nextPollSeconds: swap.status === 'waiting' ? POLL_SECONDS : null,
      },
      200,
    );
  })
  .openapi(historyRoute, async (c) => {
    const swaps = await c.var.deps.swaps.landed(HISTORY_LIMIT);
    const transactions = swaps.map((swap) => ({
      signature: swap.signature,
      txId: swap.btcTxid,
      solAmount: sol(swap.amountLamports),
      btcSats: swap.btcSats === null ? null : Number(swap.btcSats),
      blockTime: swap.blockTime,
      status: swap.status,
      detail: swap.detail,
      amountLamports: swap.amountLamports.toString(),
      btcSatoshis: swap.btcSats?.toString() ?? null,
    }));
    return c.json({ transactions }, 200);
  });

/** What a create and its dry run say alike. */
const created = (
  amount: bigint,
  quote: { readonly expectedSats: bigint; readonly minimumSats: bigint; readonly route: string },
) => ({
  amountSol: sol(amount),
  expectedBtcSats: Number(quote.expectedSats),
  status: 'waiting' as const,
  amountLamports: amount.toString(),
  expectedSatoshis: quote.expectedSats.toString(),
  minimumSatoshis: quote.minimumSats.toString(),
  route: quote.route,
});
