/**
 * The only code that sees the reserve's secret key. It keeps a key object that cannot be read back.
 * @module
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { decodeBase58, encodeBase58 } from '../chain/solana/address.ts';
import type { Signer } from './ports.ts';

/** DER prefix of an ed25519 seed in PKCS #8 (RFC 8410). */
const PKCS8_PREFIX = [
  0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/**
 * The 64 bytes of a Solana secret key: base58 text, or the JSON array that solana-keygen writes. Undefined when it is
 * neither, or when its two halves do not belong together.
 */
function decodeSecret(text: string): Uint8Array | undefined {
  const bytes = text.trim().startsWith('[') ? fromJson(text) : decodeBase58(text.trim(), 64);
  if (bytes?.length !== 64) return undefined;
  const derived = ed25519.getPublicKey(bytes.slice(0, 32));
  return derived.every((byte, index) => byte === bytes[32 + index]) ? bytes : undefined;
}

function fromJson(text: string): Uint8Array | undefined {
  try {
    const list: unknown = JSON.parse(text);
    const isBytes =
      Array.isArray(list) && list.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255);
    return isBytes ? Uint8Array.from(list) : undefined;
  } catch {
    return undefined;
  }
}

/** The address of a secret key, or undefined when the text is none. */
export function addressOfSecret(text: string): string | undefined {
  const bytes = decodeSecret(text);
  return bytes && encodeBase58(bytes.slice(32));
}

/** @throws Error without the text when it is no secret key */
export function createSigner(text: string): Signer {
  const bytes = decodeSecret(text);
  if (!bytes) throw new Error('SOLANA_PRIVATE_KEY is not a Solana secret key');
  const pkcs8 = Uint8Array.from([...PKCS8_PREFIX, ...bytes.slice(0, 32)]);
  const key = crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', false, ['sign']);
  return {
    address: encodeBase58(bytes.slice(32)),
    sign: async (message) => new Uint8Array(await crypto.subtle.sign('Ed25519', await key, message)),
  };
}

/** Keys of mints, one an invoice: the same invoice can only ever make the same mint. */
export type MintKeys = {
  address(invoiceId: string): string;
  sign(invoiceId: string, message: Uint8Array): Uint8Array;
};

/** @param seed MINT_KEY_SEED, a secret of its own: whoever has it can make the mints of invoices, nothing more */
export function createMintKeys(seed: string): MintKeys {
  const secretKey = (invoiceId: string) => hmac(sha256, utf8ToBytes(seed), utf8ToBytes(`mint:${invoiceId}`));
  return {
    address: (invoiceId) => encodeBase58(ed25519.getPublicKey(secretKey(invoiceId))),
    sign: (invoiceId, message) => ed25519.sign(message, secretKey(invoiceId)),
  };
}
