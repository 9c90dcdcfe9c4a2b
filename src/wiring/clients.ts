/**
 * Clients that the API and the custodian build in the same way.
 * @module
 */
import { createLifiRoute } from '../bridges/lifi.ts';
import { createNearIntentsRoute } from '../bridges/near-intents.ts';
import type { SwapRoute } from '../bridges/route.ts';
import type { Config, OptionalBindings } from '../config.ts';
import { upstreamFailed } from '../core/errors.ts';
import type { PriceReport } from '../core/price.ts';
import { createFeeWatch } from '../features/status/check-alarms.ts';
import { createEsplora } from '../providers/esplora.ts';
import type { Fetch } from '../providers/http.ts';
import { createLifi } from '../providers/lifi.ts';
import { createNearIntents } from '../providers/near-intents.ts';
import { createCoinbase, createHyperliquid, createKraken } from '../providers/price-venues.ts';
import { createSolanaRpc } from '../providers/solana-rpc.ts';
import { log, type Wired } from './telemetry.ts';

/**
 * The network access of one client. If its URL is set but invalid, every call fails instead of using a
 * default address.
 */
export function fetchFor(
  config: Wired,
  variable: Extract<keyof Config, `${string}_URL` | `${string}_URLS`>,
): Fetch {
  const call = async (url: string, init?: RequestInit): Promise<Response> => {
    if (config.invalid.includes(variable)) throw upstreamFailed(variable, 'not_configured');
    return fetch(url, init);
  };
  const observe = config.telemetry?.observe;
  return observe ? Object.assign(call, { observe }) : call;
}

export function clients(config: Wired) {
  const rpc = createSolanaRpc({ urls: config.SOLANA_RPC_URL, fetch: fetchFor(config, 'SOLANA_RPC_URL') });
  const esploras = config.ESPLORA_API_URLS.map((baseUrl, index) =>
    createEsplora({ baseUrl, name: `esplora-${index + 1}`, fetch: fetchFor(config, 'ESPLORA_API_URLS') }),
  );
  const venues = [
    createHyperliquid({
      baseUrl: config.HYPERLIQUID_API_URL,
      fetch: fetchFor(config, 'HYPERLIQUID_API_URL'),
    }),
    createCoinbase({ baseUrl: config.COINBASE_API_URL, fetch: fetchFor(config, 'COINBASE_API_URL') }),
    createKraken({ baseUrl: config.KRAKEN_API_URL, fetch: fetchFor(config, 'KRAKEN_API_URL') }),
  ];

  /** Reports of the venues that answer, in their order. */
  async function readPrices(): Promise<PriceReport[]> {
    const reports = await Promise.allSettled(venues.map((venue) => venue.read()));
    return reports.flatMap((report) => (report.status === 'fulfilled' ? [report.value] : []));
  }

  return { rpc, esploras, venues, readPrices };
}

/**
 * Stores for the alarms whether the bridge's fees exceed our cap. The next quote repeats a failed write.
 * @param defer keeps a request alive until the write is done
 */
export const feeNotes = (kv: KVNamespace, defer: (work: Promise<void>) => void) => {
  const watch = createFeeWatch(kv);
  return (isOverCap: boolean): void =>
    defer(
      watch.note(isOverCap).catch((error: unknown) => {
        log({ level: 'warn', event: 'bridge_fees_unnoted', reason: String(error) });
      }),
    );
};

export type Reserve = { readonly solanaAddress: string; readonly bitcoinAddress: string };

export const nearIntentsOf = (config: Wired) =>
  createNearIntents({
    baseUrl: config.NEAR_INTENTS_API_URL,
    jwt: config.NEAR_INTENTS_JWT,
    fetch: fetchFor(config, 'NEAR_INTENTS_API_URL'),
  });

/** @param onFees called for each checked quote of 1Click */
export function swapRoutes(
  config: Wired,
  reserve: Reserve,
  onFees: (isOverCap: boolean) => void = () => undefined,
): SwapRoute[] {
  const near = nearIntentsOf(config);
  const { solanaAddress: reserveAddress, bitcoinAddress } = reserve;
  const common = { reserveAddress, bitcoinAddress, now: Date.now };
  const routes = {
    'near-intents': () =>
      createNearIntentsRoute({
        ...common,
        provider: near,
        quoteKey: config.NEAR_INTENTS_QUOTE_KEY,
        log: config.telemetry?.log ?? log,
        onFees,
      }),
    lifi: () => {
      const { LIFI_API_URL: baseUrl, LIFI_API_KEY: apiKey } = config;
      const provider = createLifi({ baseUrl, apiKey, fetch: fetchFor(config, 'LIFI_API_URL') });
      return createLifiRoute({ ...common, provider, near });
    },
  };
  return config.SWAP_ROUTES.map((name) => routes[name]());
}

/**
 * The D1 database of the page views. With the binding `ANALYTICS_DB` it is a separate database, so that page
 * views cannot stop the custodian's mirror. Without it, it is `DB`.
 */
export const analyticsDatabase = (env: Env & OptionalBindings): D1Database => env.ANALYTICS_DB ?? env.DB;
