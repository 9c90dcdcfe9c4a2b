/**
 * Rejects floods before any work is done. The platform counts per location and approximately, so nothing that costs
 * money depends on it: the custodian has exact limits of its own.
 * @module
 */
import type { Context, MiddlewareHandler } from 'hono';
import { CALL_LIMITS } from '../core/call-limits.ts';
import { addressKey } from '../core/client-network.ts';
import { AppError } from '../core/errors.ts';

/** The key of the caller's address. All other headers are under the caller's control. */
export const clientKey = (c: Context): string => addressKey(c.req.header('cf-connecting-ip'));

const REQUESTS = 'requests_per_minute';

type Limited = { readonly Bindings: Pick<Env, 'LIMITER'> };

/**
 * Counts a request of one client.
 * @param group routes that share one count
 * @throws AppError RATE_LIMITED
 */
async function admit<E extends Limited>(c: Context<E>, group: string): Promise<void> {
  const { success } = await c.env.LIMITER.limit({ key: `${group}:${clientKey(c)}` });
  if (success) return;
  throw new AppError('RATE_LIMITED', 'Too many requests from this address.', {
    retryAfterSeconds: CALL_LIMITS[REQUESTS].windowSeconds,
    details: { limit: REQUESTS },
  });
}

/** Counts requests of one client. @param group routes that share one count */
export const rateLimit = (group: string): MiddlewareHandler<Limited> =>
  async function rateLimit(c, next) {
    await admit(c, group);
    await next();
  };

const READS = 'reads';

/** Limits the reads whose value is not in an isolate's memory. */
export const limitReads = rateLimit(READS);

/** Counts a read whose value was not in memory. @throws AppError RATE_LIMITED */
export const admitRead = (c: Context): Promise<void> => admit(c, READS);
