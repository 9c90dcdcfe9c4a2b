/**
 * Runs beside the service's Worker, on the same database: calls its scheduled handler, and queries its rows and those of
 * its page views for a test.
 * Miniflare's own proxies would stop their process until workerd answers, and workerd blocks while its log is
 * not read.
 * @module
 */
const actions = {
  '/scheduled': async (env, { cron, time }) => {
    const { outcome, noRetry } = await env.SLUICE.scheduled({ cron, scheduledTime: new Date(time) });
    return { outcome, noRetry };
  },
  '/query': async (env, { sql, params }) =>
    (
      await env.DB.prepare(sql)
        .bind(...params)
        .all()
    ).results,
  '/pageViews': async (env, { sql }) => env.PAGE_VIEWS.getByName('0').query(sql),
  '/evict': (env) =>
    env.CUSTODIAN.getByName('custodian')
      .evict()
      .catch(() => null),
};

export default {
  async fetch(request, env) {
    const act = actions[new URL(request.url).pathname];
    try {
      return Response.json({ value: (await act(env, await request.json())) ?? null });
    } catch (error) {
      return Response.json({ reason: error instanceof Error ? error.message : String(error) });
    }
  },
};
