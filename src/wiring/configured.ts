/**
 * Variables that an area lacks. A variable that is set but invalid counts as missing, so that no area runs on a value
 * different from the one that the operator meant.
 * @module
 */
import { type Area, type Config, DECLARATIONS } from '../config.ts';
import { addressOfSecret, isBitcoinKey } from '../custody/kernel/signer.ts';

/** What the declarations say, and in addition keys that parse but are the wrong ones. */
function lacks(config: Config, area: Area): string[] {
  const declared = DECLARATIONS.filter(([, { areas }]) => areas.includes(area));
  const absent = declared.filter(([name, { required }]) => required && !config[name]);
  const invalid = declared.filter(([name]) => config.invalid.includes(name));
  return [...wrongKeys(config, area), ...absent.map(([name]) => name), ...invalid.map(([name]) => name)];
}

function wrongKeys(config: Config, area: Area): string[] {
  const { RESERVE_BTC_ADDRESS: address, BTC_PRIVATE_KEY_WIF: wif } = config;
  if (area === 'custody')
    return config.SOLANA_PRIVATE_KEY && !reserveOf(config).solanaAddress ? ['SOLANA_PRIVATE_KEY'] : [];
  // A Bitcoin key must be the key of the reserve.
  return area === 'proof' && address !== undefined && !isBitcoinKey(wif, address)
    ? ['BTC_PRIVATE_KEY_WIF']
    : [];
}

/** Every area of the custodian needs the custodian itself. */
export const missingFor = (
  config: Config,
  area: 'custody' | 'proof' | 'mint' | 'asry' | 'payments',
): string[] => [...new Set([...lacks(config, 'custody'), ...lacks(config, area)])];

/** Every invalid variable, and what the custodian and its proof lack. */
export const missingAnywhere = (config: Config): string[] => [
  ...new Set([...missingFor(config, 'proof'), ...config.invalid]),
];

/** The address of each config's key. Every area asks for it, and deriving it multiplies a point of the curve. */
const solanaAddresses = new WeakMap<Config, string | null>();

export function reserveOf(config: Config) {
  const secret = config.SOLANA_PRIVATE_KEY;
  const known = solanaAddresses.get(config);
  const solanaAddress = known === undefined ? ((secret && addressOfSecret(secret)) ?? null) : known;
  solanaAddresses.set(config, solanaAddress);
  return { solanaAddress, bitcoinAddress: config.RESERVE_BTC_ADDRESS ?? null };
}
