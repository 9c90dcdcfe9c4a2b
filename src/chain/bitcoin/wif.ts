/**
 * Secret keys in wallet import format, and the addresses that such a key controls. Pure. An error message
 * never contains key material.
 * @module
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { equalBytes } from '@scure/btc-signer/utils.js';
import { orUndefined } from '../../core/or-undefined.ts';
import { decodeAddress, encodeAddress, type KeyAddressType, payToKey } from './address.ts';

/** `compressed` is part of the format: it determines the public key and therefore the owner's addresses. */
export type BitcoinKey = { readonly secretKey: Uint8Array; readonly compressed: boolean };

const MAINNET_WIF = 0x80;
const COMPRESSED: readonly KeyAddressType[] = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr'];
const UNCOMPRESSED: readonly KeyAddressType[] = ['p2pkh'];

/** @throws RangeError when the text is not the WIF of a mainnet key */
export function decodeWif(wif: string): BitcoinKey {
  const bytes = orUndefined(() => createBase58check(sha256).decode(wif));
  const compressed = bytes?.length === 34 && bytes[33] === 1;
  if (bytes?.[0] !== MAINNET_WIF || !(compressed || bytes.length === 33)) {
    throw new RangeError('not the WIF of a Bitcoin mainnet key');
  }
  const secretKey = bytes.slice(1, 33);
  if (!secp256k1.utils.isValidSecretKey(secretKey))
    throw new RangeError('the WIF contains no valid secret key');
  return { secretKey, compressed };
}

/** @throws Error when `type` needs a compressed key and `compressed` is false */
export function deriveAddress(secretKey: Uint8Array, type: KeyAddressType, compressed = true): string {
  const address = encodeAddress(payToKey(secp256k1.getPublicKey(secretKey, compressed), type));
  if (address === null) throw new RangeError(`the key has no ${type} address`);
  return address;
}

/** How the key controls the address, or null when it does not. @throws RangeError for a malformed address */
export function findAddressType(key: BitcoinKey, address: string): KeyAddressType | null {
  const { scriptPubKey } = decodeAddress(address);
  const publicKey = secp256k1.getPublicKey(key.secretKey, key.compressed);
  const types = key.compressed ? COMPRESSED : UNCOMPRESSED;
  return types.find((type) => equalBytes(payToKey(publicKey, type), scriptPubKey)) ?? null;
}

/** Whether the key in the WIF controls the address; false for a malformed WIF or address too. */
export const wifControls = (wif: string, address: string): boolean =>
  typeof orUndefined(() => findAddressType(decodeWif(wif), address)) === 'string';
