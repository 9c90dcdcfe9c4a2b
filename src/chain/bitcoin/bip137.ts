/**
 * BIP-137 signed messages: a recoverable compact ECDSA signature of 65 bytes in base64. The first byte
 * encodes the address type (27-30 P2PKH of an uncompressed key, 31-34 P2PKH, 35-38 P2SH-P2WPKH, 39-42 P2WPKH)
 * and the recovery id. Only `1...` and `3...` are supported: bech32 addresses have BIP-322, and wallets never
 * agreed on 39-42.
 * @see https://github.com/bitcoin/bips/blob/master/bip-0137.mediawiki
 * @module
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { base64 } from '@scure/base';
import { CompactSize } from '@scure/btc-signer';
import { equalBytes, sha256x2 } from '@scure/btc-signer/utils.js';
import { decodeBase64 } from '../../core/base64.ts';
import { orUndefined } from '../../core/or-undefined.ts';
import { type BitcoinAddress, payToKey } from './address.ts';
import { invalid, messageBytes, unsupported, VALID, type Verdict } from './verdict.ts';
import type { BitcoinKey } from './wif.ts';

export type Bip137Type = 'p2pkh' | 'p2sh-p2wpkh';

const MAGIC = new TextEncoder().encode('\x18Bitcoin Signed Message:\n');

const messageHash = (message: Uint8Array): Uint8Array =>
  sha256x2(MAGIC, CompactSize.encode(BigInt(message.length)), message);

/** @returns base64; deterministic (RFC 6979, low S) */
export function signBip137(key: BitcoinKey, type: Bip137Type, message: string): string {
  const hash = messageHash(messageBytes(message));
  const signature = secp256k1.sign(hash, key.secretKey, { prehash: false, format: 'recovered' });
  const kind = type === 'p2sh-p2wpkh' ? 35 : key.compressed ? 31 : 27;
  signature[0] = kind + (signature[0] ?? 0);
  return base64.encode(signature);
}

/**
 * Strict: the header must match the address's own type, and S must be low, so that a signature has exactly
 * one encoding.
 */
export function verifyBip137(address: BitcoinAddress, message: string, signature: string): Verdict {
  if (address.type !== 'p2pkh' && address.type !== 'p2sh') {
    return unsupported('BIP-137 is supported for P2PKH and P2SH-P2WPKH addresses only');
  }
  const bytes = decodeBase64(signature);
  if (!bytes) return invalid('the signature is not canonical base64');
  const header = bytes[0] ?? 0;
  if (bytes.length !== 65) return invalid('the signature is not 65 bytes');
  if (header < 27 || header > 42) return invalid('the header byte is out of range');
  if (address.type === 'p2pkh' ? header > 34 : header < 35 || header > 38) {
    return invalid('the header byte belongs to another type of address');
  }
  const publicKey = orUndefined(() => recoverPublicKey(bytes, header, message));
  if (!publicKey) return invalid('the signature has a high S, or no public key can be recovered from it');
  const script = payToKey(publicKey, address.type === 'p2pkh' ? 'p2pkh' : 'p2sh-p2wpkh');
  return equalBytes(script, address.scriptPubKey)
    ? VALID
    : invalid('the signature is for another key or message');
}

/** The public key that the signature shows; undefined if S is high. @throws Error when no key can be recovered */
function recoverPublicKey(bytes: Uint8Array, header: number, message: string): Uint8Array | undefined {
  const recoverable = concatBytes(Uint8Array.of((header - 27) & 3), bytes.subarray(1));
  const signature = secp256k1.Signature.fromBytes(recoverable, 'recovered');
  if (signature.hasHighS()) return undefined;
  return signature.recoverPublicKey(messageHash(messageBytes(message))).toBytes(header > 30);
}
