/** The reserve's key on the operator's machine: the key itself, or a key service that signs with it. */
import type { Signer } from '../../src/custody/kernel/ports.ts';
import { createSigner } from '../../src/custody/kernel/signer.ts';
import { openSigner } from '../../src/custody/secrets.ts';
import { within } from '../../src/http/within.ts';
import { readVaultKey } from '../../src/providers/vault-transit.ts';
import type { Settings } from '../doctor/finding.ts';

/** @throws Error with a text for the operator */
export function reserveSigner(settings: Settings): Signer {
  const { SOLANA_PRIVATE_KEY: key, RESERVE_SOLANA_ADDRESS: address } = settings;
  if (!key) throw new Error('SOLANA_PRIVATE_KEY must be set in the settings.');
  if (readVaultKey(key) === undefined) return createSigner(key);
  if (!address) throw new Error('With a key service, RESERVE_SOLANA_ADDRESS must be set in the settings.');
  return openSigner(settings, address, {
    fetch: (url, init) => fetch(url, init),
    within,
    log: () => undefined,
  });
}
