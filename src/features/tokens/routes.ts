import { createRoute, z } from '@hono/zod-openapi';
import { isAddress } from '../../chain/solana/address.ts';
import { AppError } from '../../core/errors.ts';
import { decodeCursor, nextCursor, pageOf, pageParams } from '../../http/page.ts';
import { errorResponses, jsonResponse, newRouter } from '../../http/router.ts';
import { instant } from './paid-request.ts';
import { tokenAnswer } from './token-answer.ts';
import type { ReadTokenFacts } from './token-facts.ts';
import type { TokenStore } from './token-store.ts';

export type TokenDeps = { readonly tokens: TokenStore; readonly tokenFacts: ReadTokenFacts };

const authority = (role: string) =>
  z
    .string()
    .nullable()
    .openapi({ description: `${role}; null with a non-null as_of means renounced` });

export const Token = z
  .object({
    id: z.number().int(),
    name: z.string(),
    symbol: z.string(),
    decimals: z.number().int(),
    supply: z.string().openapi({ description: 'Smallest units' }),
    supply_ui: z.string().openapi({ description: 'Whole tokens' }),
    mint_address: z.string(),
    creator_address: z.string().nullable(),
    token_program: z.enum(['token', 'token-2022']),
    mint_authority: authority('Address that may mint more'),
    freeze_authority: authority('Address that may freeze token accounts'),
    update_authority: authority('Address that may change name, symbol and uri'),
    as_of: instant.nullable().openapi({
      description: 'When supply and authorities were read from the chain; null when they could not be read',
    }),
    description: z.string(),
    image: z.string().nullable(),
    uri: z.string().nullable(),
    created_at: instant,
    listed_at: instant.nullable(),
    warning: z.enum(['well_known_name']).nullable(),
  })
  .openapi('Token');

const listRoute = createRoute({
  method: 'get',
  path: '/tokens',
  operationId: 'listTokens',
  tags: ['tokens'],
  summary: 'List tokens',
  description: 'Listed tokens, newest first.',
  request: {
    query: z.object({
      ...pageParams(),
      creator: z
        .string()
        .refine(isAddress, 'must be a Solana address')
        .optional()
        .openapi({ description: 'Only of this creator' }),
    }),
  },
  responses: {
    200: jsonResponse(
      z.object({ tokens: z.array(Token), next_cursor: nextCursor }).openapi('Tokens'),
      'Tokens',
    ),
    ...errorResponses(['INVALID_INPUT', 'DATABASE_UNAVAILABLE']),
  },
});

const getRoute = createRoute({
  method: 'get',
  path: '/tokens/{id}',
  operationId: 'getToken',
  tags: ['tokens'],
  summary: 'Get a token',
  description: 'One token, by its id or its mint address.',
  request: {
    params: z.object({
      id: z.string().openapi({ description: 'Numeric id, or mint address', example: '1' }),
    }),
  },
  responses: {
    200: jsonResponse(Token, 'The token'),
    ...errorResponses(['NOT_FOUND', 'DATABASE_UNAVAILABLE']),
  },
});

const metadataRoute = createRoute({
  method: 'get',
  path: '/tokens/{mint_address}/metadata.json',
  operationId: 'getTokenMetadata',
  tags: ['tokens'],
  summary: 'Token metadata',
  description: "The target of the token's on-chain uri; it never changes.",
  request: { params: z.object({ mint_address: z.string() }) },
  responses: {
    200: jsonResponse(
      z
        .object({
          name: z.string(),
          symbol: z.string(),
          description: z.string(),
          image: z.string().optional(),
        })
        .openapi('TokenMetadata'),
      'Metadata in the format that wallets read',
    ),
    ...errorResponses(['NOT_FOUND', 'DATABASE_UNAVAILABLE']),
  },
});

const LIST = 'tokens';
const ListKey = z.tuple([z.int()]);

export const tokenRoutes = newRouter<{ readonly tokens: TokenDeps }>()
  .openapi(listRoute, async (c) => {
    const { creator, limit, cursor } = c.req.valid('query');
    const { tokens } = c.var.deps.tokens;
    const below = decodeCursor(LIST, ListKey, cursor)?.[0];
    const read = creator
      ? await tokens.ofCreator(creator, limit + 1, below)
      : await tokens.list(limit + 1, below);
    const { rows, next } = pageOf(LIST, read, limit, ({ tokenId }) => [tokenId]);
    const facts = await c.var.deps.tokens.tokenFacts(rows);
    return c.json(
      { tokens: rows.map((row) => tokenAnswer(row, facts.get(row.mint))), next_cursor: next },
      200,
    );
  })
  .openapi(metadataRoute, async (c) => {
    const token = await c.var.deps.tokens.tokens.byMint(c.req.valid('param').mint_address);
    // Only the uri of a token created here points to this path.
    if (!token?.requestId || !token.uri)
      throw new AppError('NOT_FOUND', 'This service has no token with this mint.');
    c.header('Cache-Control', 'public, max-age=31536000, immutable');
    const { name, symbol, description, image } = token;
    return c.json({ name, symbol, description, ...(image === null ? {} : { image }) }, 200);
  })
  .openapi(getRoute, async (c) => {
    const { id } = c.req.valid('param');
    const { tokens } = c.var.deps.tokens;
    const token = /^[1-9]\d{0,14}$/.test(id)
      ? await tokens.byId(Number(id))
      : isAddress(id)
        ? await tokens.byMint(id)
        : undefined;
    if (!token) throw new AppError('NOT_FOUND', 'There is no token with this id or mint address.');
    const facts = await c.var.deps.tokens.tokenFacts([token]);
    return c.json(tokenAnswer(token, facts.get(token.mint)), 200);
  });
