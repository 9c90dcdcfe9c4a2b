/**
 * S20 and S21: the quote matches our own request, is fresh, and pays enough at our own price.
 * @module
 */
import { judgeLifiQuote, type Tool } from '../../bridges/lifi-quote.ts';
import type { LifiQuote } from '../../providers/lifi.ts';
import { type PolicyRefusal, refuse } from './refusal.ts';
import type { PolicyTerms, SwapOrder } from './terms.ts';

/** The blockhash, the price and the one-time address expire together. */
const MAX_AGE_MS = 60_000;

/** @param ageMs milliseconds since the request was sent */
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
