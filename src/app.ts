/**
 * The whole API: the middleware for every response, the features' routes, and the responses to failures.
 * @module
 */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { except } from 'hono/combine';
import { cors } from 'hono/cors';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { requestId } from 'hono/request-id';
import { routePath } from 'hono/route';
import type { RouterRoute } from 'hono/types';
import { AppError } from './core/errors.ts';
import { type AnalyticsDeps, analyticsRoutes } from './features/analytics/routes.ts';
import { type AsryDeps, asryRoutes } from './features/asry/routes.ts';
import { type ExchangeDeps, exchangeRoutes } from './features/exchange/routes.ts';
import { type NostrFeedDeps, nostrFeedRoutes } from './features/nostr-feed/routes.ts';
import { type OpenApiDeps, openApiRoutes } from './features/openapi/routes.ts';
import { type OpsDeps, opsRoutes } from './features/ops/routes.ts';
import type { ConfiguredPoolDeps } from './features/pools/get-pool.ts';
import { poolsRoutes } from './features/pools/routes.ts';
import { type AbsrDeps, absrRoutes } from './features/reserves/absr-routes.ts';
import type { GetProofDeps } from './features/reserves/get-proof.ts';
import { proofRoutes } from './features/reserves/proof-routes.ts';
import { type ReservesRouteDeps, reservesRoutes } from './features/reserves/routes.ts';
import { type StatusDeps, statusRoutes } from './features/status/routes.ts';
import { type CreateSwapDeps, createSwapRoutes } from './features/swap/create-route.ts';
import { type SwapQuoteDeps, swapQuoteRoutes } from './features/swap/quote-routes.ts';
import { type SwapRecordDeps, swapRecordRoutes } from './features/swap/record-routes.ts';
import { type InvoiceDeps, invoiceRoutes } from './features/tokens/invoice-routes.ts';
import { type ListingDeps, listingRoutes } from './features/tokens/listing-routes.ts';
import { type TokenDeps, tokenRoutes } from './features/tokens/routes.ts';
import { emptyIsAbsent } from './http/params.ts';
import { asAppError, problemResponse } from './http/problem.ts';
import { BOOKMARK_HEADER } from './http/read-session.ts';
import { readSeveral } from './http/read-several.ts';
import { newRouter, type RouterEnv } from './http/router.ts';
import { type PageDeps, sitePages } from './pages.ts';

/** Each feature's dependencies. A feature's routes receive only their own part. */
export type Deps = {
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
  readonly analytics: AnalyticsDeps;
  readonly asry: AsryDeps;
  readonly exchange: ExchangeDeps;
  readonly nostr: NostrFeedDeps;
  readonly openapi: OpenApiDeps;
  readonly ops: OpsDeps;
  readonly pools: ConfiguredPoolDeps;
  readonly pages: PageDeps;
  readonly reserves: ReservesRouteDeps & GetProofDeps & AbsrDeps;
  readonly status: StatusDeps;
  readonly swap: SwapQuoteDeps & CreateSwapDeps & SwapRecordDeps;
  readonly tokens: InvoiceDeps & TokenDeps & ListingDeps;
};

/** Pages of other origins must not read this path's responses, so they have no CORS headers. */
const OPS_PATH = '/api/ops';

const isReadByPages = (path: string): boolean => path.startsWith('/api/') && path !== OPS_PATH;

const ONE_DAY_SECONDS = 86_400;
const EXPOSED_HEADERS = [
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
const openToBrowsers = cors({
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
  exposeHeaders: EXPOSED_HEADERS,
  maxAge: ONE_DAY_SECONDS,
});

const SECURITY_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
};

const addEtag = etag({
  retainedHeaders: [
    ...RETAINED_304_HEADERS,
    'Access-Control-Allow-Origin',
    'Access-Control-Expose-Headers',
    ...EXPOSED_HEADERS,
  ],
});

/** A cache may store a successful read, but must revalidate it before each reuse, unless the route allows more. */
const isRead = ({ req, res }: Context): boolean => ['GET', 'HEAD'].includes(req.method) && res.ok;

