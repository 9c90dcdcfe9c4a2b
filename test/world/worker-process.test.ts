/** @module-tag deep */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWorkerProcess, type WorkerProcess } from './worker-process.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** A Worker with the bindings of the real one, whose Durable Object counts and sets an alarm. */
const SOURCE = `
import { DurableObject } from 'cloudflare:workers';
export class Custodian extends DurableObject {
  async add() {
    const count = ((await this.ctx.storage.get('count')) ?? 0) + 1;
    await this.ctx.storage.put('count', count);
    return count;
  }
  async wake(ms) { await this.ctx.storage.setAlarm(Date.now() + ms); }
  async alarm() { await this.ctx.storage.put('woken', true); }
  async woken() { return (await this.ctx.storage.get('woken')) ?? false; }
}
export default {
  async fetch(request, env) {
    const object = env.CUSTODIAN.getByName('main');
    const { pathname } = new URL(request.url);
    if (pathname === '/api/add') return Response.json(await object.add());
    if (pathname === '/api/wake') return Response.json((await object.wake(1000)) ?? null);
    if (pathname === '/api/woken') return Response.json(await object.woken());
    if (pathname === '/api/kv') {
      if (request.method === 'PUT') await env.KV.put('key', await request.text());
      return Response.json(await env.KV.get('key'));
    }
    console.log('a line');
    return Response.json({ binding: env.GREETING, ip: request.headers.get('cf-connecting-ip') });
  },
};
`;

let folder: string;
let worker: WorkerProcess;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-worker-'));
  writeFileSync(join(folder, 'worker.js'), SOURCE);
  worker = createWorkerProcess(
    {
      configPath: join(ROOT, 'wrangler.toml'),
      schemaPath: join(folder, 'no-schema.sql'),
      bundlePath: join(folder, 'worker.js'),
      storagePath: join(folder, 'storage'),
      tempPath: folder,
      bindings: { GREETING: 'hello' },
    },
    () => undefined,
  );
  await worker.start();
});
afterEach(async () => {
  await worker.stop();
  rmSync(folder, { recursive: true });
});

const ask = async (path: string, init?: RequestInit): Promise<unknown> =>
  (await fetch(`${worker.url()}${path}`, init)).json();

describe('the process of the Worker', () => {
  test("passes bindings and the caller's address through, and keeps the log", async () => {
    const headers = { 'cf-connecting-ip': '203.0.113.7' };
    expect(await ask('/api/hello', { headers })).toEqual({ binding: 'hello', ip: '203.0.113.7' });
    while (!worker.logs().includes('a line')) await sleep(10);
  });

  test('keeps Durable Object storage, KV and a set alarm over a SIGKILL', async () => {
    expect(await ask('/api/add')).toBe(1);
    await ask('/api/kv', { method: 'PUT', body: 'kept' });
    await ask('/api/wake');
    await worker.kill();
    expect(worker.url()).toBeNull();
    await worker.start();
    expect(await ask('/api/add')).toBe(2);
    expect(await ask('/api/kv')).toBe('kept');
    while ((await ask('/api/woken')) !== true) await sleep(50);
  });
});
