/** @module-tag deep */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../world/world.ts';
import { SHAPES } from './hostile-shapes.ts';
import { routeRequests } from './route-requests.ts';
import { createSwapCaller } from './swap-caller.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ cron: false });
});
afterAll(() => world?.stop());

const VIEW = '/api/analytics/pageview';
const GOOD = '{"path":"/slow"}';

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

describe('the stated answer to', () => {
  it.each(SHAPES)('responds to $name with $answer', async ({ bytes, answer }) => {
    const given = await ask(bytes);
    expect(statusOf(given)).toBe(answer);
    expect(given).not.toMatch(/\bat \w+ \(|\.ts:\d|hunter2/);
  });

  it('at least 40 request shapes are tested, and none causes an internal error', () => {
    expect(SHAPES.length).toBeGreaterThanOrEqual(40);
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
])('the redirect of %s stays on this host', async (path) => {
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

it('no spoofed address header changes the client to which the limits apply', async () => {
  const spoofs = [
    'X-Forwarded-For',
    'X-Real-IP',
    'True-Client-IP',
    'CF-Connecting-IP',
    'Forwarded',
    'Client-IP',
  ];
  const codes: unknown[] = [];
  for (let index = 0; index < 12; index += 1) {
    const claimed = `198.51.100.${index}`;
    const named = Object.fromEntries(spoofs.map((name) => [name, claimed]));
    const answer = await world.fetch('/api/invoices', {
      ip: '203.0.113.9',
      method: 'POST',
      headers: { 'content-type': 'application/json', ...named },
      body: JSON.stringify({
        name: 'Spoof',
        symbol: 'SPF',
        decimals: 0,
        supply: '1',
        creator_address: world.users[0]?.address,
      }),
    });
    codes.push(((await answer.json()) as { error_code?: string }).error_code);
  }
  expect(codes).toEqual([...Array(10).fill(undefined), 'TOO_MANY_OPEN_REQUESTS', 'TOO_MANY_OPEN_REQUESTS']);
});

describe('an idempotency key', () => {
  const key = 'attack-0123456789abcdef';

  it('a key moves money once for all callers together, and is neither logged nor stored', async () => {
    const caller = createSwapCaller(world);
    const before = caller.payments().length;
    const first = await caller.create(0.3, { key, ip: '203.0.113.1' });
    expect(first.status).toBe(200);
    const thirdParty = await caller.create(0.3, { key, ip: '203.0.113.2' });
    expect([thirdParty.status, thirdParty.body.id, thirdParty.headers.get('idempotency-replayed')]).toEqual([
      200,
      first.body.id,
      'true',
    ]);
    const other = await caller.create(0.31, { key, ip: '203.0.113.2' });
    expect([other.status, other.body.error_code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    expect(world.worker.logs().join('\n')).not.toContain(key);
    expect(JSON.stringify(await caller.rows())).not.toContain(key);
    await caller.settled(String(first.body.id));
    expect(caller.payments()).toHaveLength(before + 1);
  });

  it('an idempotency key is case-sensitive', async () => {
    const caller = createSwapCaller(world);
    const before = caller.payments().length;
    const answer = await caller.create(0.3, { key: key.toUpperCase(), ip: '203.0.113.3' });
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([200, null]);
    await caller.settled(String(answer.body.id));
    expect(caller.payments()).toHaveLength(before + 1);
  });

  it('new idempotency keys do not evade the limit of an address', async () => {
    const caller = createSwapCaller(world);
    const before = caller.payments().length;
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        caller.create(0.25, { key: `flood-0123456789-${index}`, ip: '203.0.113.4' }),
      ),
    );
    const made = answers.filter(({ status }) => status === 200);
    expect(made.length).toBeLessThanOrEqual(6);
    for (const { body } of made) await caller.settled(String(body.id));
    expect(caller.payments()).toHaveLength(before + made.length);
  });
});

describe('a slow client', () => {
  const head = `POST ${VIEW} HTTP/1.1\r\nhost: sluice.test\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${GOOD.length}\r\n`;
  const alive = async () => expect(statusOf(await askFor('/api/health'))).toBe('200');

  it.each([
    ['in its headers', head.slice(0, 60), `${head.slice(60)}\r\n${GOOD}`],
    ['in its body', `${head}\r\n${GOOD.slice(0, 3)}`, GOOD.slice(3)],
  ])('200 clients that are slow %s delay no other client and get responses', async (_where, begin, rest) => {
    const slow = Array.from({ length: 200 }, open);
    for (const socket of slow) socket.write(begin);
    await sleep(200);
    await alive();
    for (const socket of slow) socket.write(rest);
    const answers = await Promise.all(slow.map(whole));
    expect(new Set(answers.map(statusOf))).toEqual(new Set(['204']));
  });

  it('a client that reads slowly delays no other client', async () => {
    const deaf = Array.from({ length: 100 }, open);
    for (const socket of deaf) {
      socket.pause();
      socket.write('GET /api/openapi.json HTTP/1.1\r\nhost: sluice.test\r\n\r\n'.repeat(5));
    }
    await sleep(200);
    await alive();
    for (const socket of deaf) socket.destroy();
    await alive();
  });

  it('a slow client that disconnects causes no internal error', async () => {
    for (let index = 0; index < 50; index += 1) {
      const socket = open();
      socket.write(`${head}\r\n${GOOD.slice(0, 5)}`, () => socket.destroy());
    }
    await sleep(500);
    await alive();
    expect(world.worker.logs().filter((line) => line.includes('"unexpected"'))).toEqual([]);
  });

  it('a slow client that sends two requests at once gets two responses in order', async () => {
    const both = `${head.replace('connection: close\r\n', '')}\r\n${GOOD}GET /api/health HTTP/1.1\r\nhost: sluice.test\r\nconnection: close\r\n\r\n`;
    expect([...(await ask(both)).matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual([
      '204',
      '200',
    ]);
  });
});
