/**
 * The swap route of the configuration, for the API's quotes and for the custodian.
 * @module
 */
import { createNearIntentsRoute } from '../bridges/near-intents.ts';
import type { SwapRoute } from '../bridges/route.ts';
import { createFeeWatch } from '../features/status/check-alarms.ts';
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

/** @param onFees called for each checked quote */
export const swapRoute = (
  config: Wired,
  { solanaAddress: reserveAddress, bitcoinAddress }: Reserve,
  onFees?: (isOverCap: boolean) => void,
): SwapRoute =>
  createNearIntentsRoute({
    provider: nearIntentsOf(config),
    quoteKey: config.NEAR_INTENTS_QUOTE_KEY,
    reserveAddress,
    bitcoinAddress,
    now: Date.now,
    log: config.telemetry?.log ?? log,
    ...(onFees ? { onFees } : {}),
  });
