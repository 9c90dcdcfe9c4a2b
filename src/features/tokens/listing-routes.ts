import { createRoute, z } from '@hono/zod-openapi';
import { SOL_DECIMALS, toNumber } from '../../core/amount.ts';
import { MAX_WAIT_MS } from '../../core/durations.ts';
import { AppError } from '../../core/errors.ts';
import type { RequestView } from '../../custody/api.ts';
import { jsonBody } from '../../http/body.ts';
import { decodeCursor, encodeCursor, pageOf, pageParams } from '../../http/paging.ts';
import { integerMember, integerParam, snakeCased } from '../../http/params.ts';
import { clientKey, limitReads, rateLimit } from '../../http/rate-limit.ts';
import { errorResponses, jsonResponse, nextCursor } from '../../http/responses.ts';
import { component, jsonRequest, newRouter } from '../../http/router.ts';
import {
  address,
  type ConfirmPaymentDeps,
  confirmErrors,
  confirmPayment,
  instant,
  PaymentProgress,
  PaymentRequest,
  paymentBody,
  paymentSignature,
  progressBody,
  requestErrors,
  requestId,
} from '../payments/paid-request.ts';
import { type RequestListingDeps, requestListing } from './request-listing.ts';
import { pageOfTokens } from './routes.ts';
import type { SearchStore } from './search-store.ts';
import type { TokenFactsDeps } from './token-facts.ts';
import type { TokenStore } from './token-store.ts';
import { Token, tokenBodies } from './token-view.ts';

export type ListingDeps = RequestListingDeps &
  ConfirmPaymentDeps & {
    readonly tokens: TokenStore;
    readonly search: SearchStore;
    readonly facts: TokenFactsDeps;
    readonly requirePayments: () => string;
  };

const Listing = component('Listing', {
  listing_request_id: z.string(),
  token_id: z.int(),
  fee_sol: z.number(),
  fee_lamports: z.int(),
  status: z.enum(['pending', 'confirmed']),
  ...PaymentProgress.shape,
  payment_tx_signature: z.string().nullable(),
  created_at: instant,
  confirmed_at: instant.nullable(),
});

const listingBody = (view: RequestView): z.infer<typeof Listing> => ({
  listing_request_id: view.id,
  token_id: view.tokenId ?? Number(view.subject.tokenId),
  fee_sol: toNumber(BigInt(view.feeLamports), SOL_DECIMALS),
  fee_lamports: Number(view.feeLamports),
  status: view.status === 'completed' ? 'confirmed' : 'pending',
  ...progressBody(view),
  payment_tx_signature: view.paymentSignature,
  created_at: view.createdAt,
  confirmed_at: view.completedAt,
});

const SEARCH_LIMIT = 20;
const SEARCH = 'search';
const SearchKey = z.tuple([z.int().min(0).max(5), z.string().max(400), z.int().min(-1)]);
const NEWEST = 'newest';
const NewestKey = z.tuple([z.int()]);
const LISTINGS = 'listings';
const ListingsKey = z.tuple([z.string(), z.string()]);

const searchRoute = createRoute({
  method: 'get',
  path: '/listings/search',
  operationId: 'searchTokens',
  tags: ['tokens'],
  summary: 'Search listed tokens',
  description: 'Listed tokens by symbol, name, mint or creator.',
  middleware: [limitReads] as const,
  request: {
    query: z.object({
      q: z
        .string()
        .trim()
        .max(64)
        .optional()
        .describe(
          'Part of a name or symbol (one or two letters: its start), or the start of an address. Without it, the newest tokens',
        ),
      ...pageParams(SEARCH_LIMIT),
    }),
  },
  responses: {
    200: jsonResponse(
      component('TokenSearch', { tokens: z.array(Token), next_cursor: z.string().nullable() }),
      'Best matches first; newest first without q',
    ),
    ...errorResponses(['INVALID_INPUT', 'RATE_LIMITED', 'DATABASE_UNAVAILABLE']),
  },
});

const listRoute = createRoute({
  method: 'get',
  path: '/listings',
  operationId: 'listListings',
  tags: ['tokens'],
  summary: 'List listing records',
  description: 'Listing records, newest first.',
  middleware: [limitReads] as const,
  request: {
    query: z.object({
      ...pageParams(),
      token_id: integerParam(1).optional(),
    }),
  },
  responses: {
    200: jsonResponse(
      component('Listings', { listings: z.array(Listing), next_cursor: nextCursor }),
      'Listings',
    ),
    ...errorResponses(['INVALID_INPUT', 'RATE_LIMITED', 'DATABASE_UNAVAILABLE']),
  },
});

