/**
 * A swap route: a source of quotes and of swap states. Each response is compared with our request before it is returned.
 * @module
 */
import type { Lamports, Sats } from '../core/amount.ts';
import type { StatedAmount } from '../providers/near-intents-refusal.ts';

export type SwapQuote = {
  /** Name of the route that settles the swap. */
  readonly route: string;
  readonly amount: Lamports;
  readonly expectedSats: Sats;
  readonly minimumSats: Sats;
  /** The bridge's fixed payout cost, already deducted from `expectedSats`. */
  readonly fixedFeeSats: Sats;
  /** Unix milliseconds until which the bridge accepts the deposit; null on a dry quote. */
  readonly expiresAt: number | null;
  /** The bridge's estimate of the swap's duration in seconds; null if the quote does not state one. */
  readonly etaSeconds: number | null;
  /** The one-time Solana address to pay; null on a dry quote. */
  readonly depositAddress: string | null;
  /** The bridge's signed quote as JSON, kept for a support request; absent on a dry quote. */
  readonly signed?: string;
};

export type QuoteVerdict =
  | { readonly ok: true; readonly quote: SwapQuote }
  /** `least`: the minimum amount that the bridge states. */
  | { readonly ok: false; readonly reason: string; readonly least?: StatedAmount };

/** The bridge's report of a swap. A payment is accepted only when our own reads of the chains show it. */
export type BridgeReport =
  | { readonly state: 'pending'; readonly detail: string }
  | { readonly state: 'delivered'; readonly txids: readonly string[] }
  | {
      readonly state: 'refunded';
      /** The announced sum; 0 or null while it is unknown. */
      readonly amount: Lamports | null;
      /** The part of a refund that the bridge keeps; absent if the bridge does not state it. */
      readonly fee?: Lamports;
      /** Solana transactions that the bridge names, without proof that one of them is the refund. */
      readonly signatures?: readonly string[];
    }
  | { readonly state: 'failed'; readonly reason: string };

/** The bridge's view of a swap, as JSON of at most 500 characters, kept for a support request. */
export type ShownStatus = { readonly shown?: string };

export type SwapRoute = {
  /** Stored with each swap, because only the route that quoted a swap can report its state. */
  readonly name: string;
  /** A dry quote does not open a deposit address. @throws AppError UPSTREAM_FAILED */
  quote(request: { amount: Lamports; dry: boolean }): Promise<QuoteVerdict>;
  /** The state of the swap that paid this one-time address. @throws AppError UPSTREAM_FAILED */
  report(depositAddress: string): Promise<BridgeReport & ShownStatus>;
  /** Tells the bridge which transaction paid the address. The bridge also finds the deposit without this call. */
  announce?(depositAddress: string, signature: string): Promise<void>;
};
