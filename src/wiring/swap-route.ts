/**
 * The swap route of the configuration.
 * @module
 */
import { createNearIntentsRoute } from '../bridges/near-intents.ts';
import { isSignedQuote } from '../bridges/near-intents-signature.ts';
import type { SwapRoute } from '../bridges/route.ts';
import { createNearIntents } from '../providers/near-intents.ts';
import { fetchFor, log, type Wired } from './telemetry.ts';

export type Reserve = { readonly solanaAddress: string; readonly bitcoinAddress: string };

export const nearIntentsOf = (config: Wired) =>
  createNearIntents({
    baseUrl: config.NEAR_INTENTS_API_URL,
    jwt: config.NEAR_INTENTS_JWT,
    fetch: fetchFor(config, 'NEAR_INTENTS_API_URL'),
  });

export const swapRoute = (
  config: Wired,
  { solanaAddress: reserveAddress, bitcoinAddress }: Reserve,
): SwapRoute =>
  createNearIntentsRoute({
    provider: nearIntentsOf(config),
    isSigned: (quote) => isSignedQuote(quote, config.NEAR_INTENTS_QUOTE_KEY),
    reserveAddress,
    bitcoinAddress,
    now: Date.now,
    log,
  });
