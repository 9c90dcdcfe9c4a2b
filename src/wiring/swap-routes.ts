/**
 * The swap routes of the configuration, for the API's quotes and for the custodian.
 * @module
 */
import { createLifiRoute } from '../bridges/lifi.ts';
import { createNearIntentsRoute } from '../bridges/near-intents.ts';
import type { RouteName, SwapRoute } from '../bridges/route.ts';
import { createFeeWatch } from '../features/status/check-alarms.ts';
import { createLifi } from '../providers/lifi.ts';
import { createNearIntents } from '../providers/near-intents.ts';
import { fetchFor, log, type Wired } from './telemetry.ts';

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
export function swapRoute(
  name: RouteName,
  config: Wired,
  reserve: Reserve,
  onFees: (isOverCap: boolean) => void = () => undefined,
): SwapRoute {
  const near = nearIntentsOf(config);
  const { solanaAddress: reserveAddress, bitcoinAddress } = reserve;
  const common = { reserveAddress, bitcoinAddress, now: Date.now };
  switch (name) {
    case 'near-intents':
      return createNearIntentsRoute({
        ...common,
        provider: near,
        quoteKey: config.NEAR_INTENTS_QUOTE_KEY,
        log: config.telemetry?.log ?? log,
        onFees,
      });
    case 'lifi': {
      const { LIFI_API_URL: baseUrl, LIFI_API_KEY: apiKey } = config;
      const provider = createLifi({ baseUrl, apiKey, fetch: fetchFor(config, 'LIFI_API_URL') });
      return createLifiRoute({ ...common, provider, near });
    }
  }
}

/** The configured routes in their order. */
export const swapRoutes = (
  config: Wired,
  reserve: Reserve,
  onFees?: (isOverCap: boolean) => void,
): SwapRoute[] => config.SWAP_ROUTES.map((name) => swapRoute(name, config, reserve, onFees));
