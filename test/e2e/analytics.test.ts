import { execFile } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dumpPageViews } from '../../scripts/backup/page-views.ts';
import { startWorld, type World } from '../world/world.ts';

const run = promisify(execFile);
let world: World;
beforeAll(async () => {
  world = await startWorld({ cron: false, blockMs: 0 });
});
afterAll(() => world?.stop());

const view = (body: unknown, ip: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  world.fetch('/api/analytics/pageview', {
    method: 'POST',
    ip,
    ...(signal ? { signal } : {}),
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

type Stats = { totals: { pageviews: number }; by_path: { path: string; count: number }[] };
const stats = async (of = world) => (await (await of.fetch('/api/analytics/stats')).json()) as Stats;
const logged = async () => {
  const [row] = (await world.worker.pageViews('SELECT count(*) AS n FROM views')) as { n: number }[];
  return row?.n ?? 0;
};

it('callers that wait get their response even if another waiting caller disconnects', async () => {
  const before = await logged();
  const leaving = Array.from({ length: 20 }, (_, n) => {
    const gone = new AbortController();
    const sent = view({ path: '/gone' }, `198.51.101.${n}`, {}, gone.signal).catch(() => undefined);
    setTimeout(() => gone.abort(), n);
    return sent;
  });
  const staying = Array.from({ length: 60 }, (_, n) => view({ path: '/stays' }, `198.51.102.${n}`));
  expect(new Set((await Promise.all(staying)).map(({ status }) => status))).toEqual(new Set([204]));
  await Promise.all(leaving);
  expect((await view({ path: '/stays' }, '198.51.102.200')).status).toBe(204);
  const { by_path } = await stats();
  expect(by_path.find(({ path }) => path === '/stays')?.count).toBe(61);
  expect(await logged()).toBeGreaterThanOrEqual(before + 61);
});

const SPOOFS = [
  'cf-connecting-ip',
  'x-forwarded-for',
  'x-real-ip',
  'true-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-originating-ip',
  'x-remote-ip',
  'x-remote-addr',
  'x-forwarded',
  'x-forwarded-host',
  'x-original-forwarded-for',
  'x-envoy-external-address',
  'forwarded',
  'forwarded-for',
  'fastly-client-ip',
  'fly-client-ip',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'client-ip',
  'via',
  'user-agent',
  'origin',
] as const;

const LIMITED = '203.0.113.50';
const spoofed = (name: string, value: string) => view({ path: '/spoof' }, LIMITED, { [name]: value });

/** Sends plain views until one is refused. The window is a clock minute, so a new minute allows 600 more. */
async function reachLimit(): Promise<Response | undefined> {
  for (let sent = 0; sent <= 1_200; sent += 40) {
    const more = Array.from({ length: 40 }, () => view({ path: '/spoof' }, LIMITED));
    const refused = (await Promise.all(more)).find(({ status }) => status === 429);
    if (refused) return refused;
  }
  return undefined;
}

it('an address over the rate limit stays refused, whatever headers it sends, and no other address is refused', async () => {
  let passed: string[] = [...SPOOFS];
  // Retried only if a new minute began in between: a request that passes three times passes because of its
  // header.
  for (let attempt = 0; attempt < 3 && passed.length > 0; attempt++) {
    const refused = await reachLimit();
    expect(refused?.headers.get('retry-after')).toBe('60');
    expect(await refused?.json()).toMatchObject({ error_code: 'RATE_LIMITED', retryable: true });
    const answers = await Promise.all(
      SPOOFS.map(async (name) => ({ name, status: (await spoofed(name, '198.51.100.7')).status })),
    );
    passed = answers.filter(({ status }) => status !== 429).map(({ name }) => name);
  }
  expect(passed).toEqual([]);
  const [row] = (await world.worker.pageViews("SELECT count(*) AS n FROM views WHERE path = '/spoof'")) as {
    n: number;
  }[];
  expect(row?.n).toBeGreaterThanOrEqual(600);
  expect((await view({ path: '/spoof' }, '203.0.113.51')).status).toBe(204);
  const ips = await world.worker.pageViews("SELECT DISTINCT ip FROM views WHERE path = '/spoof' ORDER BY ip");
  expect(ips).toEqual([{ ip: LIMITED }, { ip: '203.0.113.51' }]);
});

it('the beacon of the site counts a view through the service', async () => {
  const script = readFileSync(join(import.meta.dirname, '../../site/public/beacon.js'), 'utf8');
  const requests: Promise<Response>[] = [];
  runInNewContext(script, {
    navigator: {},
    location: { pathname: '/from-the-beacon' },
    document: { referrer: 'https://example.com/post?utm=1' },
    fetch: (path: string, init: RequestInit) => {
      const request = world.fetch(path, init);
      requests.push(request);
      return request;
    },
  });
  const [answer] = await Promise.all(requests);
  expect(answer?.status).toBe(204);
  expect((await stats()).by_path).toContainEqual({ path: '/from-the-beacon', count: 1 });
});

it('no raw address is public or in a log line', async () => {
  await view({ path: '/private' }, '203.0.113.77');
  const body = await (await world.fetch('/api/analytics/stats')).text();
  expect(body).toContain('203.0.113.0/24');
  expect(body).not.toContain('203.0.113.77');
  expect(world.worker.logs().join('\n')).not.toContain('203.0.113.77');
});

it('restores the statistics of a backup in another service', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-page-views-'));
  const file = join(folder, 'backup.sql.page-views');
  const service = (of: World) => ({ url: of.url, secret: String(of.bindings.OPS_SECRET) });
  await dumpPageViews(service(world), (lines) => appendFileSync(file, lines));
  const other = await startWorld({ cron: false, blockMs: 0 });
  try {
    await run(process.execPath, ['scripts/backup.ts', '--restore', file], {
      env: { ...process.env, API_BASE_URL: other.url, OPS_SECRET: other.bindings.OPS_SECRET },
    });
    const [expected, found] = [await stats(), await stats(other)];
    expect({ ...found, as_of: null }).toEqual({ ...expected, as_of: null });
    expect(expected.totals.pageviews).toBeGreaterThan(600);
  } finally {
    await other.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
