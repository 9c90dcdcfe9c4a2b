/**
 * Solana addresses and signatures as strings: base58 of exactly 32 or 64 bytes.
 * @module
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { orUndefined } from '../../core/or-undefined.ts';

/**
 * Decodes base58 to exactly `length` bytes; undefined if it does not fit. Each byte string has exactly one base58 form.
 */
export function decodeBase58(text: string, length: number): Uint8Array | undefined {
  // base58 decoding is quadratic, so the length is checked first. 64 bytes need at most 88 characters.
  if (text.length === 0 || text.length > Math.ceil(length * 1.38)) return undefined;
  const bytes = orUndefined(() => base58.decode(text));
  return bytes?.length === length ? bytes : undefined;
}

export const encodeBase58 = (bytes: Uint8Array): string => base58.encode(bytes);

/** Avoids the Solana library, which the verification page would load with this module. */
export const isAddress = (text: string): boolean => decodeBase58(text, 32) !== undefined;

/** The Solana library's `isSignature` throws on strings that are not base58. */
export const isSignature = (text: string): boolean => decodeBase58(text, 64) !== undefined;

/**
 * Whether a wallet can have this address: a point on the curve. Program-derived addresses are not on the curve. Like
 * the chain, the library also accepts unreduced coordinates, but keys never have such addresses.
 */
export function isOnCurve(address: string): boolean {
  const bytes = decodeBase58(address, 32);
  return bytes !== undefined && orUndefined(() => ed25519.Point.fromBytes(bytes)) !== undefined;
}

/** A signature in canonical form: base58 of its 64 bytes. Undefined if malformed. */
export function canonicalSignature(text: string): string | undefined {
  const bytes = decodeBase58(text.trim(), 64);
  return bytes && encodeBase58(bytes);
}
