import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { routeRequests } from '../e2e/route-requests.ts';

const app = createApp(apiDeps);
const lines: string[] = [];
/** Without relays no WebSocket is opened. A copy has memory of its own. */
const bindings = (): Env => ({ ...env, NOSTR_RELAYS: 'none' }) as unknown as Env;
const broken = (): Env => ({ ...bindings(), DB: undefined, CUSTODIAN: undefined }) as unknown as Env;

beforeEach(() => {
  lines.length = 0;
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

it('logs every failed request, and one of a hundred successes and caller mistakes', async () => {
  const chance = vi.spyOn(Math, 'random').mockReturnValue(0.01);
  await app.request('/api/health', {}, bindings());
  expect(lines).toEqual([]);
  await app.request('/api/nothing', {}, bindings());
  await app.request('/api/asry/epoch', {}, broken());
  chance.mockReturnValue(0.009);
  await app.request('/api/health', {}, bindings());
  await app.request('/api/nothing', {}, bindings());
  const written = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(written.filter(({ route }) => route)).toMatchObject([
    { level: 'error', status: expect.any(Number) },
    { level: 'info', status: 200, requests: 100 },
    { level: 'info', status: 404, requests: 100 },
  ]);
});

it.each(['203.0.113.77', '2001:db8:77:1::9'])('keeps the client address %s out of the log', async (ip) => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  vi.stubGlobal('fetch', () => Promise.reject(new Error('no network here')));
  const all = [bindings(), broken()];
  for (const { path, init } of routeRequests())
    for (const one of all)
      await app.request(path, { ...init, headers: { ...init.headers, 'cf-connecting-ip': ip } }, one);
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.filter((line) => line.includes(ip) || line.includes(ip.split('::')[0] ?? ip))).toEqual([]);
});
