/**
 * A swap route: a source of quotes and of swap states. Each answer is compared with our request before it is returned.
 * @module
 */
import type { Lamports, Sats } from '../core/amount.ts';
import type { LifiQuote } from '../providers/lifi.ts';

export const ROUTE_NAMES = ['near-intents', 'lifi'] as const;
export type RouteName = (typeof ROUTE_NAMES)[number];

/** A transaction that a third party has built. The transaction policy must pass it before it is signed. */
export type ThirdPartyOffer = {
  readonly quote: LifiQuote;
  readonly slippageBps: number;
  /** When the quote was requested, Unix milliseconds. */
  readonly askedAt: number;
};

export type SwapQuote = {
  readonly route: RouteName;
  readonly amount: Lamports;
  readonly expectedSats: Sats;
  readonly minimumSats: Sats;
  /** The bridge's fixed payout cost, already deducted from `expectedSats`; null if the quote does not show it. */
  readonly fixedFeeSats: Sats | null;
  /** Unix milliseconds until which a deposit counts; null on a dry quote. */
  readonly expiresAt: number | null;
  /** Seconds that the bridge expects the swap to take; null if the quote does not state it. */
  readonly etaSeconds: number | null;
  /** The one-time Solana address to pay; null on a dry quote, and where a third party has built the payment. */
  readonly depositAddress: string | null;
  /** The payment that a third party has built. */
  readonly thirdParty?: ThirdPartyOffer;
};

export type QuoteVerdict =
  | { readonly ok: true; readonly quote: SwapQuote }
  | { readonly ok: false; readonly reason: string };

/** The bridge's report of a swap. A payment counts only when our own reads of the chains show it. */
export type BridgeReport =
  | { readonly state: 'pending'; readonly detail: string }
  | { readonly state: 'delivered'; readonly txids: readonly string[] }
  /** Another token, or less than agreed. */
  | { readonly state: 'partial'; readonly txids: readonly string[] }
  | { readonly state: 'refunded'; readonly amount: Lamports | null }
  | { readonly state: 'failed'; readonly reason: string };

/** The data by which a bridge identifies a swap that was sent on Solana. */
export type SentSwap = {
  readonly signature: string;
  /** The one-time address that was paid; null for a payment that names its receiver itself. */
  readonly depositAddress: string | null;
  /** For a route with several tools. */
  readonly tool: string | null;
};

export type SwapRoute = {
  readonly name: RouteName;
  /** A dry quote opens no deposit address. @throws AppError UPSTREAM_FAILED */
  quote(request: { amount: Lamports; dry: boolean }): Promise<QuoteVerdict>;
  /** @throws AppError UPSTREAM_FAILED */
  report(swap: SentSwap): Promise<BridgeReport>;
};

/** Refusals of bridges that are available but have no quote, and their messages. */
const WITHOUT_QUOTE: Readonly<
  Record<string, { readonly code: string; readonly message: string; readonly retryAfterSeconds?: number }>
> = {
  amount_too_low: {
    code: 'AMOUNT_TOO_SMALL',
    message: 'The amount is below the minimum of the bridge. See GET /api/swap/min.',
  },
  amount_too_high: {
    code: 'AMOUNT_TOO_LARGE',
    message: "The amount is above the bridge's current maximum. Request a smaller one.",
  },
  no_route: {
    code: 'QUOTE_REFUSED',
    message: 'No bridge has liquidity for this amount now. Retry in a minute, or request a smaller amount.',
    retryAfterSeconds: 60,
  },
};

/** The error for a bridge that has no quote; undefined if a quote was refused or the upstream failed. */
export const withoutQuoteRefusal = (reason: string) => WITHOUT_QUOTE[reason];
