import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { scheduledDeps } from '../../src/wiring/scheduled.ts';
import type { DataPoint } from '../../src/wiring/telemetry.ts';

const app = createApp(apiDeps);
const lines: string[] = [];
let points: DataPoint[];

/** Bindings whose dataset stores the written points. */
function recorded(write: (point: DataPoint) => void = (point) => points.push(point)): Env {
  // Without relays no WebSocket is opened.
  const settings = { ORCA_API_URL: 'https://orca.test', NOSTR_RELAYS: 'none' };
  const bindings = { ...env, ...settings, METRICS: { writeDataPoint: write } };
  return bindings as unknown as Env;
}
const of = (metric: string) => points.filter(({ indexes }) => indexes[0] === metric);

beforeEach(() => {
  points = [];
  lines.length = 0;
  // Every successful request is written to the log.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

it('the local binding of the platform takes the points of a request', async () => {
  const METRICS = Reflect.get(env, 'METRICS') as AnalyticsEngineDataset;
  const write = vi.fn((point?: AnalyticsEngineDataPoint) => METRICS.writeDataPoint(point));
  expect((await app.request('/api/health', {}, recorded(write))).status).toBe(200);
  expect(write).toHaveBeenCalledExactlyOnceWith({
    indexes: ['request'],
    blobs: ['/api/health', 'GET', '200', ''],
    doubles: [expect.any(Number)],
  });
  expect(lines.join()).not.toContain('metrics_failed');
});

it('the route is a template of the router, for any path and method', async () => {
  const templates = new Set(app.routes.map(({ path }) => path));
  const paths = [...templates].map((path) =>
    path.replaceAll(/:\w+(\{[^}]*\})?|\*/g, () => crypto.randomUUID()),
  );
  const bindings = recorded();
  vi.stubGlobal('fetch', () => Promise.reject(new Error('no network here')));
  const asked = [
    ...paths,
    '/api/nothing/203.0.113.7',
    '/wp-login.php?ip=203.0.113.7',
    '/api/tokens/a@b.example',
  ];
  for (const path of asked)
    for (const method of ['GET', 'PROPFIND']) await app.request(path, { method }, bindings);
  expect(of('request')).toHaveLength(2 * asked.length);
  for (const { blobs } of of('request')) {
    expect(templates).toContain(blobs[0]);
    expect(['GET', 'other']).toContain(blobs[1]);
  }
  expect(JSON.stringify(points)).not.toMatch(/203\.0\.113|wp-login|@b\.example|[0-9a-f]{8}-[0-9a-f]{4}/);
});

it('counts each call of an upstream with its outcome, and logs none', async () => {
  vi.stubGlobal('fetch', async () => new Response('busy', { status: 503 }));
  const address = 'HJPjoWUrhoZzkNfRpHuieeFk9WcZWjwy6PBjZ81ngndJ';
  await app.request(`/api/dex/pool/${address}`, {}, recorded());
  expect(of('upstream').map(({ blobs }) => blobs)).toContainEqual(['orca', 'status_5xx']);
  expect(JSON.stringify(points)).not.toContain(address);
  expect(lines.join()).not.toContain('upstream_called');
});

it('an alarm of the cron is counted', async () => {
  const { log } = await scheduledDeps(recorded());
  log({ level: 'alarm', event: 'scheduled_task_failed', task: 'wake', reason: 'timeout' });
  expect(of('alarm')).toEqual([
    { indexes: ['alarm'], blobs: ['scheduled_task_failed', 'logged'], doubles: [] },
  ]);
});

it('a binding that throws costs its points and no request', async () => {
  const bindings = recorded(() => {
    throw new Error('no more data points');
  });
  const answer = await app.request('/api/health', {}, bindings);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toHaveProperty('release');
  expect(lines.some((line) => line.includes('"route":"/api/health"'))).toBe(true);
  expect(lines.some((line) => line.includes('metrics_failed'))).toBe(true);
});

it('without the binding the line is logged and nothing is written', async () => {
  const { METRICS: _METRICS, ...bare } = recorded() as Env & { METRICS?: unknown };
  expect((await app.request('/api/health', {}, bare as Env)).status).toBe(200);
  expect(lines).toHaveLength(1);
  expect(points).toEqual([]);
});

it('logs one of a hundred successful requests, each failed one, and counts all of them', async () => {
  const chance = vi.spyOn(Math, 'random').mockReturnValue(0.01);
  const bindings = recorded();
  await app.request('/api/health', {}, bindings);
  expect(lines).toEqual([]);
  await app.request('/api/nothing', {}, bindings);
  await app.request('/api/asry/epoch', {}, { ...bindings, DB: undefined } as unknown as Env);
  chance.mockReturnValue(0.009);
  await app.request('/api/health', {}, bindings);
  const written = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(written.filter(({ route }) => route)).toMatchObject([
    { level: 'info', status: 404 },
    { level: 'error', status: 503 },
    { level: 'info', status: 200, requests: 100 },
  ]);
  expect(of('request')).toHaveLength(4);
});

it.each(['203.0.113.77', '2001:db8:77:1::9'])('keeps the client address %s out of the log', async (ip) => {
  vi.stubGlobal('fetch', () => Promise.reject(new Error(`no route from ${ip.slice(0, 4)}`)));
  const bindings = recorded();
  const headers = { 'cf-connecting-ip': ip, 'content-type': 'application/json' };
  for (const { method, path } of app.routes.filter(({ path }) => !path.endsWith('*')))
    for (const env of [bindings, { ...bindings, DB: undefined, CUSTODIAN: undefined } as unknown as Env])
      await app.request(
        path.replaceAll(/:\w+(\{[^}]*\})?/g, '1'),
        { method: method === 'ALL' ? 'GET' : method, headers, ...(method === 'POST' ? { body: '{}' } : {}) },
        env,
      );
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.filter((line) => line.includes(ip) || line.includes(ip.split('::')[0] ?? ip))).toEqual([]);
});
