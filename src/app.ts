/**
 * Mounts the middleware in order and every feature, and turns failures into responses.
 * @module
 */
import { methodNotAllowed } from 'hono/method-not-allowed';
import { AppError, SHARED_ERRORS } from './core/errors.ts';
import { ANALYTICS_ERRORS } from './features/analytics/errors.ts';
import { type AnalyticsDeps, analyticsRoutes } from './features/analytics/routes.ts';
import { ASRY_ERRORS } from './features/asry/errors.ts';
import { type AsryDeps, asryRoutes } from './features/asry/routes.ts';
import { EXCHANGE_ERRORS } from './features/exchange/errors.ts';
import { type ExchangeDeps, exchangeRoutes } from './features/exchange/routes.ts';
import { NOSTR_ERRORS } from './features/nostr-feed/errors.ts';
import { type NostrFeedDeps, nostrFeedRoutes } from './features/nostr-feed/routes.ts';
import { type OpenApiDeps, openApiRoutes } from './features/openapi/routes.ts';
import { OPS_ERRORS } from './features/ops/errors.ts';
import { OPS_PATH, type OpsDeps, opsRoutes } from './features/ops/routes.ts';
import { POOL_ERRORS } from './features/pools/errors.ts';
import { type PoolsDeps, poolsRoutes } from './features/pools/routes.ts';
import { type AbsrDeps, absrRoutes } from './features/reserves/absr-routes.ts';
import { ABSR_ERRORS } from './features/reserves/errors.ts';
import { type ProofRouteDeps, proofRoutes } from './features/reserves/proof-routes.ts';
import { type ReservesRouteDeps, reservesRoutes } from './features/reserves/routes.ts';
import { type StatusDeps, statusRoutes } from './features/status/routes.ts';
import { SWAP_ERRORS } from './features/swap/errors.ts';
import { type SwapDeps, swapRoutes } from './features/swap/routes.ts';
import { TOKEN_ERRORS } from './features/tokens/errors.ts';
import { type InvoiceDeps, invoiceRoutes } from './features/tokens/invoice-routes.ts';
import { type ListingDeps, listingRoutes } from './features/tokens/listing-routes.ts';
import { type QuoteDeps, quoteRoutes } from './features/tokens/quote-routes.ts';
import { type TokenDeps, tokenRoutes } from './features/tokens/routes.ts';
import { edge } from './http/edge.ts';
import { asAppError, mergeErrorTables, problemResponse } from './http/problem.ts';
import { newRouter } from './http/router.ts';

/** Each feature's dependencies. A feature's routes receive only their own part. */
export type Deps = {
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
  readonly analytics: AnalyticsDeps;
  readonly asry: AsryDeps;
  readonly exchange: ExchangeDeps;
  readonly nostr: NostrFeedDeps;
  readonly openapi: OpenApiDeps;
  readonly ops: OpsDeps;
  readonly pools: PoolsDeps;
  readonly reserves: ReservesRouteDeps & ProofRouteDeps & AbsrDeps;
  readonly status: StatusDeps;
  readonly swap: SwapDeps;
  readonly tokens: InvoiceDeps & QuoteDeps & TokenDeps & ListingDeps;
};

export const ERRORS = mergeErrorTables(
  SHARED_ERRORS,
  OPS_ERRORS,
  ABSR_ERRORS,
  SWAP_ERRORS,
  EXCHANGE_ERRORS,
  ANALYTICS_ERRORS,
  ASRY_ERRORS,
  POOL_ERRORS,
  NOSTR_ERRORS,
  TOKEN_ERRORS,
);

export function createApp(depsFor: (env: Env) => Deps) {
  const app = newRouter<Deps>();

  app.use(edge({ depsFor, log: (deps, line) => deps.log(line), privatePath: OPS_PATH }));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) => {
        const allow = [...methods, 'OPTIONS'].join(', ');
        const problem = problemResponse(c, new AppError('METHOD_NOT_ALLOWED', `Use ${allow}.`), ERRORS);
        problem.headers.set('Allow', allow);
        return problem;
      },
    }),
  );

  app.route('/api', statusRoutes);
  app.route('/api', reservesRoutes);
  app.route('/api', proofRoutes);
  app.route('/api', absrRoutes);
  app.route('/api', swapRoutes);
  app.route('/api', invoiceRoutes);
  // Mounted before the tokens, whose id is a path segment as well.
  app.route('/api', quoteRoutes);
  app.route('/api', tokenRoutes);
  app.route('/api', listingRoutes);
  app.route('/api', exchangeRoutes);
  app.route('/api', analyticsRoutes);
  app.route('/api', asryRoutes);
  app.route('/api', poolsRoutes);
  app.route('/api', nostrFeedRoutes);

  app.route('/', openApiRoutes);

  app.route(OPS_PATH, opsRoutes);

  app.notFound((c) => problemResponse(c, new AppError('ROUTE_NOT_FOUND', 'No such path.'), ERRORS));
  app.onError((thrown, c) => {
    const error = asAppError(thrown);
    if (error.code === 'INTERNAL') {
      const { name, stack } = thrown;
      // Unset if the configuration itself could not be read.
      const deps: Deps | undefined = c.var.deps;
      deps?.log({ level: 'error', request_id: c.get('requestId'), unexpected: name, stack });
    }
    return problemResponse(c, error, ERRORS);
  });
  return app;
}
