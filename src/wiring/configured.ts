/**
 * Variables that an area lacks. A variable that is set but invalid counts as missing, so that no area uses a
 * value that the operator did not intend.
 * @module
 */
import { type Area, type Config, DECLARATIONS } from '../config.ts';
import { addressOfSecret, derivedAddress, isBitcoinKey } from '../custody/kernel/signer.ts';

/** The variables that the declarations require, and keys that parse but do not match their address. */
function lacks(config: Config, area: Area): string[] {
  const declared = DECLARATIONS.filter(([, { areas }]) => areas.includes(area));
  const absent = declared.filter(
    ([name, { required }]) =>
      (required || isNeededByVault(config, name)) && !config[name] && !isReplaced(config, name),
  );
  const invalid = declared.filter(([name]) => config.invalid.includes(name));
  return [...wrongKeys(config, area), ...absent.map(([name]) => name), ...invalid.map(([name]) => name)];
}

/** The key is in one place: here or in the key service. */
const isReplaced = (config: Config, name: string): boolean =>
  name === 'SOLANA_PRIVATE_KEY' && config.VAULT_URL !== undefined;

const isNeededByVault = (config: Config, name: string): boolean =>
  config.VAULT_URL !== undefined && (name === 'VAULT_TOKEN' || name === 'RESERVE_SOLANA_ADDRESS');

/**
 * The address of each configuration's key, cached because every area needs it and deriving it costs a curve
 * multiplication.
 */
const solanaAddresses = new WeakMap<Config, { readonly address: string | undefined }>();

/**
 * Derives the address of the key with the platform, before the first use of this configuration. In JavaScript
 * it takes 20 ms of an isolate's first request.
 */
export async function deriveAddress(config: Config): Promise<void> {
  const { SOLANA_PRIVATE_KEY: secret } = config;
  solanaAddresses.set(config, { address: secret && (await derivedAddress(secret)) });
}

/** Undefined without SOLANA_PRIVATE_KEY, or when it is unreadable. */
function addressOfKey(config: Config): string | undefined {
  const { SOLANA_PRIVATE_KEY: secret } = config;
  const known = solanaAddresses.get(config) ?? { address: secret && addressOfSecret(secret) };
  solanaAddresses.set(config, known);
  return known.address;
}

/** A key in two places, an unreadable key, or a key that does not match the configured address. */
function wrongSolanaKey(config: Config): string[] {
  const { SOLANA_PRIVATE_KEY: secret, RESERVE_SOLANA_ADDRESS: named, VAULT_URL: vault } = config;
  if (!secret) return [];
  if (vault) return ['SOLANA_PRIVATE_KEY', 'VAULT_URL'];
  const own = addressOfKey(config);
  if (own === undefined) return ['SOLANA_PRIVATE_KEY'];
  return named === undefined || named === own ? [] : ['RESERVE_SOLANA_ADDRESS'];
}

function wrongKeys(config: Config, area: Area): string[] {
  const { RESERVE_BTC_ADDRESS: address, BTC_PRIVATE_KEY_WIF: wif } = config;
  if (area === 'custody') return wrongSolanaKey(config);
  // A Bitcoin key must be the key of the reserve.
  return area === 'proof' && address !== undefined && !isBitcoinKey(wif, address)
    ? ['BTC_PRIVATE_KEY_WIF']
    : [];
}

/** Every area of the custodian requires the custodian itself. */
export const missingFor = (
  config: Config,
  area: 'custody' | 'proof' | 'mint' | 'asry' | 'payments',
): string[] => [...new Set([...lacks(config, 'custody'), ...lacks(config, area)])];

/** Every invalid variable, and the variables that the custodian and its proof lack. */
export const missingAnywhere = (config: Config): string[] => [
  ...new Set([...missingFor(config, 'proof'), ...config.invalid]),
];

export function reserveOf(config: Config) {
  const { VAULT_URL: vault, RESERVE_SOLANA_ADDRESS: named } = config;
  const solanaAddress = (vault ? named : addressOfKey(config)) ?? null;
  return { solanaAddress, bitcoinAddress: config.RESERVE_BTC_ADDRESS ?? null };
}