const logRequest: MiddlewareHandler<RouterEnv<Deps>> = async (c, next) => {
  const started = Date.now();
  await next();
  const deps: Deps | undefined = c.var.deps;
  const code = c.get('errorCode');
  deps?.log({
    level: c.res.status >= 500 ? 'error' : 'info',
    request_id: c.get('requestId'),
    method: c.req.method,
    route: routePath(c, -1),
    status: c.res.status,
    ms: Date.now() - started,
    ...(code ? { code } : {}),
  });
};

const addHeaders: MiddlewareHandler<RouterEnv<Deps>> = async (c, next) => {
  await next();
  const { headers } = c.res;
  // Pages of the site have a Content-Security-Policy of their own.
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    if (!headers.has(name)) headers.set(name, value);
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', isRead(c) ? 'no-cache' : 'no-store');
  if (headers.get('Cache-Control') !== 'no-store') await addEtag(c, async () => undefined);
};

function methodProblem(c: Context, methods: readonly string[]): Response {
  const allow = (c.req.path === OPS_PATH ? methods : [...methods, 'OPTIONS']).join(', ');
  const problem = problemResponse(c, new AppError('METHOD_NOT_ALLOWED', `Use ${allow}.`));
  problem.headers.set('Allow', allow);
  return problem;
}

/**
 * The methods of each path without parameters. Requests with other methods must not reach a route with parameters.
 * Otherwise GET /api/invoices/confirm would reach /api/invoices/{id}.
 */
function methodsOfLiterals(routes: readonly RouterRoute[]): ReadonlyMap<string, readonly string[]> {
  const literal = routes.filter(({ path, method }) => method !== 'ALL' && !/[:*]/.test(path));
  return new Map(
    [...Map.groupBy(literal, ({ path }) => path)].map(([path, own]) => [
      path,
      [...new Set(own.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))],
    ]),
  );
}

function addApiRoutes(app: OpenAPIHono<RouterEnv<Deps>>): void {
  app.route('/api', statusRoutes);
  app.route('/api', reservesRoutes);
  app.route('/api', proofRoutes);
  app.route('/api', absrRoutes);
  app.route('/api', swapQuoteRoutes);
  app.route('/api', createSwapRoutes);
  app.route('/api', swapRecordRoutes);
  app.route('/api', invoiceRoutes);
  app.route('/api', tokenRoutes);
  app.route('/api', listingRoutes);
  app.route('/api', exchangeRoutes);
  app.route('/api', analyticsRoutes);
  app.route('/api', asryRoutes);
  app.route('/api', poolsRoutes);
  app.route('/api', nostrFeedRoutes);
}

/** @param depsFor called before each route; if it fails, the response is an internal error */
export function createApp(depsFor: (env: Env) => Deps | Promise<Deps>) {
  const app = newRouter<Deps>();
  let literals: ReadonlyMap<string, readonly string[]> | undefined;

  app.use(requestId());
  app.use(logRequest);
  app.use(except(OPS_PATH, openToBrowsers));
  app.use(addHeaders);
  app.use(async function provideDeps(c, next) {
    c.set('deps', await depsFor(c.env));
    await next();
  });
  app.use(emptyIsAbsent);
  app.use(async function refuseOtherMethod(c, next) {
    literals ??= methodsOfLiterals(app.routes);
    const methods = literals.get(c.req.path);
    if (methods && !methods.includes(c.req.method)) return methodProblem(c, methods);
    await next();
  });

  addApiRoutes(app);
  app.route(OPS_PATH, opsRoutes);
  app.route('/', openApiRoutes);
  app.route('/', sitePages(app));
  app.get('/read', readSeveral(app, isReadByPages));

  const refuseMethod = methodNotAllowed({
    app,
    onMethodNotAllowed: methodProblem,
  });
  // Runs only for paths without a route. As a middleware it would run for every request.
  app.notFound(async (c) => {
    c.res = problemResponse(
      c,
      new AppError('ROUTE_NOT_FOUND', 'No such path. GET /api/openapi.json lists all of them.'),
    );
    await refuseMethod(c, async () => undefined);
    return c.res;
  });
  app.onError((thrown, c) => {
    const error = asAppError(thrown);
    if (error.code === 'INTERNAL') {
      const { name, stack } = thrown;
      // Unset if the configuration itself could not be read.
      const deps: Deps | undefined = c.var.deps;
      deps?.log({ level: 'error', request_id: c.get('requestId'), unexpected: name, stack });
    }
    return problemResponse(c, error);
  });
  return app;
}
