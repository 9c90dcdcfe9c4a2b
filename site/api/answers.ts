/**
 * What the API answers, taken from the schemas that its own routes declare: the site cannot drift from them.
 * @module
 */
import type { ExtractSchema } from 'hono/types';
import type { analyticsRoutes } from '../../src/features/analytics/routes.ts';
import type { asryRoutes } from '../../src/features/asry/routes.ts';
import type { exchangeRoutes } from '../../src/features/exchange/routes.ts';
import type { nostrFeedRoutes } from '../../src/features/nostr-feed/routes.ts';
import type { absrRoutes } from '../../src/features/reserves/absr-routes.ts';
import type { proofRoutes } from '../../src/features/reserves/proof-routes.ts';
import type { reservesRoutes } from '../../src/features/reserves/routes.ts';
import type { statusRoutes } from '../../src/features/status/routes.ts';
import type { swapRoutes } from '../../src/features/swap/routes.ts';
import type { invoiceRoutes } from '../../src/features/tokens/invoice-routes.ts';
import type { listingRoutes } from '../../src/features/tokens/listing-routes.ts';
import type { tokenRoutes } from '../../src/features/tokens/routes.ts';

/** The answer with status 200 of one route. */
type Ok<Endpoints, Path extends keyof Endpoints, Method extends keyof Endpoints[Path]> =
  Extract<Endpoints[Path][Method], { status: 200 }> extends { output: infer Output } ? Output : never;

type Reserve = ExtractSchema<typeof reservesRoutes>;
type Proofs = ExtractSchema<typeof proofRoutes>;
type Absr = ExtractSchema<typeof absrRoutes>;
type Swaps = ExtractSchema<typeof swapRoutes>;
type Exchanges = ExtractSchema<typeof exchangeRoutes>;
type Invoices = ExtractSchema<typeof invoiceRoutes>;
type Listings = ExtractSchema<typeof listingRoutes>;
type Tokens = ExtractSchema<typeof tokenRoutes>;
type Asry = ExtractSchema<typeof asryRoutes>;
type Nostr = ExtractSchema<typeof nostrFeedRoutes>;
type Analytics = ExtractSchema<typeof analyticsRoutes>;
type Statuses = ExtractSchema<typeof statusRoutes>;

export type Reserves = Ok<Reserve, '/reserves', '$get'>;
export type BitcoinTransactions = Ok<Reserve, '/transactions/bitcoin', '$get'>;
export type SolanaTransactions = Ok<Reserve, '/transactions/solana', '$get'>;
export type Treasury = Ok<Reserve, '/explorer/treasury', '$get'>;
export type Proof = Ok<Proofs, '/proof', '$get'>;
export type ProofHistory = Ok<Proofs, '/proof/history', '$get'>;
export type AbsrSummary = Ok<Absr, '/arbitrage/summary', '$get'>;
export type AbsrTransactions = Ok<Absr, '/arbitrage/transactions', '$get'>;
export type SwapMinimum = Ok<Swaps, '/swap/min', '$get'>;
export type SwapEstimate = Ok<Swaps, '/swap/estimate', '$get'>;
export type SwapCreated = Ok<Swaps, '/swap/create', '$post'>;
export type SwapStatus = Ok<Swaps, '/swap/status/:id', '$get'>;
export type SwapHistory = Ok<Swaps, '/exchanges/transactions', '$get'>;
export type ExchangeMinimum = Ok<Exchanges, '/exchange/min', '$get'>;
export type ExchangeEstimate = Ok<Exchanges, '/exchange/estimate', '$get'>;
export type ExchangeCreated = Ok<Exchanges, '/exchange/create', '$post'>;
export type ExchangeStatus = Ok<Exchanges, '/exchange/status/:id', '$get'>;
export type InvoiceCreated = Ok<Invoices, '/invoices', '$post'>;
export type Invoice = Ok<Invoices, '/invoices/:id', '$get'>;
export type TokenSearch = Ok<Listings, '/listings/search', '$get'>;
export type ListingRequested = Ok<Listings, '/listings/request', '$post'>;
export type ListingList = Ok<Listings, '/listings', '$get'>;
export type TokenList = Ok<Tokens, '/tokens', '$get'>;
export type TokenView = Ok<Tokens, '/tokens/:id', '$get'>;
export type AsryEpochs = Ok<Asry, '/asry/epoch', '$get'>;
export type AsryClaim = Ok<Asry, '/asry/claim-from-deposit', '$post'>;
export type AsryClaimRecord = Ok<Asry, '/asry/claims/:signature', '$get'>;
export type NostrFeed = Ok<Nostr, '/nostr/feed', '$get'>;
export type NostrPosts = Ok<Nostr, '/nostr/posts', '$get'>;
export type Stats = Ok<Analytics, '/analytics/stats', '$get'>;
export type Status = Ok<Statuses, '/status', '$get'>;
