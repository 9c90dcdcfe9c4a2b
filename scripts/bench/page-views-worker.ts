/**
 * The deployed service, and a PUT of SQL for the object of its page views.
 * @module
 */
import type { PageViewsObject } from '../../src/features/analytics/page-views-object.ts';

/** The bundle of the service, in the same folder as this one. */
const SERVICE: string = './worker.js';
const deployed = (await import(SERVICE)) as {
  readonly default: { fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> };
  readonly Custodian: unknown;
  readonly PageViews: new (ctx: DurableObjectState, env: Env) => PageViewsObject;
};

export const { Custodian } = deployed;

export class PageViews extends deployed.PageViews {
  query(sql: string): unknown[] {
    return this.ctx.storage.sql.exec(sql).toArray();
  }
}

type BenchEnv = Omit<Env, 'PAGE_VIEWS'> & { readonly PAGE_VIEWS: DurableObjectNamespace<PageViews> };

export default {
  async fetch(request, env, context) {
    if (request.method !== 'PUT') return deployed.default.fetch(request, env, context);
    return Response.json(await env.PAGE_VIEWS.getByName('0').query(await request.text()));
  },
} satisfies ExportedHandler<BenchEnv>;
