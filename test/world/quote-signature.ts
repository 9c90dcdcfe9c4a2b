import { sha256 } from '@noble/hashes/sha2.js';
import { base58 } from '@scure/base';

type Fields = Readonly<Record<string, unknown>>;

const REQUEST_ALWAYS = [
  'dry',
  'swapType',
  'slippageTolerance',
  'originAsset',
  'depositType',
  'destinationAsset',
  'amount',
  'refundTo',
  'refundType',
  'recipient',
  'recipientType',
  'deadline',
];
const REQUEST_IF_SET = [
  'quoteWaitingTimeMs',
  'referral',
  'virtualChainRecipient',
  'virtualChainRefundRecipient',
  'customRecipientMsg',
];
const QUOTE_ALWAYS = [
  'amountIn',
  'amountInFormatted',
  'amountInUsd',
  'minAmountIn',
  'amountOut',
  'amountOutFormatted',
  'amountOutUsd',
  'minAmountOut',
];
const QUOTE_IF_SET = [
  'depositAddress',
  'depositMemo',
  'deadline',
  'timeWhenInactive',
  'timeEstimate',
  'virtualChainRecipient',
  'virtualChainRefundRecipient',
  'customRecipientMsg',
  'refundFee',
  'withdrawFee',
];

/**
 * The bytes that 1Click signs for a quote: base58 of the SHA-256 of one flat JSON object with sorted keys.
 * A quote's own deadline replaces the request's. Source: defuse-protocol/one-click-sdk-typescript, quote signature.
 */
export function quoteMessage(quoteRequest: Fields, quote: Fields, timestamp: string): Uint8Array {
  const flat: Record<string, unknown> = {};
  const copy = (from: Fields, keys: readonly string[], always: boolean): void => {
    for (const key of keys) if (always ? from[key] !== undefined : Boolean(from[key])) flat[key] = from[key];
  };
  copy(quoteRequest, REQUEST_ALWAYS, true);
  copy(quoteRequest, REQUEST_IF_SET, false);
  copy(quote, QUOTE_ALWAYS, true);
  if (quoteRequest.dry !== true) copy(quote, QUOTE_IF_SET, false);
  flat.timestamp = timestamp;
  const sorted = Object.fromEntries(Object.entries(flat).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const digest = sha256(new TextEncoder().encode(JSON.stringify(sorted)));
  return new TextEncoder().encode(base58.encode(digest));
}
