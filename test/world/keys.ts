import { randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58, hex } from '@scure/base';
import { NETWORK, p2wpkh, WIF } from '@scure/btc-signer';
import { createKeyPairSignerFromBytes, type KeyPairSigner } from '@solana/web3.js';

/** A throw-away Solana key pair; `secretKey` is base58 of seed and public key, as wallets export it. */
export interface SolanaKey {
  readonly address: string;
  readonly secretKey: string;
  readonly signer: KeyPairSigner;
}

/** A throw-away secp256k1 key with its P2WPKH address in mainnet text and its mainnet WIF. */
export interface BitcoinKey {
  readonly address: string;
  readonly wif: string;
  readonly privateKey: Uint8Array;
  readonly script: Uint8Array;
}

/** A key that signs text for an upstream; `publicKey` and signatures read `ed25519:<base58>`. */
export interface QuoteKey {
  readonly publicKey: string;
  sign(message: Uint8Array): string;
}

export async function createSolanaKey(seed: Uint8Array = randomBytes(32)): Promise<SolanaKey> {
  const bytes = new Uint8Array(64);
  bytes.set(seed);
  bytes.set(ed25519.getPublicKey(seed), 32);
  const signer = await createKeyPairSignerFromBytes(bytes, true);
  return { address: signer.address, secretKey: base58.encode(bytes), signer };
}

/** Seed of the mint key of an invoice, as the custodian derives it from MINT_KEY_SEED. */
export const mintSeed = (secret: string, invoiceId: string): Uint8Array =>
  hmac(sha256, new TextEncoder().encode(secret), new TextEncoder().encode(`mint:${invoiceId}`));

export function createBitcoinKey(): BitcoinKey {
  const privateKey = secp256k1.utils.randomSecretKey();
  const payment = p2wpkh(secp256k1.getPublicKey(privateKey, true), NETWORK);
  return {
    address: payment.address ?? '',
    wif: WIF(NETWORK).encode(privateKey),
    privateKey,
    script: payment.script,
  };
}

export function createQuoteKey(seed: Uint8Array = randomBytes(32)): QuoteKey {
  return {
    publicKey: `ed25519:${base58.encode(ed25519.getPublicKey(seed))}`,
    sign: (message) => `ed25519:${base58.encode(ed25519.sign(message, seed))}`,
  };
}

export const randomHex = (bytes: number): string => hex.encode(randomBytes(bytes));
