/**
 * S20 and S21: the quote answers our own request, is fresh, and pays enough by our own price.
 * @module
 */
import { judgeLifiQuote, type Tool } from '../../bridges/lifi-quote.ts';
import type { LifiQuote } from '../../providers/lifi.ts';
import { refuse, type ScreenRefusal } from './refusal.ts';
import type { ScreenDesk, SwapOrder } from './terms.ts';

/** The blockhash, the price and the one-time address are all of this moment. */
const MAX_AGE_MS = 60_000;

/** @param ageMs since the request was sent, milliseconds */
export function screenQuote(
  quote: LifiQuote,
  order: SwapOrder,
  desk: ScreenDesk,
  ageMs: number,
): ScreenRefusal | { readonly ok: true; readonly tool: Tool } {
  const echo = judgeLifiQuote(quote, {
    amount: order.amount,
    slippageBps: order.slippageBps,
    reserveAddress: desk.reserveAddress,
    bitcoinAddress: desk.bitcoinAddress,
    maxFeeBps: desk.limits.maxFeeBps,
  });
  if (!echo.ok) return refuse(echo.reason);
  if (!(ageMs >= 0 && ageMs <= MAX_AGE_MS)) return refuse('quote_stale');
  return BigInt(quote.estimate.toAmountMin) < order.floorSats ? refuse('quote_minimum') : echo;
}
