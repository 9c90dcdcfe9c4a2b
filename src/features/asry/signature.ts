import { decodeBase58, encodeBase58 } from '../../chain/solana/address.ts';

/** One text for all spellings of a signature: the base58 of its 64 bytes. Undefined when it is none. */
export function canonicalSignature(text: string): string | undefined {
  const bytes = decodeBase58(text.trim(), 64);
  return bytes && encodeBase58(bytes);
}
