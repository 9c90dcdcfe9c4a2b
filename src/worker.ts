import { getPath } from 'hono/utils/url';
import { areaOf } from './areas.ts';
import { custodianClass } from './custody/durable-object.ts';
import { PageViewsObject } from './features/analytics/page-views-object.ts';
import { inReadSession } from './http/read-session.ts';
import { type App, mountedApp } from './mounted-app.ts';

/** Its modules are evaluated only in the object's isolate. */
export class Custodian extends custodianClass(async (storage, env) => {
  const [{ createCustodian }, { custodyDeps }] = await Promise.all([
    import('./custody/custodian.ts'),
    import('./wiring/custody.ts'),
  ]);
  return createCustodian(storage, custodyDeps(env));
}) {}

export class PageViews extends PageViewsObject {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, async () => {
      const { ipRetentionDays } = await import('./wiring/page-views.ts');
      return ipRetentionDays(env);
    });
  }
}

/** The app of each area, created at the first request for it. */
const apps = new Map<ReturnType<typeof areaOf>, Promise<App>>();

function appOf(request: Request): Promise<App> {
  const area = areaOf(getPath(request));
  const known = apps.get(area) ?? load(area);
  apps.set(area, known);
  return known;
}

async function load(area: ReturnType<typeof areaOf>): Promise<App> {
  const [{ featureDeps }, mount] = await Promise.all([import('./wiring/api.ts'), area.load()]);
  const ready = new WeakMap<Env, Awaited<ReturnType<typeof featureDeps>>>();
  async function build(env: Env) {
    const deps = await featureDeps(env, area.features);
    ready.set(env, deps);
    return deps;
  }
  return mountedApp((env) => ready.get(env) ?? build(env), [mount]);
}

export default {
  async fetch(request, env, context) {
    const app = await appOf(request);
    return inReadSession(request, env.DB, () => app.fetch(request, env, context));
  },
  async scheduled({ cron }, env) {
    const { runScheduled } = await import('./wiring/scheduled.ts');
    await runScheduled(cron, env);
  },
} satisfies ExportedHandler<Env>;
