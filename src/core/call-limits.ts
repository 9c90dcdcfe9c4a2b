/**
 * Limits on calls: enforced here and in the custodian. `details.limit` of a refusal names one.
 * @module
 */
import { HOUR_MS } from './durations.ts';

/** The window in which the routing provider counts our quotes. */
export const QUOTE_WINDOW_MS = 2 * HOUR_MS;

export type CallLimit = {
  readonly quota: number;
  /** Absent if the limit does not depend on time. */
  readonly windowSeconds?: number;
};

/** What a client has left of a limit, and the seconds until it has more; the `RateLimit` header shows both. */
export type Remaining = { readonly left: number; readonly resetSeconds: number };

const HOUR_SECONDS = HOUR_MS / 1_000;
const QUOTE_WINDOW_SECONDS = QUOTE_WINDOW_MS / 1_000;

/** Limits on calls, by the names in `details.limit`. */
export const CALL_LIMITS = {
  /** For one client and group of routes; equal to LIMITER in wrangler.toml. */
  requests_per_minute: { quota: 600, windowSeconds: 60 },
  /** New idempotency keys of one client. */
  keys_per_client_hour: { quota: 100, windowSeconds: HOUR_SECONDS },
  /** Exchanges opened by one network: an eighth of the total of all callers. */
  exchanges_per_hour: { quota: 100, windowSeconds: HOUR_SECONDS },
  /** Requests of one client that await payment. */
  open_requests: { quota: 10 },
  /** Signatures that callers of one network may wait for at once: an eighth of the total of all callers. */
  signature_lookups: { quota: 32 },
  /** Reads of the Solana nodes for unpaid requests of one network: an eighth of the total of all callers. */
  chain_reads: { quota: 30, windowSeconds: 60 },
  // All clients share about 200 bridge quotes in two hours. The next two quotas add up to 180, so 20 quotes stay in
  // reserve. Estimates of one client get only a fair share.
  estimate_quotes: { quota: 120, windowSeconds: QUOTE_WINDOW_SECONDS },
  create_quotes: { quota: 60, windowSeconds: QUOTE_WINDOW_SECONDS },
} as const satisfies Record<string, CallLimit>;
