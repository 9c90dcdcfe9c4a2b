/**
 * A swap route: where a quote comes from and who says what became of it. Every answer is checked against our own
 * request before it leaves here.
 * @module
 */
import type { Lamports, Sats } from '../core/amount.ts';

export type RouteName = 'near-intents';

export type SwapQuote = {
  readonly route: RouteName;
  readonly amount: Lamports;
  readonly expectedSats: Sats;
  readonly minimumSats: Sats;
  /** The bridge's fixed cost of paying out, inside `expectedSats` already. */
  readonly fixedFeeSats: Sats;
  /** Unix milliseconds until which a deposit counts; null on a dry quote. */
  readonly expiresAt: number | null;
  /** Seconds that the bridge expects to need; null when it does not say. */
  readonly etaSeconds: number | null;
  /** The one-time Solana address to pay; null on a dry quote. */
  readonly depositAddress: string | null;
};

export type QuoteVerdict =
  | { readonly ok: true; readonly quote: SwapQuote }
  | { readonly ok: false; readonly reason: string };

/** What the bridge says. None of it is believed before our own view of the chain shows it. */
export type BridgeReport =
  | { readonly state: 'pending'; readonly detail: string }
  | { readonly state: 'delivered'; readonly txids: readonly string[] }
  | { readonly state: 'refunded'; readonly amount: Lamports | null }
  | { readonly state: 'failed'; readonly reason: string };

export type SwapRoute = {
  readonly name: RouteName;
  /** A dry quote opens no deposit address. @throws AppError UPSTREAM_FAILED */
  quote(request: { amount: Lamports; dry: boolean }): Promise<QuoteVerdict>;
  /** @throws AppError UPSTREAM_FAILED */
  report(depositAddress: string): Promise<BridgeReport>;
};
