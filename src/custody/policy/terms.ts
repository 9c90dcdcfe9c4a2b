/**
 * What the transaction policy compares with: the reserve's own addresses, its limits and the order. The quote is
 * compared first (S20 and S21).
 * @module
 */

import { judgeLifiQuote, type Tool } from '../../bridges/lifi-quote.ts';
import { SIGNATURE_FEE } from '../../chain/solana/transaction.ts';
import type { Lamports, Sats } from '../../core/amount.ts';
import type { LifiQuote } from '../../providers/lifi.ts';
import { type PolicyRefusal, refuse } from './refusal.ts';

export type PolicyLimits = {
  /** Maximum priority fee in lamports. */
  readonly maxPriorityFee: bigint;
  /** Maximum of LI.FI's fee transfer and fee lines, as a share of the amount. */
  readonly maxFeeBps: number;
  /** Maximum of broker and affiliate fees of a vault swap together. */
  readonly maxBrokerBps: number;
  /** Maximum rent in lamports for accounts that a vault swap opens. */
  readonly maxRent: bigint;
  /** Lamports that stay in the reserve. */
  readonly floor: bigint;
};

/** Lamports that may leave in addition to the amount of a swap: signature, priority fee and rent. */
export const overheadOf = ({ maxPriorityFee, maxRent }: PolicyLimits): bigint =>
  SIGNATURE_FEE + maxPriorityFee + maxRent;

export type PolicyTerms = {
  readonly reserveAddress: string;
  readonly bitcoinAddress: string;
  /** Token accounts, mints and authorities of ours; a swap may not use any of them. */
  readonly ownAccounts: readonly string[];
  readonly limits: PolicyLimits;
};

export type SwapOrder = {
  readonly amount: Lamports;
  readonly slippageBps: number;
  /** Minimum output at an independent price, less our slippage and costs. */
  readonly floorSats: Sats;
};

/** The blockhash, the price and the one-time address expire together. */
const MAX_AGE_MS = 60_000;

/**
 * S20 and S21: the quote matches our own request, is fresh, and pays enough at our own price.
 * @param ageMs milliseconds since the request was sent
 */
export function checkQuote(
  quote: LifiQuote,
  order: SwapOrder,
  terms: PolicyTerms,
  ageMs: number,
): PolicyRefusal | { readonly ok: true; readonly tool: Tool } {
  const echo = judgeLifiQuote(quote, {
    amount: order.amount,
    slippageBps: order.slippageBps,
    reserveAddress: terms.reserveAddress,
    bitcoinAddress: terms.bitcoinAddress,
    maxFeeBps: terms.limits.maxFeeBps,
  });
  if (!echo.ok) return refuse(echo.reason);
  if (!(ageMs >= 0 && ageMs <= MAX_AGE_MS)) return refuse('quote_stale');
  return BigInt(quote.estimate.toAmountMin) < order.floorSats ? refuse('quote_minimum') : echo;
}
