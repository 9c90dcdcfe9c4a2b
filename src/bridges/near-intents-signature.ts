/**
 * The signature that 1Click puts under every quote. It binds deposit address, recipient, refund address, assets and
 * amounts, so a quote that passes was not altered by whoever carried it.
 *
 * Signed is the UTF-8 text base58(SHA-256(J)), with J the flat JSON of the fields below, keys sorted, no white space.
 * Not covered: the request's deadline, appFees, confidentiality, depositMode.
 * @see defuse-protocol/one-click-sdk-typescript src/quote-signature
 * @module
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import type { OneClickQuote } from '../providers/near-intents.ts';

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
] as const;
const REQUEST_WHEN_SET = [
  'quoteWaitingTimeMs',
  'referral',
  'virtualChainRecipient',
  'virtualChainRefundRecipient',
  'customRecipientMsg',
] as const;
const QUOTE_ALWAYS = [
  'amountIn',
  'amountInFormatted',
  'amountInUsd',
  'minAmountIn',
  'amountOut',
  'amountOutFormatted',
  'amountOutUsd',
  'minAmountOut',
] as const;
/** Only of quotes that are not dry. `deadline` replaces the request's. */
const QUOTE_WHEN_SET = [
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
] as const;

/** The text under the signature. */
export function quoteHashText({ quoteRequest, quote, timestamp }: OneClickQuote): string {
  const fields: Record<string, unknown> = { timestamp };
  for (const key of REQUEST_ALWAYS) fields[key] = quoteRequest[key];
  for (const key of REQUEST_WHEN_SET) if (quoteRequest[key]) fields[key] = quoteRequest[key];
  for (const key of QUOTE_ALWAYS) fields[key] = quote[key];
  if (!quoteRequest.dry) for (const key of QUOTE_WHEN_SET) if (quote[key]) fields[key] = quote[key];
  const sorted = Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
  return base58.encode(sha256(utf8ToBytes(JSON.stringify(sorted))));
}

const ED25519 = 'ed25519:';

/** @param publicKey `ed25519:` and the base58 of 32 bytes, as the service publishes it */
export function isSignedQuote(quote: OneClickQuote, publicKey: string): boolean {
  if (!quote.signature.startsWith(ED25519) || !publicKey.startsWith(ED25519)) return false;
  try {
    return ed25519.verify(
      base58.decode(quote.signature.slice(ED25519.length)),
      utf8ToBytes(quoteHashText(quote)),
      base58.decode(publicKey.slice(ED25519.length)),
    );
  } catch {
    return false;
  }
}
