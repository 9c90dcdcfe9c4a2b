/**
 * Which variables each area lacks. One that is set but wrong counts as missing, so that no area runs on another value
 * than the operator meant.
 * @module
 */
import type { Config } from '../config.ts';
import { addressOfSecret, isBitcoinKey } from '../custody/kernel/signer.ts';

/** What the custodian reads for everything that it does: a wrong one stops it as a whole. */
const CUSTODY =
  /^(SOLANA|RESERVE|TREASURY|PUBLIC_BASE|ESPLORA|HYPERLIQUID|COINBASE|KRAKEN|NEAR_INTENTS|LIFI|SWAP)/;
const ASRY = /^(ASRY|RENT_BUDGET|USD[CT])/;
const PAYMENTS = /^(MINT_KEY_SEED|LISTING_FEE|INVOICE_MARGIN|REFUND)/;
const MINT = /^ABSR/;

type Variable = Exclude<keyof Config, 'invalid'>;

function missing(config: Config, area: RegExp, required: readonly Variable[]): string[] {
  const absent = required.filter((name) => !config[name]);
  return [...new Set([...absent, ...config.invalid.filter((name) => area.test(name))])];
}

export function missingForSwaps(config: Config): string[] {
  const needed = ['SOLANA_PRIVATE_KEY', 'RESERVE_BTC_ADDRESS', 'PUBLIC_BASE_URL'] as const;
  const { solanaAddress } = reserveOf(config);
  const wrongKey = config.SOLANA_PRIVATE_KEY && !solanaAddress ? ['SOLANA_PRIVATE_KEY'] : [];
  return [...wrongKey, ...missing(config, CUSTODY, needed)];
}

export const missingForAsry = (config: Config): string[] => [
  ...missingForSwaps(config),
  ...missing(config, ASRY, ['ASRY_MINT_ADDRESS']),
];

export const missingForPayments = (config: Config): string[] => [
  ...missingForSwaps(config),
  ...missing(config, PAYMENTS, ['MINT_KEY_SEED']),
];

export const missingForMint = (config: Config): string[] => [
  ...missingForSwaps(config),
  ...missing(config, MINT, ['ABSR_MINT_ADDRESS']),
];

/** The Bitcoin key, where one is configured, must be the reserve's. */
const wrongBitcoinKey = ({ BTC_PRIVATE_KEY_WIF: wif, RESERVE_BTC_ADDRESS: address }: Config): string[] =>
  address === undefined || isBitcoinKey(wif, address) ? [] : ['BTC_PRIVATE_KEY_WIF'];

export const missingForProof = (config: Config): string[] => [
  ...missingForSwaps(config),
  ...wrongBitcoinKey(config),
];

/** Whatever is wrong, and what the service as a whole cannot do without. */
export const missingAnywhere = (config: Config): string[] => [
  ...new Set([...missingForProof(config), ...config.invalid]),
];

export function reserveOf(config: Config) {
  const secret = config.SOLANA_PRIVATE_KEY;
  return {
    solanaAddress: (secret && addressOfSecret(secret)) ?? null,
    bitcoinAddress: config.RESERVE_BTC_ADDRESS ?? null,
  };
}
