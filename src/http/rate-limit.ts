/**
 * Rejects floods before any work is done, and shows every limit on calls in the `RateLimit` headers. The
 * platform counts per location and approximately, so nothing that costs money depends on it: the custodian
 * has exact limits of its own.
 * @see https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-10
 * @module
 */
import type { Context, MiddlewareHandler } from 'hono';
import { CALL_LIMITS, type CallLimit, type Remaining } from '../core/call-limits.ts';
import { addressKey } from '../core/client-network.ts';
import { AppError } from '../core/errors.ts';
import type { RouterEnv } from './router.ts';

/** The key of the caller's address. All other headers are under the caller's control. */
export const clientKey = (c: Context): string => addressKey(c.req.header('cf-connecting-ip'));

export type CallLimits = Readonly<Record<string, CallLimit>>;

const REQUESTS = 'requests_per_minute';
const { quota: QUOTA, windowSeconds: PERIOD_SECONDS } = CALL_LIMITS[REQUESTS];
/** Maximum clients whose requests one isolate counts per period. */
const MAX_COUNTED = 10_000;

/** The callers' requests in this period and isolate; the platform does not expose its own count. */
const counted = { period: 0, requests: new Map<string, number>() };

/** `RateLimit` with the remaining requests: an upper bound, because other isolates may have served more. */
function remaining(key: string): string {
  const seconds = Date.now() / 1_000;
  const period = Math.floor(seconds / PERIOD_SECONDS);
  if (period !== counted.period || counted.requests.size > MAX_COUNTED) {
    counted.period = period;
    counted.requests.clear();
  }
  const used = (counted.requests.get(key) ?? 0) + 1;
  counted.requests.set(key, used);
  const resetSeconds = Math.ceil((period + 1) * PERIOD_SECONDS - seconds);
  return `"${REQUESTS}";r=${Math.max(QUOTA - used, 0)};t=${resetSeconds}`;
}

const policyOf = (limits: CallLimits): string =>
  Object.entries(limits)
    .map(([name, { quota, windowSeconds, unit }]) =>
      [
        `"${name}";q=${quota}`,
        ...(windowSeconds === undefined ? [] : [`w=${windowSeconds}`]),
        ...(unit === undefined ? [] : [`qu="${unit}"`]),
      ].join(';'),
    )
    .join(', ');

/** Sets `RateLimit` of a limit that the route itself enforces. @param limit its name in CALL_LIMITS */
export const showRemaining = (c: Context, limit: string, { left, resetSeconds }: Remaining): void =>
  c.header('RateLimit', `"${limit}";r=${left};t=${resetSeconds}`);

const withRequests = (limits: CallLimits): string =>
  policyOf({ [REQUESTS]: CALL_LIMITS[REQUESTS], ...limits });
const REQUESTS_ONLY = withRequests({});

/**
 * Counts a request of one client.
 * @param group  routes that share one count
 * @param policy `RateLimit-Policy` of a refusal
 * @throws AppError RATE_LIMITED
 */
async function admit<E extends { Bindings: Pick<Env, 'LIMITER'> }>(
  c: Context<E>,
  group: string,
  policy = REQUESTS_ONLY,
): Promise<void> {
  const { success } = await c.env.LIMITER.limit({ key: `${group}:${clientKey(c)}` });
  if (success) return;
  c.header('RateLimit-Policy', policy);
  throw new AppError('RATE_LIMITED', 'Too many requests from this address.', {
    retryAfterSeconds: PERIOD_SECONDS,
    details: { limit: REQUESTS },
  });
}

/**
 * Counts requests of one client and shows the limits of the route.
 *
 * @param group   routes that share one count
 * @param further limits that the route itself enforces, by name; a function of the dependencies if a setting determines
 * one of them
 */
export function rateLimit<Deps>(
  group: string,
  further: CallLimits | ((deps: Deps) => CallLimits) = {},
): MiddlewareHandler<RouterEnv<Deps>> {
  const fixed = typeof further === 'function' ? undefined : withRequests(further);
  return async function rateLimit(c, next) {
    const policy = fixed ?? withRequests(typeof further === 'function' ? further(c.var.deps) : further);
    await admit(c, group, policy);
    await next();
    // Set on the finished response: headers set before it exists cost a copy of all of them.
    const { headers } = c.res;
    headers.set('RateLimit-Policy', policy);
    headers.append('RateLimit', remaining(`${group}:${clientKey(c)}`));
  };
}

const READS = 'reads';

/** Limits the reads whose value is not in an isolate's memory. */
export const limitReads = rateLimit(READS);

/** Counts a read whose value was not in memory, and shows the remaining reads. @throws AppError RATE_LIMITED */
export async function admitRead(c: Context): Promise<void> {
  await admit(c, READS);
  c.header('RateLimit-Policy', REQUESTS_ONLY);
  c.header('RateLimit', remaining(`${READS}:${clientKey(c)}`));
}
