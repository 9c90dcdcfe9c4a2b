/** Quotes as 1Click would sign them, signed with a test key. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import {
  BTC_ASSET,
  type OneClickQuote,
  type OneClickRequest,
  SOL_ASSET,
} from '../../src/providers/near-intents.ts';
import { quoteMessage } from '../world/quote-signature.ts';

const SEED = new Uint8Array(32).fill(5);

export const QUOTE_KEY = `ed25519:${base58.encode(ed25519.getPublicKey(SEED))}`;

export const NOW = Date.parse('2026-11-20T10:00:02.000Z');
export const RESERVE = base58.encode(new Uint8Array(32).fill(3));
export const DEPOSIT = base58.encode(new Uint8Array(32).fill(102));

/** Our request of a firm quote, at the time NOW. */
export const FIRM: OneClickRequest = {
  dry: false,
  originAsset: SOL_ASSET,
  destinationAsset: BTC_ASSET,
  amount: 1_000_000_000n,
  slippageBps: 50,
  refundTo: RESERVE,
  recipient: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  deadline: '2026-11-20T11:00:02.000Z',
};

/** Signs the changed quote again, so that a refusal is not due to the signature. */
export function resign(quote: OneClickQuote): OneClickQuote {
  const message = quoteMessage(quote.quoteRequest, quote.quote, quote.timestamp);
  return { ...quote, signature: `ed25519:${base58.encode(ed25519.sign(message, SEED))}` };
}

export type Change = {
  readonly quoteRequest?: Partial<OneClickQuote['quoteRequest']>;
  readonly quote?: Partial<OneClickQuote['quote']>;
};

/** The honest answer to a request, then changed, then signed. */
export function answerTo(
  request: OneClickRequest,
  depositAddress: string,
  change: Change = {},
): OneClickQuote {
  const amount = request.amount.toString();
  const firm = {
    depositAddress,
    deadline: '2026-11-23T10:20:00.000Z',
    timeWhenInactive: '2026-11-23T10:20:00.000Z',
  };
  return resign({
    timestamp: '2026-11-20T10:00:01.104Z',
    signature: '',
    quoteRequest: {
      dry: request.dry,
      depositMode: 'SIMPLE',
      swapType: 'EXACT_INPUT',
      slippageTolerance: request.slippageBps,
      originAsset: request.originAsset,
      depositType: 'ORIGIN_CHAIN',
      destinationAsset: request.destinationAsset,
      amount,
      refundTo: request.refundTo,
      refundType: 'ORIGIN_CHAIN',
      recipient: request.recipient,
      recipientType: 'DESTINATION_CHAIN',
      deadline: request.deadline,
      ...change.quoteRequest,
    },
    quote: {
      amountIn: amount,
      amountInFormatted: '1.0',
      amountInUsd: '100.0',
      minAmountIn: amount,
      amountOut: '124375',
      amountOutFormatted: '0.00124375',
      amountOutUsd: '99.5',
      minAmountOut: '123753',
      timeEstimate: 465,
      withdrawFee: '1500',
      ...(request.dry ? {} : firm),
      ...change.quote,
    },
  });
}
