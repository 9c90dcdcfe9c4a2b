import { createRoute, z } from '@hono/zod-openapi';
import { AppError } from '../../core/errors.ts';
import { highestFee } from '../../core/own-fee.ts';
import type { Cache } from '../../http/cached.ts';
import { decodeCursor, pageOf, pageParams } from '../../http/paging.ts';
import { ADDRESS, TOKEN_ID } from '../../http/params.ts';
import { limitReads, rateLimit } from '../../http/rate-limit.ts';
import { errorResponses, jsonResponse, nextCursor } from '../../http/responses.ts';
import { component, newRouter } from '../../http/router.ts';
import { address, priceOf } from '../payments/paid-request.ts';
import { type CreateInvoiceDeps, chargedFee, creationFee, designOf, feeParts } from './create-invoice.ts';
import { nameFields } from './token-request.ts';
import type { TokenRow } from './token-store.ts';
import { readToken, Token, type TokenReads, TokenRecord, tokenBodies } from './token-view.ts';

export type TokenDeps = Pick<CreateInvoiceDeps, 'leastBalance' | 'invoiceMargin' | 'publicBaseUrl'> &
  TokenReads & {
    readonly listingFee: bigint;
    /** A cache in this isolate's memory only. */
    readonly memory: Cache;
    /** The treasury's address. @throws AppError NOT_CONFIGURED naming the missing variables */
    readonly requirePayments: () => string;
  };

const quoteRoute = createRoute({
  method: 'get',
  path: '/tokens/quote',
  operationId: 'quoteToken',
  tags: ['tokens'],
  summary: 'Quote a token',
  description: 'The price of a new token and its parts, without an order.',
  middleware: [rateLimit('invoices')] as const,
  request: {
    query: z.object({
      ...nameFields,
      token_program: z.enum(['token-2022', 'token']).optional(),
      metaplex_metadata: z.enum(['true', 'false']).optional(),
    }),
  },
  responses: {
    200: jsonResponse(
      component('TokenQuote', {
        fee_sol: z.number(),
        fee_lamports: z.int().describe('An invoice adds less than 200,000 lamports, which identify it'),
        max_lamports: z.int().describe('Maximum price of an invoice for this token'),
        listing_max_lamports: z.int().describe('Maximum price of listing a token created elsewhere'),
        amount: z.string().describe('The same SOL as a string'),
        currency: z.literal('SOL'),
        fee_breakdown: z.record(z.string(), z.string()).describe('Lamports by part'),
      }),
      'The price of a supply above 0',
    ),
    ...errorResponses([
      'INVALID_INPUT',
      'NOT_CONFIGURED',
      'UPSTREAM_FAILED',
      'RATE_LIMITED',
      'INVALID_TOKEN_TEXT',
      'CONTRADICTING_OPTIONS',
    ]),
  },
});

const listRoute = createRoute({
  method: 'get',
  path: '/tokens',
  operationId: 'listTokens',
  tags: ['tokens'],
  summary: 'List tokens',
  description: 'Listed tokens, newest first.',
  middleware: [limitReads] as const,
  request: {
    query: z.object({
      ...pageParams(),
      creator: address.optional().describe('Only tokens of this creator'),
    }),
  },
  responses: {
    200: jsonResponse(component('Tokens', { tokens: z.array(Token), next_cursor: nextCursor }), 'Tokens'),
    ...errorResponses(['INVALID_INPUT', 'RATE_LIMITED', 'DATABASE_UNAVAILABLE']),
  },
});

const getRoute = createRoute({
  method: 'get',
  path: '/tokens/{id}',
  operationId: 'getToken',
  tags: ['tokens'],
  summary: 'Get a token',
  description: 'One token, by its id or its mint address; ABSR and ASRY by their mint addresses.',
  middleware: [limitReads] as const,
  request: {
    params: z.object({
      id: z.string().openapi({ ...TOKEN_ID, description: 'Numeric id, or mint address' }),
    }),
  },
  responses: {
    200: jsonResponse(TokenRecord, 'The token'),
    ...errorResponses(['NOT_FOUND', 'RATE_LIMITED', 'DATABASE_UNAVAILABLE', 'UPSTREAM_FAILED']),
  },
});

