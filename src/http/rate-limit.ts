/**
 * Rejects floods before any work is done. The platform counts per location and not exactly, so calls that cost money do
 * not depend on this count. The custodian has its own exact limits.
 * @module
 */
import type { Context, MiddlewareHandler } from 'hono';
import { type FloodGate, passesGate, requestClient } from '../core/client-network.ts';
import { AppError } from '../core/errors.ts';

/** The key under which limits count the caller. */
export const clientKey = (c: Context): string => requestClient(c.req.raw.headers);

const REQUESTS = 'requests_per_minute';

type Limited = { readonly Bindings: FloodGate };

/**
 * Counts a request of one client.
 * @param group routes that share one count
 * @throws AppError RATE_LIMITED
 */
async function admit<E extends Limited>(c: Context<E>, group: string): Promise<void> {
  if (await passesGate(c.env, group, clientKey(c))) return;
  throw new AppError('RATE_LIMITED', 'Too many requests from this address.', {
    retryAfterSeconds: 60,
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
