/**
 * The signature that 1Click puts under every quote. It binds deposit address, recipient, refund address, assets and
 * amounts, so a quote that passes was not altered by whoever carried it.
 *
 * Signed is the UTF-8 text base58(SHA-256(J)), with J the flat JSON of the fields below, keys sorted, no white space.
 * Not covered: the request's deadline, appFees, confidentiality, depositMode.
 * @see defuse-protocol/one-click-sdk-typescript src/quote-signature
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import { isSignedBy, verifyingKey } from '../chain/ed25519.ts';
import { decodeBase58 } from '../chain/solana/address.ts';
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

/** The bytes behind `ed25519:`, or undefined when there are not exactly so many. */
const bytesOf = (text: string, length: number): Uint8Array | undefined =>
  text.startsWith(ED25519) ? decodeBase58(text.slice(ED25519.length), length) : undefined;

/** The pinned key as it was last read: to judge one takes longer than to check a signature. */
let pinned: { readonly text: string; readonly key: CryptoKey | undefined } | undefined;

async function keyOf(text: string): Promise<CryptoKey | undefined> {
  if (pinned?.text === text) return pinned.key;
  const bytes = bytesOf(text, 32);
  const key = bytes && (await verifyingKey(bytes));
  pinned = { text, key };
  return key;
}

/** @param publicKey `ed25519:` and the base58 of 32 bytes, as the service publishes it */
export async function isSignedQuote(quote: OneClickQuote, publicKey: string): Promise<boolean> {
  const signature = bytesOf(quote.signature, 64);
  const key = await keyOf(publicKey);
  if (!signature || !key) return false;
  return isSignedBy(key, utf8ToBytes(quoteHashText(quote)), signature);
}
