import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../world/world.ts';
import { routeRequests } from './route-requests.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ cron: false });
});
afterAll(() => world.stop());

const routes = routeRequests();
const gets = routes.filter(({ method }) => method === 'GET');
const posts = routes.filter(({ method }) => method === 'POST');
/** Headers of the transfer, or of a single response. */
const OF_THE_TRANSFER = [
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'date',
  'x-request-id',
  // A read that memory answers counts against no limit.
  'ratelimit',
  'ratelimit-policy',
];
const LIMIT_BYTES = 16 * 1024;

/** Bytes over a socket of their own: a client library would not send what these tests send. */
async function raw(lines: readonly string[], body: string): Promise<string> {
  const { hostname, port } = new URL(world.url);
  const socket = connect(Number(port), hostname);
  socket.write(`${[...lines, `host: ${hostname}`, 'connection: close'].join('\r\n')}\r\n\r\n${body}`);
  return text(socket);
}

describe.each(gets.map((request) => [request.route, request.path] as const))('GET %s', (_route, path) => {
  it('HEAD returns the headers of GET without a body, and a known ETag gets 304', async () => {
    const get = await world.fetch(path, { redirect: 'manual' });
    await get.text();
    const head = await world.fetch(path, { method: 'HEAD', redirect: 'manual' });
    expect(head.status).toBe(get.status);
    expect(await head.text()).toBe('');
    const names = (response: Response): string[] =>
      [...response.headers.keys()].filter((name) => !OF_THE_TRANSFER.includes(name)).sort();
    expect(names(head)).toEqual(names(get));
    expect(get.status).toBeLessThan(500);

    const etag = get.headers.get('etag');
    if (get.status !== 200 || etag === null || head.headers.get('etag') !== etag) return;
    const again = await world.fetch(path, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });
});

describe.each(posts.map(({ route }) => [route] as const))('the body of POST %s', (route) => {
  const line = `POST ${route} HTTP/1.1`;
  const json = 'content-type: application/json';

  it('refuses a body over 16 KiB before all of it has arrived, also in chunks', async () => {
    const large = 'x'.repeat(LIMIT_BYTES + 1);
    const chunked = `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`;
    expect(await raw([line, json, 'transfer-encoding: chunked'], chunked)).toMatch(/^HTTP\/1\.1 413 /);
    expect(await raw([line, json, `content-length: ${large.length}`], large)).toMatch(/^HTTP\/1\.1 413 /);
    const announced = await raw([line, json, 'content-length: 999999999'], '{');
    expect(announced).toMatch(/^HTTP\/1\.1 413 /);
    expect(announced).toContain('"error_code":"BODY_TOO_LARGE"');
    expect(announced.toLowerCase()).toContain('access-control-allow-origin: *');
  });
});
