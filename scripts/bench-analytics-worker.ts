import worker, { Custodian } from '../src/worker.ts';

export { Custodian };

/** The service as it is, and beside it the least that a Worker can do with a page view: one row, nothing else. */
export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname !== '/api/raw-insert') return worker.fetch(request, env, context);
    const { path } = await request.json<{ path: string }>();
    await env.DB.prepare('INSERT INTO bench_rows (at_ms, path) VALUES (?, ?)').bind(Date.now(), path).run();
    return new Response(null, { status: 204 });
  },
} satisfies ExportedHandler<Env>;
