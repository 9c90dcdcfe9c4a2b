/**
 * The requests and answers of the swap routes, for validation and the API document.
 * @module
 */

import { createRoute, z } from '@hono/zod-openapi';
import { SOL_DECIMALS } from '../../core/amount.ts';
import { CALL_LIMITS } from '../../core/call-limits.ts';
import { HOUR_MS } from '../../core/durations.ts';
import { BODY_ERRORS } from '../../core/errors.ts';
import { jsonBody } from '../../http/body.ts';
import { pageParams } from '../../http/paging.ts';
import { amountParam } from '../../http/params.ts';
import { rateLimit } from '../../http/rate-limit.ts';
import { errorResponses, jsonResponse, listResponse, nextCursor } from '../../http/responses.ts';
import { component, jsonRequest } from '../../http/router.ts';
import { preferChangeHeaders } from '../../http/wait.ts';
import { CONTRACT_MINIMUM } from './get-minimum.ts';

const atomsText = (description: string, example: string) => z.string().openapi({ description, example });
const amountSol = amountParam({
  decimals: SOL_DECIMALS,
  minimum: CONTRACT_MINIMUM,
  excess: 'drop',
  description:
    'SOL, at least 0.001, as a JSON number or decimal text. Decimal places after the ninth are dropped: amountLamports of the response is the amount that is used.',
  example: '0.5',
});
const asOf = z.iso.datetime().describe('When the figures were read from their sources');
const stale = z.boolean().describe('True when a source is unavailable and an older value is shown');

const notConfigured = ['NOT_CONFIGURED', 'CUSTODIAN_UNAVAILABLE'] as const;

export const minimumRoute = createRoute({
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

export const estimateRoute = createRoute({
  method: 'get',
  path: '/swap/estimate',
  operationId: 'getSwapEstimate',
  tags: ['swap'],
  summary: 'Estimate a swap',
  description: 'The sats that an amount of SOL would yield.',
  middleware: [rateLimit('estimate', { read_quotes: CALL_LIMITS.read_quotes })] as const,
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

const createLimits = ({ swap }: { readonly swap: { readonly maxCreatesPerClientHour: number } }) => ({
  creates_per_client_hour: { quota: swap.maxCreatesPerClientHour, windowSeconds: HOUR_MS / 1_000 },
  keys_per_client_hour: CALL_LIMITS.keys_per_client_hour,
  create_quotes: CALL_LIMITS.create_quotes,
  dry_run_quotes: CALL_LIMITS.dry_run_quotes,
});

export const createSwapRoute = createRoute({
  method: 'post',
  path: '/swap/create',
  operationId: 'createSwap',
  tags: ['swap'],
  summary: 'Create a swap',
  description:
    'Swaps reserve SOL into BTC; the service signs. Send an Idempotency-Key of 16 to 128 visible ASCII characters: a repeat with it returns the first response and moves nothing. At most 6 new swaps per hour and address.',
  middleware: [rateLimit('create', createLimits), jsonBody] as const,
  request: {
    headers: z.object({ 'idempotency-key': z.string().optional() }),
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
      ...notConfigured,
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

export const statusRoute = createRoute({
  method: 'get',
  path: '/swap/status/{id}',
  operationId: 'getSwapStatus',
  tags: ['swap'],
  summary: 'Swap status',
  description: 'The state of a swap; neither polling nor waiting costs an upstream call.',
  request: {
    params: z.object({ id: z.string().describe('Solana signature') }),
    headers: preferChangeHeaders,
  },
  responses: {
    200: jsonResponse(
      component('SwapStatus', {
        id: z.string(),
        status: z.enum(['waiting', 'finished', 'failed']),
        amountSol: z.number().nullable(),
        btcSats: z.int().nullable().describe('Sats received'),
        detail: z
          .string()
          .describe('More precise state: sent, landed, settling, refunded, partial, expired, held ...'),
        reason: z.string().nullable(),
        amountLamports: atomsText('Lamports swapped', '500000000'),
        expectedSatoshis: z.string().nullable(),
        btcSatoshis: z.string().nullable(),
        txId: z.string().nullable().describe('Bitcoin txid of the payout'),
        nextPollSeconds: z
          .int()
          .nullable()
          .describe('Seconds until the next poll; null when the state is final'),
      }),
      'The stored state',
    ),
    ...errorResponses(['NOT_FOUND', ...notConfigured]),
  },
});

export const historyRoute = createRoute({
  method: 'get',
  path: '/exchanges/transactions',
  operationId: 'listSwaps',
  tags: ['swap'],
  summary: 'List swaps',
  description: 'Every swap that landed on Solana, newest first; also as CSV.',
  request: { query: z.object(pageParams()) },
  responses: {
    200: listResponse(
      component('SwapHistory', {
        transactions: z.array(
          z.object({
            signature: z.string(),
            txId: z.string().nullable(),
            solAmount: z.number(),
            btcSats: z.int().nullable(),
            blockTime: z.int().nullable().describe('Unix seconds'),
            status: z.enum(['waiting', 'finished', 'failed']),
            detail: z.string(),
            amountLamports: z.string(),
            btcSatoshis: z.string().nullable(),
          }),
        ),
        next_cursor: nextCursor,
      }),
      'Landed swaps',
    ),
    ...errorResponses(['DATABASE_UNAVAILABLE', 'INVALID_INPUT']),
  },
});
