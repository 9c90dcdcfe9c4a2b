import { type BitcoinKey, randomHex } from './keys.ts';
import type { WorldPools } from './orca-pools.ts';
import type { SolanaWorld } from './solana-world.ts';

export interface Endpoints {
  readonly rpc1: string;
  readonly rpc2: string;
  readonly esplora1: string;
  readonly esplora2: string;
  readonly oneclick: string;
  readonly hyperliquid: string;
  readonly coinbase: string;
  readonly kraken: string;
  readonly lifi: string;
  readonly orca: string;
  readonly changenow: string;
  readonly relay1: string;
  readonly relay2: string;
}

export type UpstreamName = keyof Endpoints;

export const isUpstream = (endpoints: Endpoints, name: string): name is UpstreamName => name in endpoints;

/** Secrets of the service that this world makes up. */
export interface WorldSecrets {
  readonly oneClickToken: string;
  readonly changenowKey: string;
  readonly lifiKey: string;
  readonly quoteKey: string;
  readonly npub: string;
}

/** The Worker's configuration: the names that operators set, with this world's values. */
export function createBindings(options: {
  baseUrl: string;
  endpoints: Endpoints;
  pools: WorldPools;
  solana: SolanaWorld;
  reserveBitcoin: BitcoinKey;
  secrets: WorldSecrets;
}): Record<string, string> {
  const { endpoints, solana, reserveBitcoin, secrets } = options;
  return {
    PUBLIC_BASE_URL: options.baseUrl,
    SECURITY_CONTACT: 'mailto:security@sluice.example',
    SOLANA_RPC_URL: `${endpoints.rpc1},${endpoints.rpc2}`,
    SOLANA_PRIVATE_KEY: solana.reserve.secretKey,
    TREASURY_SOLANA_ADDRESS: solana.treasury.address,
    ABSR_MINT_ADDRESS: solana.mints.absr.mint,
    ASRY_MINT_ADDRESS: solana.mints.asry.mint,
    USDC_MINT_ADDRESS: solana.mints.usdc.mint,
    USDT_MINT_ADDRESS: solana.mints.usdt.mint,
    ESPLORA_API_URLS: `${endpoints.esplora1}/api,${endpoints.esplora2}/api`,
    RESERVE_BTC_ADDRESS: reserveBitcoin.address,
    BTC_PRIVATE_KEY_WIF: reserveBitcoin.wif,
    NEAR_INTENTS_API_URL: endpoints.oneclick,
    NEAR_INTENTS_QUOTE_KEY: secrets.quoteKey,
    NEAR_INTENTS_JWT: secrets.oneClickToken,
    HYPERLIQUID_API_URL: endpoints.hyperliquid,
    COINBASE_API_URL: endpoints.coinbase,
    KRAKEN_API_URL: endpoints.kraken,
    LIFI_API_URL: `${endpoints.lifi}/v1`,
    LIFI_API_KEY: secrets.lifiKey,
    ORCA_API_URL: `${endpoints.orca}/v2/solana`,
    POOL_DEFAULT_ADDRESS: options.pools.sabtcUsdc.address,
    POOL_SAETH_SAUSD_ADDRESS: options.pools.saethSausd.address,
    POOL_SAUSD_USDC_ADDRESS: options.pools.sausdUsdc.address,
    CHANGENOW_API_URL: `${endpoints.changenow}/v2`,
    CHANGENOW_API_KEY: secrets.changenowKey,
    NOSTR_RELAYS: `${endpoints.relay1},${endpoints.relay2}`,
    NOSTR_NPUB: secrets.npub,
    MINT_KEY_SEED: randomHex(32),
    OPS_SECRET: randomHex(32),
  };
}
