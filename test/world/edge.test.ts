import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Edge, startEdge } from './edge.ts';
import { listen } from './fault-gate.ts';

let behind: { port: number; stop(): Promise<void> };
let server: Server;
let edge: Edge;
let up: boolean;
let aborted: Promise<void>;

beforeEach(async () => {
  let abort: () => void = () => undefined;
  aborted = new Promise((resolve) => {
    abort = resolve;
  });
  server = createServer((request, response) => {
    if (request.url === '/slow') return void response.on('close', abort).write('begun');
    response.setHeader('x-method', request.method ?? '');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.headers));
  });
  behind = await listen(server);
  up = true;
  edge = await startEdge({ port: 0, target: () => (up ? `http://127.0.0.1:${behind.port}` : null) });
});
afterEach(async () => {
  await edge.stop();
  await behind.stop();
});

const headersSeen = async (headers: Record<string, string>): Promise<IncomingHttpHeaders> =>
  (await (await fetch(edge.url, { headers })).json()) as IncomingHttpHeaders;

describe("the world's edge", () => {
  test("only the edge determines the caller's address", async () => {
    const seen = await headersSeen({ 'cf-connecting-ip': '198.51.100.1' });
    expect(seen['cf-connecting-ip']).toBe('127.0.0.1');
    const named = await headersSeen({ 'x-world-client-ip': '203.0.113.9' });
    expect(named['cf-connecting-ip']).toBe('203.0.113.9');
    expect(named['x-world-client-ip']).toBeUndefined();
  });

  test('passes on the method, the host and the body of a HEAD unchanged', async () => {
    const head = await fetch(edge.url, { method: 'HEAD' });
    expect([head.headers.get('x-method'), await head.text()]).toEqual(['HEAD', '']);
    expect((await headersSeen({})).host).toBe(`127.0.0.1:${edge.port}`);
  });

  test('the edge streams, and notifies the Worker when the caller has disconnected', async () => {
    const caller = new AbortController();
    const response = await fetch(`${edge.url}/slow`, { signal: caller.signal });
    const first = await response.body?.getReader().read();
    expect(new TextDecoder().decode(first?.value)).toBe('begun');
    caller.abort();
    await aborted;
  });

  test('answers 502 while the Worker is down or ends during the call', async () => {
    up = false;
    expect((await fetch(edge.url)).status).toBe(502);
    up = true;
    server.removeAllListeners('request');
    server.on('request', (request) => request.socket.destroy());
    expect((await fetch(edge.url)).status).toBe(502);
  });
});
