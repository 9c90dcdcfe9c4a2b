/**
 * Mounts the middleware in order and the given routers, and turns failures into responses.
 * @module
 */
import { methodNotAllowed } from 'hono/method-not-allowed';
import { OPS_PATH } from './areas.ts';
import { AppError } from './core/errors.ts';
import type { AnalyticsDeps } from './features/analytics/routes.ts';
import type { AsryDeps } from './features/asry/routes.ts';
import type { ExchangeDeps } from './features/exchange/routes.ts';
import type { NostrFeedDeps } from './features/nostr-feed/routes.ts';
import type { OpenApiDeps } from './features/openapi/routes.ts';
import type { OpsDeps } from './features/ops/routes.ts';
import type { PoolsDeps } from './features/pools/routes.ts';
import type { AbsrDeps } from './features/reserves/absr-routes.ts';
import type { GetProofDeps } from './features/reserves/get-proof.ts';
import type { ReservesRouteDeps } from './features/reserves/routes.ts';
import type { StatusDeps } from './features/status/routes.ts';
import type { SwapDeps } from './features/swap/routes.ts';
import type { InvoiceDeps } from './features/tokens/invoice-routes.ts';
import type { ListingDeps } from './features/tokens/listing-routes.ts';
import type { TokenDeps } from './features/tokens/routes.ts';
import { edge } from './http/edge.ts';
import { asAppError, problemResponse } from './http/problem.ts';
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
  readonly reserves: ReservesRouteDeps & GetProofDeps & AbsrDeps;
  readonly status: StatusDeps;
  readonly swap: SwapDeps;
  readonly tokens: InvoiceDeps & TokenDeps & ListingDeps;
};

export type Feature = Exclude<keyof Deps, 'log'>;
/** The dependencies of the mounted routes. */
type Served = Pick<Deps, 'log'> & Partial<Deps>;
export type DepsFor = (env: Env) => Served | Promise<Served>;

export type App = ReturnType<typeof newRouter<Deps>>;
/** Adds the routes of an area to an app. */
export type Mount = (app: App) => unknown;

/** @param mounts in the order in which their routes are matched */
export function mountedApp(depsFor: DepsFor, mounts: readonly Mount[]): App {
  const app = newRouter<Deps>();

  app.use(edge({ depsFor, log: (deps, line) => deps.log(line), privatePath: OPS_PATH }));

  for (const mount of mounts) mount(app);

  const refuseMethod = methodNotAllowed({
    app,
    onMethodNotAllowed: (c, methods) => {
      const allow = [...methods, 'OPTIONS'].join(', ');
      const problem = problemResponse(c, new AppError('METHOD_NOT_ALLOWED', `Use ${allow}.`));
      problem.headers.set('Allow', allow);
      return problem;
    },
  });
  // Called here only, because a middleware would run for every request that has a route.
  app.notFound(async (c) => {
    c.res = problemResponse(c, new AppError('ROUTE_NOT_FOUND', 'No such path.'));
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
