/**
 * All signers: the reserve's key, here or in a key service, the proof's keys and the mint keys. The reserve's secret
 * key is kept only as a key object that cannot be exported.
 * @module
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { parseProofMessage } from '../../chain/bitcoin/proof-message.ts';
import { type SignedMessage, signMessage } from '../../chain/bitcoin/signed-message.ts';
import { wifControls } from '../../chain/bitcoin/wif.ts';
import { decodeBase58, encodeBase58 } from '../../chain/solana/address.ts';
import { AppError, notConfigured, upstreamFailed } from '../../core/errors.ts';
import { tryJson } from '../../core/json.ts';
import type { VaultTransit } from '../../providers/vault-transit.ts';
import type { Log, Signer, Within } from './ports.ts';

/** DER prefix of an ed25519 seed in PKCS #8 (RFC 8410). */
const PKCS8_PREFIX = [
  0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/**
 * Decodes the 64 bytes of a Solana secret key from base58, or from the JSON array that solana-keygen writes. Undefined
 * if malformed, or if the public half belongs to a different key.
 */
function decodeSecret(text: string): Uint8Array | undefined {
  const list = tryJson(text);
  const isBytes =
    Array.isArray(list) && list.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255);
  const bytes = isBytes ? Uint8Array.from(list) : decodeBase58(text.trim(), 64);
  if (bytes?.length !== 64) return undefined;
  const derived = ed25519.getPublicKey(bytes.slice(0, 32));
  return derived.every((byte, index) => byte === bytes[32 + index]) ? bytes : undefined;
}

export function addressOfSecret(text: string): string | undefined {
  const bytes = decodeSecret(text);
  return bytes && encodeBase58(bytes.slice(32));
}

/**
 * @param setting names the key in errors
 * @throws AppError NOT_CONFIGURED if the key is malformed; the error never contains the key
 */
export function createSigner(text: string, setting = 'SOLANA_PRIVATE_KEY'): Signer {
  const bytes = decodeSecret(text);
  if (!bytes) throw notConfigured([setting]);
  const der = Uint8Array.from([...PKCS8_PREFIX, ...bytes.slice(0, 32)]);
  const key = crypto.subtle.importKey('pkcs8', der, 'Ed25519', false, ['sign']);
  return {
    address: encodeBase58(bytes.slice(32)),
    sign: async (message) => new Uint8Array(await crypto.subtle.sign('Ed25519', await key, message)),
  };
}

/** Signs only proofs of the reserve, so it can never sign a transaction or a login. */
export type ProofSigner = {
  readonly solanaAddress: string;
  /** False while the Bitcoin address is only watched. */
  readonly holdsBitcoinKey: boolean;
  /**
   * Both signatures of the same message; the Bitcoin signature is null without the Bitcoin key.
   * @throws RangeError unless the message is exactly a proof of the two addresses
   */
  sign(message: string): Promise<{ readonly solana: string; readonly bitcoin: SignedMessage | null }>;
};

/** @throws AppError NOT_CONFIGURED when `wif` is not the key of the address; the error never contains `wif` */
export function createProofSigner(keys: {
  readonly solana: Signer;
  readonly bitcoinAddress: string;
  readonly wif: string | undefined;
}): ProofSigner {
  const { solana, bitcoinAddress, wif } = keys;
  if (wif !== undefined && !wifControls(wif, bitcoinAddress)) throw notConfigured(['BTC_PRIVATE_KEY_WIF']);
  return {
    solanaAddress: solana.address,
    holdsBitcoinKey: wif !== undefined,
    async sign(message) {
      const proof = parseProofMessage(message);
      if (proof.solanaAddress !== solana.address || proof.bitcoinAddress !== bitcoinAddress) {
        throw new RangeError('proof message: it names other addresses');
      }
      return {
        solana: encodeBase58(await solana.sign(utf8ToBytes(message))),
        bitcoin: wif === undefined ? null : signMessage({ wif, address: bitcoinAddress, message }),
      };
    },
  };
}

/** Each invoice has one mint key, so it can only ever create the same mint. */
export type MintKeys = {
  address(invoiceId: string): string;
  sign(invoiceId: string, message: Uint8Array): Uint8Array;
};

/** @param seed MINT_KEY_SEED, a separate secret that can only derive the mint keys of invoices */
export function createMintKeys(seed: string): MintKeys {
  const secretKey = (invoiceId: string) => hmac(sha256, utf8ToBytes(seed), utf8ToBytes(`mint:${invoiceId}`));
  return {
    address: (invoiceId) => encodeBase58(ed25519.getPublicKey(secretKey(invoiceId))),
    sign: (invoiceId, message) => ed25519.sign(message, secretKey(invoiceId)),
  };
}

/** Maximum wait for a signature. A later signature is ignored, and the next try signs a new message. */
const SIGN_TIMEOUT_MS = 8_000;
const UPSTREAM = 'key_service';
/** A message that can never be a transaction: its first byte would require 83 signatures. */
const TEST = utf8ToBytes('Sluice checks its key service.');

export type RemoteSignerPorts = {
  readonly keychain: Pick<VaultTransit, 'address' | 'isAvailable' | 'sign'>;
  /** True if the ed25519 signature of the message is valid for the reserve's address. */
  verify(message: Uint8Array, signature: Uint8Array): Promise<boolean>;
  readonly within: Within;
  readonly log: Log;
};

/**
 * Signs with a key in a key service. The service is trusted only to keep the key: each signature is verified before
 * use. A late, missing or wrong signature is an error and leaves the operation unchanged.
 */
export function createRemoteSigner({ keychain, verify, within, log }: RemoteSignerPorts): Signer {
  const { address } = keychain;
  /**
   * The check finds the key version that signs for the address, so each instance runs it before its first signature.
   */
  let isChecked = false;

  /** The result of `work`. @throws AppError UPSTREAM_FAILED if `work` fails or is late */
  async function awaited<T extends boolean | Uint8Array>(work: () => Promise<T>): Promise<T> {
    const started = work();
    // Prevents an unhandled rejection, because no caller awaits a late failure.
    started.catch(() => undefined);
    try {
      const value = await within(started, SIGN_TIMEOUT_MS);
      if (value !== undefined) return value;
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw upstreamFailed(UPSTREAM, 'unexpected', cause);
    }
    throw upstreamFailed(UPSTREAM, 'timeout');
  }

  /** @throws AppError UPSTREAM_FAILED `other_key`, or when the service fails */
  async function checkKey(): Promise<void> {
    if (!(await awaited(() => keychain.isAvailable()))) throw upstreamFailed(UPSTREAM, 'other_key');
    isChecked = true;
  }

  async function sign(message: Uint8Array): Promise<Uint8Array> {
    if (!isChecked) await checkKey();
    const signature = await awaited(() => keychain.sign(message));
    if (await verify(message, signature)) return signature;
    log({ level: 'alarm', event: 'key_service_wrong_signature', address });
    throw upstreamFailed(UPSTREAM, 'wrong_signature');
  }

  return {
    address,
    sign,
    async check() {
      await checkKey();
      await sign(TEST);
    },
  };
}
