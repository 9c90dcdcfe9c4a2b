/**
 * S20 and S21: the quote answers our own request, is fresh, and pays enough by our own price.
 * @module
 */
import {
  BITCOIN_CHAIN_ID,
  BTC_TOKEN,
  type LifiQuote,
  SOL_TOKEN,
  SOLANA_CHAIN_ID,
} from '../../providers/lifi.ts';
import { type ScreenDesk, type SwapOrder, TOOLS, type Tool } from './desk.ts';
import { refuse, type ScreenRefusal } from './refusal.ts';

/** The blockhash, the price and the one-time address are all of this moment. */
const MAX_AGE_MS = 60_000;

/** @param ageMs since the request was sent, milliseconds */
export function screenQuote(
  quote: LifiQuote,
  order: SwapOrder,
  desk: ScreenDesk,
  ageMs: number,
): ScreenRefusal | { readonly ok: true; readonly tool: Tool } {
  const { action, estimate } = quote;
  const tool = TOOLS.find((name) => name === quote.tool && name === estimate.tool);
  if (!tool) return refuse('quote_tool');
  if ((quote.executionType ?? 'transaction') !== 'transaction') return refuse('quote_execution');
  if (action.fromChainId !== SOLANA_CHAIN_ID || action.toChainId !== BITCOIN_CHAIN_ID) {
    return refuse('quote_chain');
  }
  const [from, to] = [action.fromToken, action.toToken];
  const isOurPair =
    from.address === SOL_TOKEN &&
    from.chainId === SOLANA_CHAIN_ID &&
    from.decimals === 9 &&
    to.address === BTC_TOKEN &&
    to.chainId === BITCOIN_CHAIN_ID &&
    to.decimals === 8;
  if (!isOurPair) return refuse('quote_token');
  const amount = order.amount.toString();
  if (action.fromAmount !== amount || estimate.fromAmount !== amount) return refuse('quote_from_amount');
  if (action.fromAddress !== desk.reserveAddress) return refuse('quote_from_address');
  if (action.toAddress !== desk.bitcoinAddress) return refuse('quote_to_address');
  if (action.slippage !== order.slippageBps / 10_000) return refuse('quote_echo_slippage');
  if (!(ageMs >= 0 && ageMs <= MAX_AGE_MS)) return refuse('quote_stale');
  const minimum = BigInt(estimate.toAmountMin);
  if (minimum < order.floorSats || minimum > BigInt(estimate.toAmount)) return refuse('quote_minimum');
  return screenFees(quote, desk) ?? { ok: true, tool };
}

/** Lines in SOL are held against what goes in, lines in BTC against what comes out. */
function screenFees({ estimate }: LifiQuote, desk: ScreenDesk): ScreenRefusal | undefined {
  let ofInput = 0n;
  let ofOutput = 0n;
  for (const { token, amount, included } of estimate.feeCosts ?? []) {
    if (!included) return refuse('quote_fee_on_top');
    if (token.chainId === SOLANA_CHAIN_ID && token.address === SOL_TOKEN) ofInput += BigInt(amount);
    else if (token.chainId === BITCOIN_CHAIN_ID && token.address === BTC_TOKEN) ofOutput += BigInt(amount);
    else return refuse('quote_fee_token');
  }
  const cap = BigInt(desk.limits.maxFeeBps);
  const isTooMuch =
    ofInput * 10_000n > BigInt(estimate.fromAmount) * cap ||
    ofOutput * 10_000n > BigInt(estimate.toAmount) * cap;
  return isTooMuch ? refuse('quote_fees') : undefined;
}
