import { DurableObject } from 'cloudflare:workers';
import { createApp } from './app.ts';
import { apiDeps } from './deps.ts';

export class Custodian extends DurableObject {}

const app = createApp(apiDeps);

export default {
  fetch: (request, env, context) => app.fetch(request, env, context),
} satisfies ExportedHandler<Env>;
