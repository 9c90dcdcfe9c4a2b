/** Quotes of the world's 1Click, signed with a test key. */
import { base58 } from '@scure/base';
import { isSignedQuote } from '../../src/bridges/near-intents-signature.ts';
import {
  BTC_ASSET,
  type OneClickQuote,
  type OneClickRequest,
  SOL_ASSET,
} from '../../src/providers/near-intents.ts';
import { createQuoteKey } from '../world/keys.ts';
import { answerOf, echoOf, quoteOf } from '../world/one-click-swap.ts';

export const SIGNING_KEY = createQuoteKey(new Uint8Array(32).fill(5));
export const QUOTE_KEY = SIGNING_KEY.publicKey;
export const isSigned = (quote: OneClickQuote) => isSignedQuote(quote, QUOTE_KEY);

export const NOW = Date.parse('2026-11-20T10:00:02.000Z');
export const RESERVE = base58.encode(new Uint8Array(32).fill(3));
export const DEPOSIT = base58.encode(new Uint8Array(32).fill(102));

/** Our request of a firm quote, at the time NOW. */
export const FIRM: OneClickRequest = {
  ...{ dry: false, originAsset: SOL_ASSET, destinationAsset: BTC_ASSET, amount: 1_000_000_000n },
  ...{ slippageBps: 50, refundTo: RESERVE, recipient: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' },
  deadline: '2026-11-20T11:00:02.000Z',
};

export type Change = {
  readonly quoteRequest?: Partial<OneClickQuote['quoteRequest']>;
  readonly quote?: Partial<OneClickQuote['quote']>;
};

const FIGURES = {
  ...{ amountInUsd: '100.0', amountOut: 124_375n, amountOutUsd: '99.5', minAmountOut: 123_753n },
  ...{ timeEstimate: 465, refundFee: 10_000n, withdrawFee: 1_500n },
};

/** The honest answer to a request, then changed, then signed. */
export function answerTo(
  { amount, slippageBps, ...asked }: OneClickRequest,
  depositAddress: string,
  change: Change = {},
): OneClickQuote {
  const echo = echoOf({
    ...asked,
    ...{ swapType: 'EXACT_INPUT', slippageTolerance: slippageBps, depositType: 'ORIGIN_CHAIN' },
    ...{ amount: amount.toString(), refundType: 'ORIGIN_CHAIN', recipientType: 'DESTINATION_CHAIN' },
  });
  const ends = asked.dry ? null : '2026-11-23T10:20:00.000Z';
  const quote = quoteOf({ ...FIGURES, amountIn: amount }, ends, asked.dry ? null : depositAddress);
  return answerOf({
    quoteRequest: { ...echo, ...change.quoteRequest } as typeof echo,
    quote: { ...quote, ...change.quote },
    timestamp: '2026-11-20T10:00:01.104Z',
    key: SIGNING_KEY,
    number: 1,
  }) as unknown as OneClickQuote;
}
