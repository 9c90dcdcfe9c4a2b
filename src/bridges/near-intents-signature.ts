/**
 * Verifies the signature of a 1Click quote. It covers deposit address, recipient, refund address, assets and amounts.
 *
 * The signed message is base58(SHA-256(J)) as UTF-8. J is flat JSON of the fields below, with sorted keys and without
 * white space. The signature does not cover the request's deadline, appFees, confidentiality and depositMode.
 *
 * BTC has two asset ids, and the id in the response may differ from the signed one: see `BTC_ASSET_IDS`.
 * @see defuse-protocol/one-click-sdk-typescript src/quote-signature
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import { isSignedBy, verifyingKey } from '../chain/ed25519.ts';
import { decodeBase58 } from '../chain/solana/address.ts';
import { BTC_ASSET_IDS, type OneClickQuote } from '../providers/near-intents.ts';

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
/**
 * Fields of the quote that are signed if they are set and the quote is not dry. If the quote has a `deadline`, that
 * deadline is signed instead of the request's.
 */
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

/** The message that 1Click signs for a quote. The quote must have the same asset ids as the signed message. */
export function quoteHashText({ quoteRequest, quote, timestamp }: OneClickQuote): string {
  const fields: Record<string, unknown> = { timestamp };
  for (const key of REQUEST_ALWAYS) fields[key] = quoteRequest[key];
  for (const key of REQUEST_WHEN_SET) if (quoteRequest[key]) fields[key] = quoteRequest[key];
  for (const key of QUOTE_ALWAYS) fields[key] = quote[key];
  if (!quoteRequest.dry) for (const key of QUOTE_WHEN_SET) if (quote[key]) fields[key] = quote[key];
  const sorted = Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
  return base58.encode(sha256(utf8ToBytes(JSON.stringify(sorted))));
}

/** One copy of the quote for each asset id of BTC, or only the quote itself if it does not include BTC. */
function spellings(quote: OneClickQuote): readonly OneClickQuote[] {
  const { originAsset, destinationAsset } = quote.quoteRequest;
  const isBtc = (id: string): boolean => BTC_ASSET_IDS.includes(id);
  if (!isBtc(originAsset) && !isBtc(destinationAsset)) return [quote];
  return BTC_ASSET_IDS.map((id) => ({
    ...quote,
    quoteRequest: {
      ...quote.quoteRequest,
      originAsset: isBtc(originAsset) ? id : originAsset,
      destinationAsset: isBtc(destinationAsset) ? id : destinationAsset,
    },
  }));
}

const ED25519 = 'ed25519:';

/** The bytes after `ed25519:`; undefined unless there are exactly `length` of them. */
const bytesOf = (text: string, length: number): Uint8Array | undefined =>
  text.startsWith(ED25519) ? decodeBase58(text.slice(ED25519.length), length) : undefined;

/** The last key imported. Importing a key takes longer than verifying a signature. */
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
  for (const spelling of spellings(quote)) {
    if (await isSignedBy(key, utf8ToBytes(quoteHashText(spelling)), signature)) return true;
  }
  return false;
}
