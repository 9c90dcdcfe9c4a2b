/** The routes of features over the dependencies that a test gives, as the application mounts them. */
import { requestId } from 'hono/request-id';
import { AppError } from '../../src/core/errors.ts';
import { asAppError, problemResponse } from '../../src/http/problem.ts';
import { newRouter } from '../../src/http/router.ts';
import { OPEN_GATE } from './flood-gate.ts';

/**
 * Requests name a host that is not the service's own, because no response may depend on the host.
 * @param deps  read at each request
 * @param mount mounts the routes
 */
export function routerOver<Deps>(
  deps: () => Deps,
  mount: (app: ReturnType<typeof newRouter<Deps>>) => unknown,
) {
  const app = newRouter<Deps>();
  app.use(requestId());
  app.use(async (c, next) => {
    c.set('deps', deps());
    await next();
  });
  mount(app);
  app.notFound((c) => problemResponse(c, new AppError('ROUTE_NOT_FOUND', 'No such path.')));
  app.onError((error, c) => problemResponse(c, asAppError(error)));
  return async (path: string, init: RequestInit = {}): Promise<Response> =>
    app.request(`https://caller.test${path}`, init, OPEN_GATE);
}
