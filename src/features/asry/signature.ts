import { decodeBase58, encodeBase58 } from '../../chain/solana/address.ts';

/** The canonical text of a signature: the base58 of its 64 bytes. Undefined when malformed. */
export function canonicalSignature(text: string): string | undefined {
  const bytes = decodeBase58(text.trim(), 64);
  return bytes && encodeBase58(bytes);
}
