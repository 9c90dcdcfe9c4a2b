import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApp, type Deps } from '../../src/app.ts';
import { DECLARATIONS, readConfig } from '../../src/config.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { routeRequests } from '../e2e/route-requests.ts';
import { CANARY, CLOSED, closedEnv, SECRET_DETAIL } from './closed-env.ts';

const LIMIT_BYTES = 16 * 1024;

type App = ReturnType<typeof createApp>;

/** Names of the secret keys that the API has read. */
const keyReads: string[] = [];

/** Dependencies that all fail with an error that no response may show. */
const failing = (): Deps =>
  new Proxy({} as Deps, {
    get: (_, name) => {
      if (name === 'log') return () => undefined;
      throw new Error(SECRET_DETAIL);
    },
  });

/** Header names that browsers list in a preflight, in lower case and sorted. */
const SENT_BY_PAGES = [
  'cache-control',
  'content-type',
  'idempotency-key',
  'if-none-match',
  'prefer',
  'traceparent',
  'x-data-bookmark',
  'x-request-id',
];
const READ_BY_PAGES = [
  'etag',
  'idempotency-replayed',
  'link',
  'preference-applied',
  'retry-after',
  'x-data-as-of',
  'x-data-bookmark',
  'x-data-source',
  'x-data-stale',
  'x-request-id',
];
/** The names that a list header of CORS gives. */
const namesIn = (response: Response, header: string): string[] =>
  (response.headers.get(header) ?? '').split(',').map((name) => name.trim().toLowerCase());

const routes = routeRequests();
const named = routes.map((request) => [`${request.method} ${request.route}`, request] as const);
const gets = named.filter(([, { method }]) => method === 'GET');
const posts = named.filter(([, { method }]) => method === 'POST');
const paths = [...new Set(routes.map(({ route }) => route))].map((route) => {
  const own = routes.find((request) => request.route === route);
  const same = routes.filter((request) => request.route === route);
  return [route, own?.path ?? '', [...new Set(same.map(({ method }) => method))]] as const;
});

let app: App;
let broken: App;
let withoutDatabase: App;
let closed: Env;

const appOf = (bindings: Env): App =>
  createApp(async () => ({ ...(await apiDeps(bindings)), log: () => undefined }));

beforeAll(async () => {
  const refuse = (): never => {
    throw new TypeError(SECRET_DETAIL);
  };
  vi.stubGlobal('fetch', async () => refuse());
  vi.stubGlobal('WebSocket', refuse);
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  closed = closedEnv();
  for (const [name, { custodyOnly }] of DECLARATIONS) {
    if (!custodyOnly) continue;
    const get = () => {
      keyReads.push(name);
      return CANARY;
    };
    Object.defineProperty(closed, name, { get });
  }
  const DB = new Proxy(env.DB, {
    get: () => () => {
      throw new Error('D1_ERROR: Network connection lost.');
    },
  });
  withoutDatabase = appOf({ ...closed, DB });
  app = appOf(closed);
  broken = createApp(failing);
});
afterAll(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const call = (to: App, path: string, { headers, ...init }: Call = {}) =>
  to.request(
    path,
    {
      ...init,
      headers: { authorization: `Bearer ${String(Reflect.get(closed, 'OPS_SECRET'))}`, ...headers },
    },
    closed,
  );
type Call = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };

/** No page may read the responses of the operator's route. */
const readersOf = (path: string): string | null => (path === '/api/ops' ? null : '*');

async function problem(response: Response): Promise<Record<string, unknown>> {
  expect(response.headers.get('content-type')).toBe('application/json');
  return (await response.json()) as Record<string, unknown>;
}

async function expectProblem(path: string, response: Response, code?: string): Promise<void> {
  const body = await problem(response);
  const id = response.headers.get('x-request-id');
  expect(id).toBeTruthy();
  expect(body).toMatchObject({
    error_code: code ?? expect.stringMatching(/^[A-Z][A-Z0-9_]+$/),
    error: expect.stringMatching(/\S/),
    action: expect.stringMatching(/^[a-z_]+$/),
    request_id: id,
    retryable: expect.any(Boolean),
  });
  const optional = ['retry_after_s', 'details'];
  const names = Object.keys(body).filter((name) => !optional.includes(name));
  // Where the contract has a failure body of its own, with `ok`, these are members of it.
  if (!('ok' in body)) expect(names).toEqual(['error_code', 'error', 'action', 'request_id', 'retryable']);
  const wait = response.headers.get('retry-after');
  expect(body.retry_after_s ?? null).toBe(wait === null ? null : Number(wait));
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('access-control-allow-origin')).toBe(readersOf(path));
  const exposed = response.headers.get('access-control-expose-headers');
  expect(exposed?.includes('Retry-After,X-Request-Id') ?? null).toBe(readersOf(path) && true);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
}

