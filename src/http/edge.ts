/**
 * The common parts of every response: request id, CORS, security headers, entity tag and the log line. They
 * are one middleware, because each further one slows a warm read by several percent. Headers are set once, on
 * the route's finished response: Hono copies all headers if some exist before it.
 * @module
 */
import type { Context, Next } from 'hono';
import { cors } from 'hono/cors';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import { routePath } from 'hono/route';
import { BOOKMARK_HEADER } from './read-session.ts';

const ONE_DAY_SECONDS = 86_400;
const EXPOSED = [
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
  'Idempotency-Replayed',
  'Preference-Applied',
  'ETag',
  'Allow',
  'Link',
  'X-Data-Source',
  'X-Data-As-Of',
  'X-Data-Stale',
  BOOKMARK_HEADER,
];

const preflight = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD', 'POST', 'OPTIONS'],
  allowHeaders: [
    'Content-Type',
    'Idempotency-Key',
    'Prefer',
    'X-Request-Id',
    'If-None-Match',
    'Cache-Control',
    'traceparent',
    BOOKMARK_HEADER,
  ],
  exposeHeaders: EXPOSED,
  maxAge: ONE_DAY_SECONDS,
});

const CORS = [
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', EXPOSED.join(',')],
] as const;

const SECURITY = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Strict-Transport-Security', 'max-age=31536000'],
] as const;

/** A route may set its own. */
const DEFAULTS = [
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Cache-Control', 'no-store'],
] as const;

/** Hashes the body if the route set no entity tag, and returns 304 if the caller's copy has the same tag. */
const addEtag = etag({
  retainedHeaders: [
    ...RETAINED_304_HEADERS,
    ...[...CORS, ...SECURITY].map(([name]) => name.toLowerCase()),
    'content-security-policy',
    'ratelimit',
    'ratelimit-policy',
    'x-request-id',
  ],
});

const MAX_REQUEST_ID_LENGTH = 255;

/** The caller's id if it is plain ASCII of a bounded length, because it is logged and sent back. */
function requestIdOf(c: Context): string {
  const sent = c.req.header('x-request-id');
  return sent && sent.length <= MAX_REQUEST_ID_LENGTH && !/[^\w\-=]/.test(sent) ? sent : crypto.randomUUID();
}

type EdgeOptions<Deps> = {
  /** Built before the route runs. @throws Error when the configuration cannot be read */
  readonly depsFor: (env: Env) => Deps | Promise<Deps>;
  readonly log: (deps: Deps, line: Readonly<Record<string, unknown>>) => void;
  /** A path without CORS: pages of other origins must not read its answers. */
  readonly privatePath: string;
};

export function edge<Deps>({ depsFor, log, privatePath }: EdgeOptions<Deps>) {
  return async function edgeOf(c: Context, next: Next): Promise<Response | undefined> {
    const started = Date.now();
    const requestId = requestIdOf(c);
    c.set('requestId', requestId);
    const isPublic = c.req.path !== privatePath;
    const built = depsFor(c.env);
    const deps = built instanceof Promise ? await built : built;
    c.set('deps', deps);
    if (c.req.method === 'OPTIONS' && isPublic) {
      const answer = await preflight(c, next);
      if (answer) c.res = answer;
    } else await next();
    const { headers } = c.res;
    headers.set('X-Request-Id', requestId);
    if (isPublic) for (const [name, value] of CORS) headers.set(name, value);
    for (const [name, value] of SECURITY) headers.set(name, value);
    for (const [name, value] of DEFAULTS) if (!headers.has(name)) headers.set(name, value);
    const mayMatch = !headers.has('ETag') || c.req.header('if-none-match') !== undefined;
    // An answer that must not be stored needs no tag.
    if (mayMatch && headers.get('Cache-Control')?.includes('max-age'))
      await addEtag(c, async () => undefined);
    const code: unknown = c.get('errorCode');
    log(deps, {
      level: c.res.status >= 500 ? 'error' : 'info',
      request_id: requestId,
      method: c.req.method,
      route: routePath(c, -1),
      status: c.res.status,
      ms: Date.now() - started,
      ...(code ? { code } : {}),
    });
    return undefined;
  };
}
