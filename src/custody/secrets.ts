/**
 * Reads the secret keys. The platform gives every secret to each isolate of the Worker, so the code enforces the
 * separation: `test/layers.test.ts` forbids any other reader.
 * @module
 */
import { isSignedBy, verifyingKey } from '../chain/ed25519.ts';
import { decodeBase58 } from '../chain/solana/address.ts';
import { notConfigured } from '../core/errors.ts';
import type { Fetch } from '../providers/http.ts';
import { createVaultTransit, readVaultKey } from '../providers/vault-transit.ts';
import type { Signer } from './kernel/ports.ts';
import {
  createMintKeys,
  createProofSigner,
  createRemoteSigner,
  createSigner,
  type MintKeys,
  type ProofSigner,
  type RemoteSignerPorts,
} from './kernel/signer.ts';

export type KeyPorts = {
  readonly reserve: { readonly solanaAddress: string; readonly bitcoinAddress: string };
  /** Calls the key service. */
  readonly fetch: Fetch;
} & Pick<RemoteSignerPorts, 'within' | 'log'>;

export type Keys = {
  readonly signer: Signer;
  readonly proofSigner: ProofSigner;
  readonly mintKeys: MintKeys | undefined;
};

const MIN_SEED_LENGTH = 32;

/** @throws AppError NOT_CONFIGURED when a required key is missing, or a key does not belong to the reserve */
export function openKeys(env: object, ports: KeyPorts): Keys {
  const signer = openSigner(env, ports.reserve.solanaAddress, ports);
  const seed = read(env, 'MINT_KEY_SEED');
  if (seed !== undefined && seed.length < MIN_SEED_LENGTH) throw notConfigured(['MINT_KEY_SEED']);
  return {
    signer,
    proofSigner: createProofSigner({
      solana: signer,
      bitcoinAddress: ports.reserve.bitcoinAddress,
      wif: read(env, 'BTC_PRIVATE_KEY_WIF'),
    }),
    mintKeys: seed === undefined ? undefined : createMintKeys(seed),
  };
}

/**
 * Opens the signer. The secret is the key itself, or names a key in a key service.
 * @param address of the reserve
 */
export function openSigner(
  env: object,
  address: string,
  { fetch, within, log }: Pick<KeyPorts, 'fetch' | 'within' | 'log'>,
): Signer {
  const key = read(env, 'SOLANA_PRIVATE_KEY');
  if (key === undefined) throw notConfigured(['SOLANA_PRIVATE_KEY']);
  const remote = readVaultKey(key);
  if (remote === undefined) {
    const signer = createSigner(key);
    if (signer.address !== address) throw notConfigured(['SOLANA_PRIVATE_KEY', 'RESERVE_SOLANA_ADDRESS']);
    return signer;
  }
  const publicKey = verifyingKey(decodeBase58(address, 32) ?? new Uint8Array());
  return createRemoteSigner({
    keychain: createVaultTransit({ ...remote, address, fetch }),
    async verify(message, signature) {
      const verifying = await publicKey;
      return verifying !== undefined && isSignedBy(verifying, message, signature);
    },
    within,
    log,
  });
}

function read(env: object, name: string): string | undefined {
  const text: unknown = Reflect.get(env, name);
  return typeof text === 'string' && text !== '' ? text : undefined;
}