describe.each(named)('%s', (_name, { path, init }) => {
  it('returns 500 without details for an unexpected failure', async () => {
    const response = await call(broken, path, init);
    expect(response.status).toBe(500);
    const text = await response.clone().text();
    await expectProblem(path, response, 'INTERNAL');
    for (const hidden of [SECRET_DETAIL, 'hunter2', 'Error', 'src/', '.ts', 'at '])
      expect(text).not.toContain(hidden);
  });

  it('returns the error body with CORS and without secrets while every upstream is down', async () => {
    const response = await call(app, path, init);
    const text = await response.clone().text();
    expect(keyReads).toEqual([]);
    for (const hidden of [CANARY, SECRET_DETAIL, CLOSED]) expect(text).not.toContain(hidden);
    expect(response.headers.get('access-control-allow-origin')).toBe(readersOf(path));
    // A readiness probe answers 503 with its checks: that is its own body.
    if (response.status >= 400 && !path.endsWith('/ready')) await expectProblem(path, response);
    else expect(response.headers.get('x-request-id')).toBeTruthy();
  });

  it('returns a specific error code while the database does not respond', async () => {
    const response = await call(withoutDatabase, path, init);
    const text = await response.clone().text();
    expect(text).not.toContain('D1_ERROR');
    if (response.status < 400 || path.endsWith('/ready')) return;
    await expectProblem(path, response);
    expect(JSON.parse(text)).not.toMatchObject({ error_code: 'INTERNAL' });
  });

  it("returns the caller's request id, or a new id if the caller's is missing or unfit for a log", async () => {
    const given = await call(app, path, {
      ...init,
      headers: { ...init.headers, 'x-request-id': 'abc-123=' },
    });
    expect(given.headers.get('x-request-id')).toBe('abc-123=');
    for (const unfit of ['a b', '"quoted"', 'x'.repeat(300)]) {
      const made = await call(app, path, { ...init, headers: { ...init.headers, 'x-request-id': unfit } });
      expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe.each(gets)('HEAD of %s', (_name, { path }) => {
  it('a HEAD has the headers of its GET and no body', async () => {
    const headers = { 'x-request-id': 'same' };
    const get = await call(app, path, { headers });
    const head = await call(app, path, { method: 'HEAD', headers });
    expect(head.status).toBe(get.status);
    expect(await head.text()).toBe('');
    const shown = ({ headers: all }: Response) =>
      [...all].filter(([name]) => !['etag', 'content-length'].includes(name)).sort();
    expect(shown(head)).toEqual(shown(get));
    expect(head.headers.has('etag')).toBe(get.headers.has('etag'));
  });
});

describe.each(paths.filter(([, path]) => readersOf(path) !== null))('%s', (_route, path, methods) => {
  it('a preflight returns 204 with the allowed methods and headers', async () => {
    const response = await call(app, path, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://elsewhere.test',
        'access-control-request-method': methods[0] ?? 'GET',
        'access-control-request-headers': SENT_BY_PAGES.join(','),
      },
    });
    expect(response.status).toBe(204);
    expect(await response.text()).toBe('');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const offered = (response.headers.get('access-control-allow-methods') ?? '').split(',');
    for (const method of methods) expect(offered).toContain(method);
    expect(namesIn(response, 'access-control-allow-headers')).toEqual(expect.arrayContaining(SENT_BY_PAGES));
    expect(Number(response.headers.get('access-control-max-age'))).toBeGreaterThan(0);
  });

  it('lets a page of another origin read every header of its responses', async () => {
    const response = await call(app, path, { headers: { origin: 'https://elsewhere.test' } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(namesIn(response, 'access-control-expose-headers')).toEqual(expect.arrayContaining(READ_BY_PAGES));
  });
});

it('no page of another origin may call or read the route of the operator', async () => {
  const headers = { origin: 'https://elsewhere.test', 'access-control-request-method': 'POST' };
  const response = await call(app, '/api/ops', { method: 'OPTIONS', headers });
  expect(response.status).toBe(405);
  expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
});

describe.each(paths)('%s', (_route, path, methods) => {
  const allowed = [
    ...methods,
    ...(methods.includes('GET') ? ['HEAD'] : []),
    ...(readersOf(path) ? ['OPTIONS'] : []),
  ].sort();

  it('a method that the path does not have returns 405 with the allowed methods', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
      if (methods.includes(method)) continue;
      const response = await call(app, path, { method });
      expect(response.status).toBe(405);
      expect((response.headers.get('allow') ?? '').split(', ').sort()).toEqual(allowed);
      await expectProblem(path, response, 'METHOD_NOT_ALLOWED');
    }
  });
});

describe.each(posts)('the body of %s', (_name, { path }) => {
  const post = (body: BodyInit | null, headers: Record<string, string> = {}) =>
    call(app, path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  const large = `{"pad":"${'x'.repeat(LIMIT_BYTES)}"}`;
  const chunks = (text: string) =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < text.length; at += 1_000)
          controller.enqueue(new TextEncoder().encode(text.slice(at, at + 1_000)));
        controller.close();
      },
    });

  it('refuses a body over 16 KiB with 413, whether its length is announced, missing or false', async () => {
    await expectProblem(path, await post(large), 'BODY_TOO_LARGE');
    expect((await post(large)).status).toBe(413);
    const streamed = await post(chunks(large));
    expect(streamed.status).toBe(413);
    await expectProblem(path, streamed, 'BODY_TOO_LARGE');
    const understated = await post(chunks(large), { 'content-length': '10' });
    expect(understated.status).toBe(413);
    const overstated = await post('{}', { 'content-length': String(LIMIT_BYTES + 1) });
    expect(overstated.status).toBe(413);
  });

  it('refuses a body with 400 unless it is a JSON object', async () => {
    for (const [body, code] of [
      ['{"a":', 'INVALID_JSON'],
      ['', 'INVALID_JSON'],
      [new Uint8Array([0x7b, 0xff, 0x7d]), 'INVALID_JSON'],
      ['['.repeat(8_000) + ']'.repeat(8_000), 'INVALID_JSON'],
      ['[]', 'INVALID_INPUT'],
      ['null', 'INVALID_INPUT'],
      ['1', 'INVALID_INPUT'],
    ] as const) {
      const response = await post(body);
      expect([body, response.status]).toEqual([body, 400]);
      await expectProblem(path, response, code);
    }
  });

  it('reads a body that fetch or sendBeacon sends as text/plain like one that is sent as JSON', async () => {
    const statuses = async (type: string) => (await post('{"a":', { 'content-type': type })).status;
    expect(await statuses('text/plain;charset=UTF-8')).toBe(await statuses('application/json'));
    const response = await post('{"a":', { 'content-type': 'text/plain;charset=UTF-8' });
    await expectProblem(path, response, 'INVALID_JSON');
  });

  it.each(['gzip', 'br', 'x-unknown', 'gzip, identity'])(
    'refuses a body with Content-Encoding %s with 415',
    async (encoding) => {
      const zipped = new Blob(['{}']).stream().pipeThrough(new CompressionStream('gzip'));
      for (const body of ['{}', await new Response(zipped).arrayBuffer()]) {
        const response = await post(body, { 'content-encoding': encoding });
        expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'identity']);
        await expectProblem(path, response, 'UNSUPPORTED_CONTENT_ENCODING');
      }
    },
  );

  it('refuses a body of any other content type with 400', async () => {
    for (const type of [
      'text/html',
      'text/plainly',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'image/png',
    ]) {
      const response = await post('{}', { 'content-type': type });
      expect(response.status).toBe(400);
      await expectProblem(path, response, 'UNSUPPORTED_CONTENT_TYPE');
    }
  });
});

