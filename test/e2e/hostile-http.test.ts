/** @module-tag deep */
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { useWorld } from '../world/use-world.ts';
import { SHAPES } from './hostile-shapes.ts';
import { routeRequests } from './route-requests.ts';
import { createSwapCaller } from './swap-caller.ts';

const world = useWorld({ cron: false });

/** A socket to the Worker itself, because the world's edge would correct some of these requests. */
function open(): Socket {
  const { hostname, port } = new URL(world.worker.url() ?? '');
  // Writing to a socket that has already responded causes EPIPE.
  return connect(Number(port), hostname).on('error', () => undefined);
}

async function whole(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

function ask(bytes: Buffer | string): Promise<string> {
  const socket = open();
  socket.write(bytes);
  return whole(socket);
}

const askFor = (target: string, ...headers: string[]): Promise<string> =>
  ask([`GET ${target} HTTP/1.1`, 'host: sluice.test', 'connection: close', ...headers, '', ''].join('\r\n'));

/** Status, and the error code where there is one. */
function statusOf(answer: string): string {
  const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'no answer';
  const code = /"error_code":"(\w+)"/.exec(answer)?.[1];
  return code === undefined ? status : `${status} ${code}`;
}

const header = (answer: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)\\r$`, 'im').exec(answer.split('\r\n\r\n')[0] ?? '')?.[1];

describe('hostile requests', () => {
  it.each(SHAPES)('$name gets the response $answer', async ({ bytes, answer }) => {
    const given = await ask(bytes);
    expect(statusOf(given)).toBe(answer);
    expect(given).not.toMatch(/\bat \w+ \(|\.ts:\d|hunter2/);
  });

  it('requests of any shape never cause an internal error', () => {
    expect(world.worker.logs().filter((line) => line.includes('"unexpected"'))).toEqual([]);
  });
});

it.each([
  '//evil.test/',
  '///evil.test//',
  '/\\evil.test',
  '/\\/evil.test/',
  '/%2f%2fevil.test',
  '/%5cevil.test',
  '/.//evil.test',
  '/reserves/../..//evil.test',
  '/evil.test%0d%0aset-cookie:a=b/',
])('a redirect of the path %s stays on this host', async (path) => {
  const answer = await askFor(path);
  const location = header(answer, 'location');
  if (location !== undefined) expect(location).toMatch(/^\/(?![/\\])/);
  expect(header(answer, 'set-cookie')).toBeUndefined();
});

describe('a cache in front of the service', () => {
  const gets = routeRequests().filter(({ method }) => method === 'GET');
  const poison = [
    'x-forwarded-host: evil.test',
    'x-forwarded-server: evil.test',
    'x-host: evil.test',
    'forwarded: host=evil.test;proto=gopher',
    'x-forwarded-proto: gopher',
    'x-forwarded-scheme: gopher',
    'x-original-url: /evil.test',
    'x-rewrite-url: /evil.test',
    'origin: https://evil.test',
    'referer: https://evil.test/',
    'accept-language: evil.test',
  ];

  it.each(gets.map(({ path }) => [path] as const))(
    'the response to GET %s contains no value of a hostile request header',
    async (path) => {
      const host = ['host: evil.test', 'connection: close'];
      const answer = await ask([`GET ${path} HTTP/1.1`, ...host, ...poison, '', ''].join('\r\n'));
      expect(answer).not.toMatch(/evil|gopher/);
      const plain = await askFor(path);
      expect(statusOf(answer)).toBe(statusOf(plain));
      expect(header(answer, 'access-control-allow-origin')).toBe('*');
      // A response that depends on no request header needs no Vary; one that must not be shared is not public.
      if (!statusOf(answer).startsWith('2') && !statusOf(answer).startsWith('3'))
        expect(header(answer, 'cache-control')).toBe('no-store');
    },
  );

  it.each(gets.map(({ path }) => [path.replace(/\?.*/, '')] as const))(
    'GET %s with the suffix of a file name is never cached as a file',
    async (path) => {
      for (const suffix of ['/x.css', '%2fx.css', '%0ax.css', ';x.css', '%3fx.css']) {
        const answer = await askFor(`${path}${suffix}`);
        const cached = header(answer, 'cache-control') ?? '';
        expect([suffix, statusOf(answer).startsWith('2') ? cached : 'no-store']).toEqual([
          suffix,
          'no-store',
        ]);
      }
    },
  );

  it('a cache in front of the service never stores the response to a POST', async () => {
    for (const { path, init } of routeRequests().filter(({ method }) => method === 'POST')) {
      const answer = await world.fetch(path, init);
      await answer.text();
      expect([path, answer.headers.get('cache-control')]).toEqual([path, 'no-store']);
    }
  });
});

it('a page view is counted even if another caller disconnects', async () => {
  const view = (path: string, ip: string, signal?: AbortSignal) =>
    world.fetch('/api/analytics/pageview', {
      ...{ method: 'POST', ip, headers: { 'content-type': 'application/json' } },
      ...{ body: JSON.stringify({ path }), ...(signal && { signal }) },
    });
  const leaving = Array.from({ length: 20 }, (_, n) => {
    const gone = new AbortController();
    const sent = view('/gone', `198.51.101.${n}`, gone.signal).catch(() => undefined);
    setTimeout(() => gone.abort(), n);
    return sent;
  });
  const staying = Array.from({ length: 60 }, (_, n) => view('/stays', `198.51.102.${n}`));
  expect(new Set((await Promise.all(staying)).map(({ status }) => status))).toEqual(new Set([204]));
  await Promise.all(leaving);
  const rows = await world.worker.pageViews("SELECT count(*) AS views FROM views WHERE path = '/stays'");
  const { by_path } = (await createSwapCaller(world).get('/api/analytics/stats')).body;
  expect([rows, by_path]).toEqual([[{ views: 60 }], expect.arrayContaining([{ path: '/stays', count: 60 }])]);
});
