/**
 * Sheds floods before any work is done. The platform counts per location and approximately, so nothing that costs
 * money depends on it: the custodian has exact limits of its own.
 * @module
 */
import type { MiddlewareHandler } from 'hono';
import { AppError } from '../core/errors.ts';
import { clientKey } from './client.ts';

/** Seconds of the binding's window in wrangler.toml. */
const PERIOD_SECONDS = 60;

/** @param group routes that share one count */
export function rateLimit(group: string): MiddlewareHandler<{ Bindings: Env }> {
  return async function rateLimit(c, next) {
    const { success } = await c.env.LIMITER.limit({ key: `${group}:${clientKey(c)}` });
    if (!success) {
      throw new AppError('RATE_LIMITED', 'Too many requests from this address.', {
        retryAfterSeconds: PERIOD_SECONDS,
        details: { limit: 'requests_per_minute' },
      });
    }
    await next();
  };
}
