import { createApp } from './app.ts';
import { PageViewsObject } from './features/analytics/page-views-object.ts';
import { inReadSession } from './http/read-session.ts';
import { apiDeps } from './wiring/api.ts';
import { ipRetentionDays } from './wiring/page-views.ts';
import { runScheduled } from './wiring/scheduled.ts';

export { CustodianObject as Custodian } from './wiring/custodian-object.ts';

export class PageViews extends PageViewsObject {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, () => ipRetentionDays(env));
  }
}

const app = createApp(apiDeps);

export default {
  fetch: async (request, env, context) =>
    inReadSession(request, env.DB, () => app.fetch(request, env, context)),
  scheduled: ({ cron }, env) => runScheduled(cron, env),
} satisfies ExportedHandler<Env>;
