/**
 * The fastest possible Workers: two Hono apps with the service's number of routes. One is bare; the other has the same
 * middleware. Their routes make the calls that the query requests.
 * @module
 */
import { DurableObject } from 'cloudflare:workers';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { etag } from 'hono/etag';
import { requestId } from 'hono/request-id';

/** About the length of a response of `/api/reserves`. */
const BODY = { text: 'x'.repeat(400), number: 1 };
const ROUTES = 60;

const ROW_BYTES = 500;
const ROWS = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
  SELECT hex(zeroblob(${ROW_BYTES / 2})) AS text FROM n WHERE i <= ?`;

type LimitEnv = {
  Bindings: Omit<Env, 'CUSTODIAN' | 'PAGE_VIEWS'> & {
    CUSTODIAN: DurableObjectNamespace<Custodian>;
    PAGE_VIEWS: DurableObjectNamespace<PageViews>;
  };
};

/** Has the name of the service's class, so that both use the same bindings. */
export class PageViews extends DurableObject {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec(
      'CREATE TABLE IF NOT EXISTS views (id INTEGER PRIMARY KEY, at_ms INTEGER, path TEXT)',
    );
  }
  add(path: string) {
    this.ctx.storage.sql.exec('INSERT INTO views (at_ms, path) VALUES (?, ?)', Date.now(), path);
  }
}

export class Custodian extends DurableObject {
  read() {
    return this.ctx.storage.sql.exec('SELECT 1 AS one').toArray();
  }
}

function routes(app: Hono<LimitEnv>): Hono<LimitEnv> {
  for (let index = 0; index < ROUTES - 2; index += 1)
    app.get(`/area${index % 12}/thing${index}/:id`, (c) => c.json(BODY));
  app.get('/none', (c) => c.json(BODY));
  // Calls each backend as often as the query requests, concurrently, and sends `bytes` bytes. Each D1 query reads
  // `read` rows and returns `bytes` bytes.
  app.get('/calls', async (c) => {
    const { env } = c;
    const { bytes = '0', read = '0', ...times } = c.req.query();
    const returned = Math.ceil(Number(bytes) / ROW_BYTES);
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      d1: () =>
        env.DB.prepare(ROWS)
          .bind(Math.max(Number(read), returned), returned)
          .all(),
      kv: () => env.KV.get('bench'),
      do: () => env.CUSTODIAN.getByName('bench').read(),
      limiter: () => env.LIMITER.limit({ key: `bench:${c.req.header('cf-connecting-ip')}` }),
    };
    const started = Object.entries(times).flatMap(([name, count]) =>
      Array.from({ length: Number(count) }, () => calls[name]?.()),
    );
    return c.json({ text: 'x'.repeat(Number(bytes)), results: (await Promise.all(started)).length });
  });
  return app;
}

const bare = new Hono<LimitEnv>().route('/hono', routes(new Hono()));

const same = new Hono<LimitEnv>();
same.use(requestId());
same.use(async (c, next) => {
  const started = Date.now();
  await next();
  console.log(
    JSON.stringify({ level: 'info', method: c.req.method, status: c.res.status, ms: Date.now() - started }),
  );
});
same.use(cors({ origin: '*', exposeHeaders: ['ETag', 'Retry-After'] }));
same.use(async (c, next) => {
  await next();
  c.res.headers.set('X-Content-Type-Options', 'nosniff');
  c.res.headers.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  c.res.headers.set('Referrer-Policy', 'no-referrer');
  c.res.headers.set('Strict-Transport-Security', 'max-age=31536000');
  c.res.headers.set('Cache-Control', 'no-store');
});
same.use(etag());
same.route('/same', routes(new Hono()));
// The calls of a page view: the limiter, and one Durable Object that writes one row.
same.post('/same/page-view', async (c) => {
  const { path } = await c.req.json<{ path: string }>();
  const { success } = await c.env.LIMITER.limit({ key: `bench:${c.req.header('cf-connecting-ip')}` });
  if (!success) return c.body(null, 429);
  await c.env.PAGE_VIEWS.getByName('bench').add(path);
  return c.body(null, 204);
});

export default {
  fetch: (request, env, context) =>
    (new URL(request.url).pathname.startsWith('/same') ? same : bare).fetch(request, env, context),
} satisfies ExportedHandler<LimitEnv['Bindings']>;
