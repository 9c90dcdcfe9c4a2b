/**
 * Ed25519 signatures, checked by the platform's own code: the curve arithmetic takes JavaScript a millisecond and more.
 *
 * Platforms leave open which public keys they take, so a key is judged here before it becomes one. Of signatures every
 * platform takes those alone that RFC 8032 allows without the cofactor: s below the group's order, and R to the byte.
 * @module
 */
import { ed25519 } from '@noble/curves/ed25519.js';

const SIGNATURE_BYTES = 64;

/**
 * A key to check signatures with. Undefined unless the 32 bytes are a point, written in the one way that there is, and
 * not one of the few under which a signature fits any message.
 */
export async function verifyingKey(publicKey: Uint8Array): Promise<CryptoKey | undefined> {
  return isSound(publicKey)
    ? crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify'])
    : undefined;
}

function isSound(publicKey: Uint8Array): boolean {
  try {
    return !ed25519.Point.fromBytes(publicKey).isSmallOrder();
  } catch {
    return false;
  }
}

/** A signature of another length passes nowhere; one platform says so by an exception. */
export const isSignedBy = async (
  key: CryptoKey,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> =>
  signature.length === SIGNATURE_BYTES && crypto.subtle.verify('Ed25519', key, signature, message);
