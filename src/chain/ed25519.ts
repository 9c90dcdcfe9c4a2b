/**
 * Ed25519 signatures, verified by the platform: the curve arithmetic takes a millisecond or more in
 * JavaScript.
 *
 * Platforms differ in the public keys that they accept, so a key is checked here before its import. All platforms
 * accept the same signatures. A signature is valid if it satisfies RFC 8032 without the cofactor, s is below the
 * group's order, and R has its exact encoding.
 * @module
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { orUndefined } from '../core/or-undefined.ts';

const SIGNATURE_BYTES = 64;

/**
 * A key for verifying signatures. Undefined unless the 32 bytes are the canonical encoding of a point outside the small
 * subgroup. With a key inside that subgroup, one signature is valid for every message.
 */
export async function verifyingKey(publicKey: Uint8Array): Promise<CryptoKey | undefined> {
  const point = orUndefined(() => ed25519.Point.fromBytes(publicKey));
  return point && !point.isSmallOrder()
    ? crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify'])
    : undefined;
}

/** A signature of any other length is never valid; one platform throws for it. */
export const isSignedBy = async (
  key: CryptoKey,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> =>
  signature.length === SIGNATURE_BYTES && crypto.subtle.verify('Ed25519', key, signature, message);
