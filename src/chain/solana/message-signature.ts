/**
 * Signatures over plain text by a Solana key, as wallets make them: ed25519 over the UTF-8 bytes.
 * @module
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { decodeBase58 } from './address.ts';

/** @param signed address and signature as base58; malformed text is not a signature */
export function isMessageSigned(
  message: string,
  { address, signature }: { readonly address: string; readonly signature: string },
): boolean {
  const key = decodeBase58(address, 32);
  const bytes = decodeBase58(signature, 64);
  if (!key || !bytes) return false;
  try {
    // With zip215 off a signature is either valid or not, as on the chain.
    return ed25519.verify(bytes, new TextEncoder().encode(message), key, { zip215: false });
  } catch {
    return false;
  }
}
