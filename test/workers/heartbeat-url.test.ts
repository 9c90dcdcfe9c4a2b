import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { runScheduled } from '../../src/wiring/scheduled.ts';
import { invoke } from '../kit/platform/invocation.ts';
import { createUpstreams, useSettings } from './custodian-upstreams.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const MONITOR = 'https://monitor.test/secret-id';
useSettings({ HEARTBEAT_URL: MONITOR });
const lines: string[] = [];
let calls = 0;
let status = 200;

beforeAll(() => {
  const upstreams = createUpstreams().fetch;
  vi.stubGlobal('fetch', async (...args: Parameters<typeof fetch>) => {
    if (String(args[0]) !== MONITOR) return upstreams(...args);
    calls++;
    return new Response('OK', { status });
  });
  vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)));
});
beforeEach(() => {
  calls = 0;
  status = 200;
  lines.length = 0;
});
afterAll(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const run = (cron: string, change: object = {}) => invoke(() => runScheduled(cron, { ...env, ...change }));

it('a minute cron run that woke the custodian calls the monitor once; a daily run does not', async () => {
  await run('* * * * *');
  await run('5 0 * * *');
  expect(calls).toBe(1);
});

it('a run whose alarms could not be sent does not call the monitor', async () => {
  await run('* * * * *', { ALARM_WEBHOOK_URL: 'https://refuses.test/' });
  expect(lines.filter((line) => line.includes('"task":"alarms"'))).toHaveLength(1);
  expect(calls).toBe(0);
});

it('a run whose wake failed does not call the monitor', async () => {
  const CUSTODIAN = {
    getByName: () => ({
      wake: () => Promise.reject(new Error('down')),
      report: () => Promise.reject(new Error('down')),
    }),
  };
  await run('* * * * *', { CUSTODIAN });
  expect(calls).toBe(0);
});

it('an object that never responds raises an alarm within a minute, and the monitor is not called', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const hangs = () => new Promise<never>(() => undefined);
  const CUSTODIAN = { getByName: () => new Proxy({}, { get: (_object, verb) => verb !== 'then' && hangs }) };
  let isOver = false;
  const ran = run('* * * * *', { CUSTODIAN }).finally(() => {
    isOver = true;
  });
  for (let second = 0; second < 60 && !isOver; second++) await vi.advanceTimersByTimeAsync(1_000);
  vi.useRealTimers();
  await ran;
  expect(calls).toBe(0);
  const alarms = lines.filter((line) => line.includes('"level":"alarm"'));
  expect(alarms.filter((line) => line.includes('status_unreadable'))).toHaveLength(1);
  expect(alarms.filter((line) => line.includes('"task":"wake"'))).toHaveLength(1);
});

it('a monitor that refuses the call is logged without its URL', async () => {
  status = 404;
  await run('* * * * *');
  expect(calls).toBe(1);
  expect(lines.filter((line) => line.includes('heartbeat_url'))).toHaveLength(1);
  expect(lines.join('\n')).not.toContain('secret-id');
});
