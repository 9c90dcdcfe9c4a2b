import { createApp } from './app.ts';
import { requestClient } from './core/client-network.ts';
import { inReadSession } from './http/read-session.ts';
import { CallSlots } from './providers/admission.ts';
import { apiDeps } from './wiring/api.ts';
import { runScheduled } from './wiring/scheduled.ts';

export { PageViewsObject as PageViews } from './features/analytics/page-views-object.ts';
export { CustodianObject as Custodian } from './wiring/custodian-object.ts';

const app = createApp(apiDeps);

export default {
  fetch: async (request, env, context) =>
    new CallSlots().run(
      'user',
      () => inReadSession(request, env.DB, () => app.fetch(request, env, context)),
      requestClient(request.headers),
    ),
  scheduled: ({ cron }, env) => new CallSlots().run('own', () => runScheduled(cron, env)),
} satisfies ExportedHandler<Env>;
