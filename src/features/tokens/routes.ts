import { createRoute, z } from '@hono/zod-openapi';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { isAddress } from '../../chain/solana/address.ts';
import { minterOf } from '../../chain/solana/mint-keys.ts';
import { TOKEN_POWERS } from '../../chain/solana/token-powers.ts';
import {
  isWellKnown,
  MAX_NAME_BYTES,
  MAX_SYMBOL_BYTES,
  MAX_URI_BYTES,
  nameFault,
} from '../../chain/solana/token-text.ts';
import { formatAmount } from '../../core/amount.ts';
import { AppError, upstreamFailed } from '../../core/errors.ts';
import type { OfficialAsset, OfficialMints } from '../../core/official-tokens.ts';
import { highestFee } from '../../core/own-fee.ts';
import type { Cache } from '../../http/cached.ts';
import { decodeCursor, pageOf, pageParams } from '../../http/paging.ts';
import { ADDRESS, TOKEN_ID } from '../../http/params.ts';
import { limitReads, rateLimit } from '../../http/rate-limit.ts';
import { errorResponses, jsonResponse, nextCursor } from '../../http/responses.ts';
import { component, newRouter } from '../../http/router.ts';
import { address, instant, priceOf } from '../payments/paid-request.ts';
import { type CreateInvoiceDeps, chargedFee, creationFee, designOf, feeParts } from './create-invoice.ts';
import {
  type FactsSubject,
  readMintKeys,
  readTokenFacts,
  type TokenFacts,
  type TokenFactsDeps,
} from './token-facts.ts';
import { nameFields } from './token-request.ts';
import type { TokenRow, TokenStore } from './token-store.ts';

export type TokenDeps = Pick<CreateInvoiceDeps, 'rentExemption' | 'invoiceMargin' | 'publicBaseUrl'> & {
  readonly tokens: TokenStore;
  readonly facts: TokenFactsDeps;
  readonly officialMints: OfficialMints;
  readonly reserve: { readonly solanaAddress: string | null };
  readonly listingFee: bigint;
  /** This isolate's memory only. */
  readonly memory: Cache;
  /** The treasury's address. @throws AppError NOT_CONFIGURED naming the missing variables */
  readonly requirePayments: () => string;
};

const authority = (role: string) =>
  z.string().nullable().describe(`${role}; null with a non-null as_of means renounced`);

const tokenShape = {
  name: z.string(),
  symbol: z.string(),
  decimals: z.int(),
  supply: z.string().describe('Smallest units'),
  supply_ui: z.string().describe('Whole tokens'),
  mint_address: z.string(),
  creator_address: z.string().nullable(),
  token_program: z.enum(['token', 'token-2022']),
  mint_authority: authority('Address that may mint more'),
  freeze_authority: authority('Address that may freeze token accounts'),
  update_authority: authority('Address that may change name, symbol and uri'),
  powers: z
    .array(z.enum(TOKEN_POWERS))
    .nullable()
    .describe('What keys or rules of the mint can do to every holder; null when the mint could not be read'),
  as_of: instant
    .nullable()
    .describe(
      'When supply, authorities and powers were read from the chain; null when they could not be read',
    ),
  stale: z
    .boolean()
    .describe('True when the mint could not be read now, or is gone: the facts are older ones'),
  description: z.string(),
  image: z.string().nullable(),
  uri: z.string().nullable(),
  listed_at: instant.nullable(),
  warning: z.literal('well_known_name').nullable(),
};

export const Token = component('Token', { id: z.int(), ...tokenShape, created_at: instant });

export const TokenRecord = component('TokenRecord', {
  id: z.int().nullable().describe('null for an official token'),
  ...tokenShape,
  created_at: instant.nullable().describe('null for an official token'),
  official: z
    .object({
      asset: z.enum(['ABSR', 'ASRY']),
      minter: z
        .string()
        .nullable()
        .describe(
          'Who can mint more, from the chain: `nobody`, `reserve` (its key alone), `two_keys` (that key and a witness together), or `other`; null when unread',
        ),
    })
    .nullable()
    .describe("The service's own token with this mint; null for every other one"),
});

/** The members that identify a token, without its number and its time here. */
type Described = Omit<TokenRow, 'tokenId' | 'requestId' | 'createdAt'>;

/** @param facts current data from the chain; null for an address that is no mint, undefined when it cannot be read */
const described = (token: Described, facts: TokenFacts | null | undefined) => {
  // A mint that was closed and created anew has other decimals and may have another program.
  const { decimals, supply, program } = facts ?? token;
  // Metadata that can change may take a well-known name after the listing.
  const names = new Set([
    token.name,
    token.symbol,
    facts?.metadata?.name ?? '',
    facts?.metadata?.symbol ?? '',
  ]);
  return {
    name: token.name,
    symbol: token.symbol,
    decimals,
    supply: supply.toString(),
    supply_ui: formatAmount(supply, decimals),
    mint_address: token.mint,
    creator_address: token.creator,
    token_program: program,
    mint_authority: facts?.mintAuthority ?? null,
    freeze_authority: facts?.freezeAuthority ?? null,
    update_authority: facts?.updateAuthority ?? null,
    powers: facts ? [...facts.powers] : null,
    as_of: facts ? new Date(facts.asOf).toISOString() : null,
    stale: facts?.stale ?? true,
    description: token.description,
    image: token.image,
    uri: token.uri,
    listed_at: token.listedAt === null ? null : new Date(token.listedAt).toISOString(),
    // Wallets show names unchanged: a well-known token's name does not identify the creator.
    warning: [...names].some(isWellKnown) ? ('well_known_name' as const) : null,
  };
};