it.each([
  ['none of them is set', undefined],
  ['all of them are invalid', '☠ no such value'],
  ['all of them are empty', ''],
])('no value of the variables stops the Worker: %s', async (_what, value) => {
  const names = Object.keys(readConfig({})).filter((name) => /^[A-Z_]+$/.test(name));
  expect(names.length).toBeGreaterThan(30);
  const unset = Object.fromEntries(names.map((name) => [name, value]));
  const NOSTR_RELAYS: unknown = Reflect.get(closed, 'NOSTR_RELAYS');
  const bare = appOf({ ...env, CUSTODIAN: closed.CUSTODIAN, NOSTR_RELAYS, ...unset } as Env);
  expect((await call(bare, '/api/health')).status).toBe(200);
  expect((await call(bare, '/api/ready')).status).toBe(503);
  for (const { path, init } of routes) {
    const response = await call(bare, path, init);
    if (response.status < 400 || path.endsWith('/ready')) continue;
    const body = await problem(response);
    expect([path, body.error_code]).not.toEqual([path, 'INTERNAL']);
  }
});

it('treats a statement that SQLite refuses as an internal error, not as an outage', async () => {
  const DB = new Proxy(env.DB, {
    get: () => () => {
      throw new Error('D1_ERROR: no such column: sigature: SQLITE_ERROR');
    },
  });
  const mistaken = appOf({ ...closed, DB });
  const path = '/api/exchanges/transactions';
  const response = await call(mistaken, path);
  expect(response.status).toBe(500);
  await expectProblem(path, response, 'INTERNAL');
});

it('returns 404 with the error body for an unknown path and every method', async () => {
  for (const path of [
    '/api',
    '/api/',
    '/api/nope',
    '/api/swap',
    '/api/swap/create/',
    '/api/%00',
    '/api/../api/no',
  ]) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const response = await call(app, path, { method });
      expect([path, response.status]).toEqual([path, 404]);
      await expectProblem(path, response, 'ROUTE_NOT_FOUND');
    }
    const head = await call(app, path, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([404, '']);
  }
});
