/**
 * The swap route of the configuration, for the API's quotes and for the custodian.
 * @module
 */
import { createNearIntentsRoute } from '../bridges/near-intents.ts';
import type { SwapRoute } from '../bridges/route.ts';
import type { TextStore } from '../features/status/get-status.ts';
import { createNearIntents } from '../providers/near-intents.ts';
import { fetchFor, log, type Wired } from './telemetry.ts';

/**
 * The fees of 1Click's last checked quote against our cap, for the alarms. The API and the custodian request quotes in
 * different isolates, so KV holds the result; it may be up to a minute old.
 */
const FEES_KEY = 'bridge:fees';
const OVER = 'over-cap';
const WITHIN = 'within-cap';

/**
 * Stores whether the fees exceed our cap. The next quote repeats a failed write.
 * @param defer keeps a request alive until the write is done
 */
export const feeNotes =
  (kv: TextStore, defer: (work: Promise<void>) => void) =>
  (isOverCap: boolean): void =>
    defer(
      noteFees(kv, isOverCap ? OVER : WITHIN).catch((error: unknown) => {
        log({ level: 'warn', event: 'bridge_fees_unnoted', reason: String(error) });
      }),
    );

/** Writes only changes: KV allows one write per second and key. */
async function noteFees(kv: TextStore, state: string): Promise<void> {
  if ((await kv.get(FEES_KEY, 'text')) !== state) await kv.put(FEES_KEY, state);
}

export const areFeesOverCap = async (kv: TextStore): Promise<boolean> =>
  (await kv.get(FEES_KEY, 'text')) === OVER;

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
  onFees: (isOverCap: boolean) => void,
): SwapRoute =>
  createNearIntentsRoute({
    provider: nearIntentsOf(config),
    quoteKey: config.NEAR_INTENTS_QUOTE_KEY,
    reserveAddress,
    bitcoinAddress,
    now: Date.now,
    log,
    onFees,
  });
