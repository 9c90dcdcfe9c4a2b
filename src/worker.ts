import { createApp } from './app.ts';
import { custodianClass } from './custody/custodian.ts';
import { apiDeps, custodyDeps } from './deps.ts';

export class Custodian extends custodianClass(custodyDeps) {}

const app = createApp(apiDeps);

export default {
  fetch: (request, env, context) => app.fetch(request, env, context),
  scheduled: (_controller, env) => apiDeps(env).custody.wake(),
} satisfies ExportedHandler<Env>;