const metadataRoute = createRoute({
  method: 'get',
  path: '/tokens/{mint_address}/metadata.json',
  operationId: 'getTokenMetadata',
  tags: ['tokens'],
  summary: 'Token metadata',
  description:
    "The target of the token's on-chain uri. The service never changes it; the file behind `image` is at the site that the creator chose.",
  middleware: [limitReads] as const,
  request: { params: z.object({ mint_address: z.string().openapi(ADDRESS) }) },
  responses: {
    200: jsonResponse(
      component('TokenMetadata', {
        name: z.string(),
        symbol: z.string(),
        description: z.string(),
        image: z.string().optional(),
      }),
      'Metadata in the format that wallets read',
    ),
    ...errorResponses(['NOT_FOUND', 'RATE_LIMITED', 'DATABASE_UNAVAILABLE']),
  },
});

const LIST = 'tokens';
const ListKey = z.tuple([z.int()]);

/**
 * One page of tokens, newest first.
 * @param list name in the cursor
 * @param read up to `limit + 1` tokens
 */
export async function pageOfTokens(
  deps: Pick<TokenDeps, 'facts'>,
  list: string,
  read: readonly TokenRow[],
  limit: number,
) {
  const { rows, next } = pageOf(list, read, limit, ({ tokenId }) => [tokenId]);
  return { tokens: await tokenBodies(deps, rows), next_cursor: next };
}

export const tokenRoutes = newRouter<{ readonly tokens: TokenDeps }>()
  // Registered before `/tokens/{id}`, which would also match this path.
  .openapi(quoteRoute, async (c) => {
    const deps = c.var.deps.tokens;
    const treasury = deps.requirePayments();
    const { name, symbol, token_program: program, metaplex_metadata: metaplex } = c.req.valid('query');
    const design = designOf(deps, {
      name,
      symbol,
      program,
      metaplex: metaplex === 'true',
      // The members below do not affect the price.
      creator: treasury,
      supply: 1n,
      decimals: 0,
      description: '',
      image: null,
      revokeFreeze: false,
      revokeMint: false,
      revokeUpdate: false,
    });
    const fee = await creationFee(deps, design);
    return c.json(
      {
        ...priceOf(chargedFee(fee)),
        max_lamports: Number(highestFee(chargedFee(fee))),
        listing_max_lamports: Number(highestFee(deps.listingFee)),
        fee_breakdown: feeParts(fee),
      },
      200,
    );
  })
  .openapi(listRoute, async (c) => {
    const { creator, limit, cursor } = c.req.valid('query');
    const { tokens } = c.var.deps.tokens;
    const below = decodeCursor(LIST, ListKey, cursor)?.[0];
    const read = creator
      ? await tokens.ofCreator(creator, limit + 1, below)
      : await tokens.list(limit + 1, below);
    return c.json(await pageOfTokens(c.var.deps.tokens, LIST, read, limit), 200);
  })
  .openapi(metadataRoute, async (c) => {
    const token = await c.var.deps.tokens.tokens.byMint(c.req.valid('param').mint_address);
    // The uri of a token created here points to this path; other tokens have their own.
    if (!token?.requestId || !token.uri)
      throw new AppError('NOT_FOUND', 'This service has no token with this mint.');
    c.header('Cache-Control', 'public, max-age=31536000, immutable');
    const { name, symbol, description, image } = token;
    return c.json({ name, symbol, description, ...(image === null ? {} : { image }) }, 200);
  })
  .openapi(getRoute, async (c) => {
    const { id } = c.req.valid('param');
    const token = await readToken(c.var.deps.tokens, id);
    if (!token) throw new AppError('NOT_FOUND', 'There is no token with this id or mint address.');
    return c.json(token, 200);
  });
