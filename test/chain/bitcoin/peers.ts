/**
 * Independent libraries, and random keys and messages for them. They do not support the BIP-322 prefix, so it
 * is removed here.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { Verifier } from 'bip322-js';
import { verify as verifyBitcoinMessage } from 'bitcoinjs-message';
import * as fc from 'fast-check';
import type { MessageInput } from '../../../src/chain/bitcoin/signed-message.ts';
import type { BitcoinKey } from '../../../src/chain/bitcoin/wif.ts';

export const secretKeys = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .filter((bytes) => secp256k1.utils.isValidSecretKey(bytes));

export const messages = fc.oneof(
  fc.constant(''),
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.string({ minLength: 253, maxLength: 700 }),
);

/** Our own WIF encoder, so that the decoder is not tested against itself. */
export function wifOf({ secretKey, compressed }: BitcoinKey, version = 0x80): string {
  const suffix = compressed ? [1] : [];
  return createBase58check(sha256).encode(Uint8Array.of(version, ...secretKey, ...suffix));
}

export const withoutPrefix = (signature: string): string => signature.replace(/^(smp|ful|pof)/, '');

function accepts(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

/** Whether each library accepts; an exception is a refusal. */
export function askPeers({ address, message, signature }: MessageInput): Record<string, boolean> {
  const bare = withoutPrefix(signature);
  const bip322 = accepts(() => Verifier.verifySignature(address, message, bare, true));
  if (/^bc1/i.test(address)) return { 'bip322-js': bip322 };
  return {
    'bip322-js': bip322,
    'bitcoinjs-message': accepts(() => verifyBitcoinMessage(message, address, bare)),
  };
}
