import { createApp } from './app.ts';
import { custodianClass } from './custody/durable-object.ts';
import { runScheduled } from './scheduled.ts';
import { apiDeps } from './wiring/api.ts';
import { custodyDeps } from './wiring/custody.ts';
import { scheduledDeps } from './wiring/scheduled.ts';

export class Custodian extends custodianClass(custodyDeps) {}

const app = createApp(apiDeps);

export default {
  fetch: (request, env, context) => app.fetch(request, env, context),
  scheduled: ({ cron }, env) => runScheduled(cron, scheduledDeps(env)),
} satisfies ExportedHandler<Env>;
