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

const posts = routeRequests().filter(({ method }) => method === 'POST');
const LIMIT_BYTES = 16 * 1024;

/** Bytes over a socket of their own: a client library would not send what these tests send. */
async function raw(lines: readonly string[], body: string): Promise<string> {
  const { hostname, port } = new URL(world.url);
  const socket = connect(Number(port), hostname);
  socket.write(`${[...lines, `host: ${hostname}`, 'connection: close'].join('\r\n')}\r\n\r\n${body}`);
  return text(socket);
}

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
