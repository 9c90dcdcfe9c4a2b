import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { isAddress } from '../../chain/solana/address.ts';
import { ERRORS, type ErrorCode, notConfigured } from '../../core/errors.ts';
import { ADDRESS } from '../../http/params.ts';
import { rateLimit } from '../../http/rate-limit.ts';
import { errorResponses, jsonResponse, Problem } from '../../http/responses.ts';
import { newRouter, type RouterEnv } from '../../http/router.ts';
import { type ConfiguredPoolDeps, findPool, type NonJson, type PoolAnswer } from './get-pool.ts';

const CACHE_CONTROL = 'public, max-age=10, stale-while-revalidate=50';

const Pool = z
  .looseObject({
    data: z.looseObject({
      address: z.string().optional().describe('Pool account'),
      price: z.string().optional().describe('Whole B for one whole A'),
      tokenMintA: z.string().optional(),
      tokenMintB: z.string().optional(),
      tokenVaultA: z.string().optional(),
      tokenVaultB: z.string().optional(),
      tokenBalanceA: z.string().optional().describe('Atoms of A in its vault'),
      tokenBalanceB: z.string().optional().describe('Atoms of B in its vault'),
      feeRate: z.number().optional().describe('Fee in 1e-6 of the input'),
      tvlUsdc: z.string().nullish().describe('USD; absent when read from the chain'),
      stats: z.unknown().optional().describe('Volumes and fees; absent when read from the chain'),
      swapFeePercentDisplay: z.string().optional().openapi({
        description: 'feeRate as a percentage; only when read from the chain',
        example: '0.04%',
      }),
      poolDataSource: z
        .literal('chain_rpc')
        .optional()
        .describe('Present when the pool was read from the chain'),
      vault_balances_source: z
        .literal('chain_rpc')
        .optional()
        .describe('Present when the pool API had zero for both balances and the vaults were read'),
    }),
  })
  .openapi('Pool');

/** The pool API's own error, any JSON, with its own status. If it is an object, our `error_code` is added. */
const UpstreamPoolError = z.looseObject({ error_code: z.string().optional() }).openapi('UpstreamPoolError');
const NonJsonBody = Problem.extend({
  error: z.literal('dex_non_json'),
  body_preview: z.string().describe('The first 500 characters of the body'),
}).openapi('NonJsonPool');
/** @param own codes of this service with the same status */
const passedOn = (...own: ErrorCode[]) =>
  jsonResponse(
    z.union([
      NonJsonBody.extend({ error_code: z.literal('DEX_NON_JSON') }),
      ...own.map((code) => Problem.extend({ error_code: z.literal(code) })),
      UpstreamPoolError,
    ]),
    "The pool API's status and body with an error_code",
  );

const poolRoute = createRoute({
  method: 'get',
  path: '/dex/pool/{address}',
  operationId: 'getPool',
  tags: ['pools'],
  summary: 'Get a pool',
  description:
    'A pool from the pool API or, if it lacks the pool, from the chain. The headers X-Data-Source, X-Data-As-Of and X-Data-Stale ' +
    'show where and when it was read. An error of the pool API keeps its status and body, and gains an error_code.',
  middleware: [rateLimit('pools')] as const,
  request: {
    params: z.object({
      address: z
        .string()
        .refine(isAddress, 'must be a Solana address (32 bytes in base58)')
        .openapi({ ...ADDRESS, example: 'Czfq3xZZDmsdGdUyrNLtRhGc47cXcZtLG4crryfu44zE' }),
    }),
  },
  responses: {
    200: jsonResponse(Pool, 'The pool'),
    304: { description: 'The content of the sent ETag is still current' },
    400: passedOn('INVALID_INPUT'),
    429: passedOn('RATE_LIMITED'),
    500: passedOn('INTERNAL'),
    502: passedOn('UPSTREAM_FAILED'),
    default: passedOn(),
  },
});

export const poolsRoutes = newRouter<{ readonly pools: ConfiguredPoolDeps }>().openapi(
  poolRoute,
  async (c) => {
    const pool = await findPool(c.var.deps.pools, c.req.valid('param').address);
    return 'preview' in pool ? nonJson(c, pool) : answer(c, pool);
  },
);

function answer(c: Context, pool: PoolAnswer): Response {
  const { status, text, source, asOf, stale, retryAfter } = pool;
  if (source) c.header('X-Data-Source', source);
  if (asOf !== undefined) c.header('X-Data-As-Of', new Date(asOf).toISOString());
  if (stale) c.header('X-Data-Stale', 'true');
  if (asOf !== undefined && !stale) c.header('Cache-Control', CACHE_CONTROL);
  if (retryAfter) c.header('Retry-After', retryAfter);
  return c.body(text, status as ContentfulStatusCode, { 'Content-Type': 'application/json' });
}

function nonJson(
  c: Context<RouterEnv<{ readonly pools: ConfiguredPoolDeps }>>,
  { status, preview, retryAfter }: NonJson,
): Response {
  const { action, retryable } = ERRORS.DEX_NON_JSON;
  const body = {
    error_code: 'DEX_NON_JSON',
    error: 'dex_non_json',
    body_preview: preview,
    action,
    request_id: c.get('requestId'),
    retryable,
    ...(retryAfter === undefined ? {} : { retry_after_s: Number(retryAfter) }),
  };
  if (retryAfter !== undefined) c.header('Retry-After', retryAfter);
  c.set('errorCode', body.error_code);
  return c.json(body, status as ContentfulStatusCode);
}

const DEFAULT_POOLS = [
  ['/dex/pool-default', 'getDefaultPool', 'default', 'Default pool'],
  ['/dex/pool-saeth-sausd-default', 'getSaethSausdPool', 'saeth-sausd', 'saETH-saUSD pool'],
  ['/dex/pool-sausd-usdc-default', 'getSausdUsdcPool', 'sausd-usdc', 'saUSD-USDC pool'],
] as const;

for (const [path, operationId, pool, summary] of DEFAULT_POOLS) {
  const route = createRoute({
    method: 'get',
    path,
    operationId,
    tags: ['pools'],
    summary,
    description: `Redirects to the pool \`${pool}\` of the configuration.`,
    responses: {
      ...errorResponses(['NOT_CONFIGURED']),
      307: { description: 'To /api/dex/pool/{address}' },
    },
  });
  poolsRoutes.openapi(route, (c) => {
    const address = c.var.deps.pools.addresses[pool];
    if (address === undefined) throw notConfigured(['POOL_ADDRESSES']);
    return c.redirect(`/api/dex/pool/${address}`, 307);
  });
}
