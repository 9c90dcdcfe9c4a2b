/**
 * Compares a LI.FI quote with our request field by field. The transaction policy checks its bytes.
 * @module
 */
import type { Lamports } from '../core/amount.ts';
import {
  BITCOIN_CHAIN_ID,
  BTC_TOKEN,
  type LifiQuote,
  SOL_TOKEN,
  SOLANA_CHAIN_ID,
} from '../providers/lifi.ts';

/** The tools whose BTC destination can be confirmed. A quote of any other tool is refused. */
export const TOOLS = ['near', 'chainflip'] as const;
export type Tool = (typeof TOOLS)[number];

export type LifiQuoteRefusal =
  | 'quote_tool'
  | 'quote_execution'
  | 'quote_chain'
  | 'quote_token'
  | 'quote_from_amount'
  | 'quote_from_address'
  | 'quote_to_address'
  | 'quote_echo_slippage'
  | 'quote_minimum'
  | 'quote_fee_on_top'
  | 'quote_fee_token'
  | 'quote_fees';

export type LifiExpectation = {
  readonly amount: Lamports;
  readonly slippageBps: number;
  readonly reserveAddress: string;
  readonly bitcoinAddress: string;
  /** LI.FI's fee lines, on the input and on the output. */
  readonly maxFeeBps: number;
};

type Verdict =
  | { readonly ok: false; readonly reason: LifiQuoteRefusal }
  | { readonly ok: true; readonly tool: Tool };

export function judgeLifiQuote(quote: LifiQuote, expected: LifiExpectation): Verdict {
  const { action, estimate } = quote;
  const refuse = (reason: LifiQuoteRefusal): Verdict => ({ ok: false, reason });

  const tool = TOOLS.find((name) => name === quote.tool && name === estimate.tool);
  if (!tool) return refuse('quote_tool');
  if ((quote.executionType ?? 'transaction') !== 'transaction') return refuse('quote_execution');
  if (action.fromChainId !== SOLANA_CHAIN_ID || action.toChainId !== BITCOIN_CHAIN_ID) {
    return refuse('quote_chain');
  }
  const [from, to] = [action.fromToken, action.toToken];
  const isOurPair = isSol(from) && from.decimals === 9 && isBtc(to) && to.decimals === 8;
  if (!isOurPair) return refuse('quote_token');
  const amount = expected.amount.toString();
  if (action.fromAmount !== amount || estimate.fromAmount !== amount) return refuse('quote_from_amount');
  if (action.fromAddress !== expected.reserveAddress) return refuse('quote_from_address');
  if (action.toAddress !== expected.bitcoinAddress) return refuse('quote_to_address');
  if (action.slippage !== expected.slippageBps / 10_000) return refuse('quote_echo_slippage');
  const minimum = BigInt(estimate.toAmountMin);
  if (minimum <= 0n || minimum > BigInt(estimate.toAmount)) return refuse('quote_minimum');
  const fees = refusedFees(quote, expected.maxFeeBps);
  return fees ? refuse(fees) : { ok: true, tool };
}

type Token = LifiQuote['action']['toToken'];
const isSol = ({ chainId, address }: Token): boolean => chainId === SOLANA_CHAIN_ID && address === SOL_TOKEN;
const isBtc = ({ chainId, address }: Token): boolean => chainId === BITCOIN_CHAIN_ID && address === BTC_TOKEN;

/** The cap applies to fee lines in SOL as a share of the input, and to lines in BTC as a share of the output. */
function refusedFees({ estimate }: LifiQuote, maxFeeBps: number): LifiQuoteRefusal | undefined {
  let ofInput = 0n;
  let ofOutput = 0n;
  for (const { token, amount, included } of estimate.feeCosts ?? []) {
    if (!included) return 'quote_fee_on_top';
    if (isSol(token)) ofInput += BigInt(amount);
    else if (isBtc(token)) ofOutput += BigInt(amount);
    else return 'quote_fee_token';
  }
  const cap = BigInt(maxFeeBps);
  const isTooMuch =
    ofInput * 10_000n > BigInt(estimate.fromAmount) * cap ||
    ofOutput * 10_000n > BigInt(estimate.toAmount) * cap;
  return isTooMuch ? 'quote_fees' : undefined;
}
