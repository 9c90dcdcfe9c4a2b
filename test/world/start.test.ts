/** @module-tag deep */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const HOUR_MS = 3_600_000;
const START = join(dirname(fileURLToPath(import.meta.url)), 'start.ts');

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-start-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Started {
  readonly process: ChildProcess;
  readonly lines: string[];
  readonly ready: Promise<void>;
}

function start(env: Record<string, string | undefined> = {}, options: string[] = []): Started {
  const started = spawn(process.execPath, [START, ...options], {
    // npm on an old Node would add a line.
    env: { ...process.env, npm_config_user_agent: '', PORT: '0', TMPDIR: folder, WORLD_DAYS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const ready = new Promise<void>((resolve, reject) => {
    createInterface(started.stdout).on('line', (line) => {
      lines.push(line);
      if (line.startsWith('World control:')) resolve();
    });
    createInterface(started.stderr).on('line', (line) => lines.push(line));
    started.once('exit', () => reject(new Error(lines.join('\n'))));
  });
  ready.catch(() => undefined);
  return { process: started, lines, ready };
}

async function end(started: Started, signal: NodeJS.Signals): Promise<unknown> {
  const gone = once(started.process, 'exit');
  started.process.kill(signal);
  return (await gone)[0];
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'npm start prints the API address and example commands, ends with code 0 on %s, and leaves no file',
  async (signal) => {
    const started = start({ WORLD_FAULTS: 'coinbase:500,oneclick:settle:never' });
    await started.ready;
    const [first = ''] = started.lines;
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(first)?.[0] ?? '';
    expect(started.lines.filter((line) => line.trim().startsWith('curl'))).toHaveLength(3);
    expect(started.lines).toHaveLength(6);
    expect((await fetch(`${url}/api/health`)).status).toBe(200);
    const control = started.lines.at(-1)?.replace('World control: ', '').replace('/info', '');
    expect(await (await fetch(`${control}/faults`)).json()).toEqual({
      coinbase: [{ kind: '500' }],
      oneclick: [{ kind: 'settle', mode: 'never' }],
    });
    expect(await end(started, signal)).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  },
);

test('npm start ends when its parent is killed, and leaves no file', async () => {
  const launch = `require('node:child_process').spawn(process.execPath, [${JSON.stringify(START)}], { stdio: 'inherit' })`;
  const env = { ...process.env, npm_config_user_agent: '', PORT: '0', TMPDIR: folder, WORLD_DAYS: '0' };
  const parent = spawn(process.execPath, ['-e', launch], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const lines: string[] = [];
  const output = createInterface(parent.stdout);
  const closed = once(output, 'close');
  await new Promise<void>((resolve) => {
    output.on('line', (line) => {
      lines.push(line);
      if (line.startsWith('World control:')) resolve();
    });
  });
  parent.kill('SIGKILL');
  // The pipe closes when the world, its last holder, has ended.
  await closed;
  expect(readdirSync(folder)).toEqual([]);
  await expect(fetch(/http:\S+/.exec(lines[0] ?? '')?.[0] ?? '')).rejects.toThrow('fetch failed');
});

test('the day before npm start has a proof of each hour', async () => {
  const started = start({ WORLD_DAYS: '1' });
  await started.ready;
  const url = started.lines.flatMap((line) => /ready.* (http:\S+)$/.exec(line)?.[1] ?? [])[0] ?? '';
  const response = await fetch(new URL('/api/proof/history?limit=100', url));
  const { proofs } = (await response.json()) as { proofs: readonly { timestamp: string }[] };
  const times = proofs.map(({ timestamp }) => Date.parse(timestamp));
  const pauses = times.slice(1).map((time, at) => (times[at] ?? 0) - time);
  expect(pauses.length).toBeGreaterThanOrEqual(24);
  // The cron runs once a minute, and a busy machine is late.
  expect(Math.max(...pauses)).toBeLessThan(1.5 * HOUR_MS);
  await end(started, 'SIGTERM');
});

test('npm start with --watch reloads the Worker after a change during the start', async () => {
  // A separate bundle, because those of the test run are shared by all worlds.
  const started = start({ WORLD_BUNDLES: undefined }, ['--watch']);
  while (readdirSync(folder).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  const now = new Date();
  utimesSync('src/worker.ts', now, now);
  await started.ready;
  while (!started.lines.some((line) => line.startsWith('reloaded at')))
    await new Promise((resolve) => setTimeout(resolve, 50));
  const url = /http:\S+/.exec(started.lines[0] ?? '')?.[0] ?? '';
  expect((await fetch(`${url}/api/health`)).status).toBe(200);
  expect(await end(started, 'SIGTERM')).toBe(0);
});

test('npm start names PORT in one line when the port is in use, and leaves no file', async () => {
  const first = start();
  await first.ready;
  const port = /:(\d+)$/.exec(first.lines[0] ?? '')?.[1] ?? '';
  // A separate bundle, because the bundler may still run when the port is tried.
  const second = start({ PORT: port, WORLD_BUNDLES: undefined });
  await expect(second.ready).rejects.toThrow(`Port ${port} is taken`);
  expect(second.lines).toHaveLength(1);
  await end(first, 'SIGTERM');
  expect(readdirSync(folder)).toEqual([]);
});