const tokenBody = (token: TokenRow, facts: TokenFacts | null | undefined) => ({
  id: token.tokenId,
  ...described(token, facts),
  created_at: new Date(token.createdAt).toISOString(),
});

export async function tokenBodies({ facts }: Pick<TokenDeps, 'facts'>, tokens: readonly TokenRow[]) {
  const found = await readTokenFacts(facts, tokens);
  return tokens.map((token) => tokenBody(token, found.get(token.mint)));
}

type OfficialDeps = Pick<TokenDeps, 'facts' | 'reserve'>;

/** @throws AppError UPSTREAM_FAILED */
async function officialBody({ facts: deps, reserve }: OfficialDeps, mint: string, asset: OfficialAsset) {
  const facts = await factsNow(deps, { mint, program: 'token', requestId: null }, true);
  if (facts === null) return undefined;
  const { supply, decimals, program, metadata } = facts;
  const keys = await readMintKeys(deps, facts);
  const token = described(
    {
      ...{ mint, name: asset, symbol: asset, decimals, supply, program, creator: null, description: '' },
      ...{ image: null, uri: acceptableUri(metadata?.uri), listedAt: null },
    },
    facts,
  );
  const minter = keys ? minterOf(keys, reserve.solanaAddress) : null;
  return { ...token, id: null, created_at: null, warning: null, official: { asset, minter } };
}

/** Null for an address that is not a mint. @throws AppError UPSTREAM_FAILED */
async function factsNow(
  deps: TokenFactsDeps,
  subject: FactsSubject,
  changedByOperations = false,
): Promise<TokenFacts | null> {
  const facts = (await readTokenFacts(deps, [subject], changedByOperations)).get(subject.mint);
  if (facts === undefined) throw upstreamFailed('solana-read', 'unreachable');
  return facts;
}

const acceptable = (text: string | undefined, maxBytes: number): string =>
  text === undefined || nameFault(text, maxBytes) ? '' : text;

const acceptableUri = (uri: string | undefined): string | null =>
  uri === undefined || uri === '' || utf8ToBytes(uri.toWellFormed()).length > MAX_URI_BYTES ? null : uri;

/** An unlisted token as the chain shows it now. Its row is not shown, because nobody has paid for it. */
const asOnChain = (row: TokenRow, { supply, decimals, program, metadata }: TokenFacts): TokenRow => ({
  ...row,
  name: acceptable(metadata?.name, MAX_NAME_BYTES),
  symbol: acceptable(metadata?.symbol, MAX_SYMBOL_BYTES),
  uri: acceptableUri(metadata?.uri),
  ...{ supply, decimals, program, description: '', image: null },
});

/**
 * One token. Only the chain describes an official or an unlisted token, so nothing is shown without the chain.
 * @param id numeric id, or mint address
 * @throws AppError UPSTREAM_FAILED
 */
export async function readToken(
  deps: OfficialDeps & Pick<TokenDeps, 'tokens' | 'officialMints'>,
  id: string,
): Promise<z.infer<typeof TokenRecord> | undefined> {
  const asset = deps.officialMints.get(id);
  if (asset) return officialBody(deps, id, asset);
  const row = await findToken(deps.tokens, id);
  if (!row) return undefined;
  if (row.listedAt !== null) {
    const found = await readTokenFacts(deps.facts, [row]);
    return { ...tokenBody(row, found.get(row.mint)), official: null };
  }
  const facts = await factsNow(deps.facts, row);
  return facts === null ? undefined : { ...tokenBody(asOnChain(row, facts), facts), official: null };
}

/** @param id numeric id, or mint address */
async function findToken(tokens: TokenStore, id: string): Promise<TokenRow | undefined> {
  if (/^[1-9]\d{0,14}$/.test(id)) return tokens.byId(Number(id));
  return isAddress(id) ? tokens.byMint(id) : undefined;
}

const quoteRoute = createRoute({
  method: 'get',
  path: '/tokens/quote',
  operationId: 'quoteToken',
  tags: ['tokens'],
  summary: 'Quote a token',
  description: 'The price of a new token and its parts; nothing is ordered.',
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
        max_lamports: z.int().describe('No invoice for this token asks for more'),
        listing_max_lamports: z.int().describe('No listing of a token made elsewhere asks for more'),
        amount: z.string().describe('The same SOL as text'),
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
  description: "The target of the token's on-chain uri; it never changes.",
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
  // Registered before `/tokens/{id}`, which would match this path too.
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
    const fee = await creationFee(design, deps.invoiceMargin, deps.rentExemption);
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
    // Only the uri of a token created here points to this path.
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