const requestRoute = createRoute({
  method: 'post',
  path: '/listings/request',
  operationId: 'requestListing',
  tags: ['tokens'],
  summary: 'Request a listing',
  description:
    'Requests the listing of a token created elsewhere; returns the amount to pay and the address. The members may be in camel case.',
  middleware: [rateLimit('invoices'), jsonBody] as const,
  request: {
    body: jsonRequest(
      snakeCased(
        component('ListingRequest', {
          token_id: integerMember(1).optional().describe('Either this or mint_address; number or string'),
          mint_address: address.optional(),
        }).openapi({ oneOf: [{ required: ['token_id'] }, { required: ['mint_address'] }] }),
      ),
    ),
  },
  responses: {
    200: jsonResponse(
      PaymentRequest.extend({
        listing_request_id: z.uuid(),
        token_id: z.int(),
        status: Listing.shape.status.describe('confirmed: already listed, with a fee of 0'),
        listing: Listing,
        message: z.string(),
      }).openapi('ListingRequested'),
      'Payment instructions; for a listed token, its listing',
    ),
    ...errorResponses([
      ...requestErrors,
      'NOT_FOUND',
      'DATABASE_UNAVAILABLE',
      'ALREADY_LISTED',
      'INVALID_TOKEN_TEXT',
      'NOT_A_MINT',
      'NO_METADATA',
      'LISTING_REFUSED',
      'SALES_PAUSED',
      'TOO_MANY_OPEN_REQUESTS',
    ]),
  },
});

const confirmRoute = createRoute({
  method: 'post',
  path: '/listings/confirm',
  operationId: 'confirmListing',
  tags: ['tokens'],
  summary: 'Confirm a listing payment',
  description: `Confirms the payment of a listing and waits up to ${MAX_WAIT_MS / 1_000} seconds for it. The service also finds payments without this call. The members may be in camel case.`,
  middleware: [rateLimit('invoices'), jsonBody] as const,
  request: {
    body: jsonRequest(
      snakeCased(
        component('ListingConfirm', { listing_request_id: requestId, tx_signature: paymentSignature }),
      ),
    ),
  },
  responses: {
    200: jsonResponse(
      component('ListingConfirmed', { ok: z.literal(true), listing: Listing, message: z.string() }),
      'The token is listed',
    ),
    ...errorResponses(confirmErrors),
  },
});

export const listingRoutes = newRouter<{ readonly tokens: ListingDeps }>()
  .openapi(searchRoute, async (c) => {
    const { q, limit, cursor } = c.req.valid('query');
    const deps = c.var.deps.tokens;
    if (!q) {
      const below = decodeCursor(NEWEST, NewestKey, cursor)?.[0];
      const read = await deps.tokens.list(limit + 1, below);
      return c.json(await pageOfTokens(deps, NEWEST, read, limit), 200);
    }
    const key = decodeCursor(SEARCH, SearchKey, cursor);
    const from = key && { step: key[0], text: key[1], tokenId: key[2] };
    const { tokens, next } = await deps.search.search(q, from, limit);
    return c.json(
      {
        tokens: await tokenBodies(deps, tokens),
        next_cursor: next && encodeCursor(SEARCH, [next.step, next.text, next.tokenId]),
      },
      200,
    );
  })
  .openapi(listRoute, async (c) => {
    const { token_id: ofToken, limit, cursor } = c.req.valid('query');
    const after = decodeCursor(LISTINGS, ListingsKey, cursor) ?? undefined;
    const read = await c.var.deps.tokens.tokens.listings(ofToken, limit + 1, after);
    const { rows, next } = pageOf(LISTINGS, read, limit, ({ createdAt, id }) => [createdAt, id]);
    return c.json({ listings: rows.map(listingBody), next_cursor: next }, 200);
  })
  .openapi(requestRoute, async (c) => {
    const treasury = c.var.deps.tokens.requirePayments();
    const { token_id: id, mint_address: mint } = c.req.valid('json');
    if ((id === undefined) === (mint === undefined)) {
      throw new AppError('INVALID_INPUT', 'Give either token_id or mint_address.');
    }
    const listed = id === undefined ? { mint: mint ?? '' } : { tokenId: id };
    const request = await requestListing(c.var.deps.tokens, listed, clientKey(c));
    const isListed = request.status === 'completed';
    const due = isListed ? { ...request, feeLamports: '0' } : request;
    const payment = paymentBody(due, treasury, `Listing ${String(request.subject.symbol)}`);
    const message = isListed
      ? 'The token is already listed. No payment is needed.'
      : `Pay exactly ${payment.amount} SOL to ${payment.treasury_address}, or open the solana_pay_url. The token is listed when the payment is final.`;
    const listing = listingBody(request);
    return c.json(
      {
        listing_request_id: request.id,
        token_id: listing.token_id,
        status: listing.status,
        listing,
        ...payment,
        message,
      },
      200,
    );
  })
  .openapi(confirmRoute, async (c) => {
    c.var.deps.tokens.requirePayments();
    const { listing_request_id: id, tx_signature: signature } = c.req.valid('json');
    const request = await confirmPayment(c.var.deps.tokens, {
      kind: 'listing',
      id,
      signature,
      client: clientKey(c),
    });
    return c.json({ ok: true as const, listing: listingBody(request), message: 'The token is listed.' }, 200);
  });
