import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createApi } from '../../src/mcp/api-client.ts';
import { createHttpHandler } from '../../src/mcp/http-handler.ts';
import { createRecentResults } from '../../src/mcp/recent-results.ts';
import { createServer } from '../../src/mcp/server.ts';
import { eachScene } from '../kit/scenes.ts';

const ORIGIN = 'https://sluice.test';
const JSON_RPC = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const logged: Readonly<Record<string, unknown>>[] = [];
afterEach(() => {
  logged.length = 0;
});

type Options = { allowedOrigins?: string[]; admit?: (client: string) => Promise<boolean>; broken?: boolean };
function handler({ allowedOrigins = [], admit = async () => true, broken = false }: Options = {}) {
  const api = createApi({
    origin: ORIGIN,
    fetch: async () => Response.json({ ok: true }),
    unreachableRepair: 'Wait.',
  });
  return createHttpHandler({
    publicOrigin: ORIGIN,
    allowedOrigins,
    admit,
    createServer() {
      if (broken) throw new Error('broken');
      return createServer({ api, verifyProof: async () => ({}), recent: createRecentResults(Date.now) });
    },
    log: (line) => logged.push(line),
  });
}

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  new Request(`${ORIGIN}/mcp`, {
    method: 'POST',
    headers: { ...JSON_RPC, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

describe('origins', () => {
  eachScene(`
    no Origin, as programs send        |                                  | 200
    the service's own                  | ${ORIGIN}                        | 200
    a developer's page                 | http://localhost:6274            | 200
    another site                       | https://evil.example             | 403
    the opaque origin                  | null                             | 403
    a name that only begins like ours  | https://sluice.test.evil.example | 403
    a file                             | file:///tmp/page.html            | 403
  `)('returns the right status for an Origin: %s', async (_name, origin = '', status) => {
    const response = await handler()(post(PING, origin === '' ? {} : { origin }));
    expect(String(response.status)).toBe(status);
    expect(response.headers.get('access-control-allow-origin') ?? '').toBe(status === '200' ? origin : '');
    const refused = { jsonrpc: '2.0', error: { code: -32_000 } };
    if (status === '403') expect(await response.json()).toMatchObject(refused);
  });

  it('an operator can allow one more origin, or every origin except "null"', async () => {
    const evil = { origin: 'https://agents.example' };
    expect((await handler({ allowedOrigins: ['agents.example'] })(post(PING, evil))).status).toBe(200);
    expect((await handler({ allowedOrigins: ['*'] })(post(PING, evil))).status).toBe(200);
    expect((await handler({ allowedOrigins: ['*'] })(post(PING, { origin: 'null' }))).status).toBe(403);
  });

  it('a preflight response has the headers that the protocol needs', async () => {
    const request = new Request(`${ORIGIN}/mcp`, { method: 'OPTIONS', headers: { origin: ORIGIN } });
    const response = await handler()(request);
    expect(response.status).toBe(204);
    const allowed = response.headers.get('access-control-allow-headers') ?? '';
    for (const name of ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'Content-Type'])
      expect(allowed).toContain(name);
  });
});

describe('requests', () => {
  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'a client that initializes with protocol %s gets this protocol',
    async (protocolVersion) => {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
      const response = await handler()(post({ jsonrpc: '2.0', id: 1, method: 'initialize', params }));
      expect(await response.text()).toContain(`"protocolVersion":"${protocolVersion}"`);
    },
  );

  it.each(['GET', 'DELETE', 'PUT'])(
    'refuses %s, because the MCP endpoint has no sessions',
    async (method) => {
      const response = await handler()(new Request(`${ORIGIN}/mcp`, { method }));
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    },
  );

  it.each([
    ['not JSON', '{', 400, -32_700],
    ['nothing', '', 400, -32_700],
    ['deep nesting', '['.repeat(30_000) + ']'.repeat(30_000), 400, -32_600],
    ['a body over 64 KiB', JSON.stringify({ ...PING, params: { pad: 'x'.repeat(70_000) } }), 413, -32_000],
    ['a list of messages', JSON.stringify([PING, { ...PING, id: 2 }]), 400, -32_600],
    ['an empty list', '[]', 400, -32_600],
  ])('refuses a malformed MCP request: %s', async (_name, body, status, code) => {
    const response = await handler()(post(body));
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });

  it('any JSON value in place of a message, or in its members, gets a coded protocol error or a result', async () => {
    const member = fc.oneof(
      fc.constantFrom('2.0', 'tools/call', 'initialize', 'swap_create'),
      fc.jsonValue(),
    );
    const params = fc.oneof(member, fc.dictionary(fc.string(), member));
    const shape = { jsonrpc: member, id: member, method: member, params };
    const message = fc.record(shape, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(fc.oneof(message, fc.array(message), fc.jsonValue()), async (body) => {
        const response = await handler()(post(JSON.stringify(body)));
        const text = await response.text();
        expect(response.status).toBeLessThan(500);
        if (response.status >= 400) expect(text).toMatch(/"error":\{"code":-\d+/);
      }),
    );
  });

  it.each([
    ['*/*', 200],
    ['application/json, */*;q=0.1', 200],
    [undefined, 200],
    ['application/json, text/event-stream', 200],
    ['application/json', 406],
    ['text/html', 406],
  ])('a request with Accept %s gets the status %d', async (accept, status) => {
    const request = post(PING);
    if (accept === undefined) request.headers.delete('accept');
    else request.headers.set('accept', accept);
    const response = await handler()(request);
    expect(response.status).toBe(status);
    if (status === 200) expect(await response.text()).toContain('"id":1');
  });

  it('refuses a body that does not have the JSON media type', async () => {
    expect((await handler()(post(PING, { 'content-type': 'text/plain' }))).status).toBe(415);
  });

  it('refuses requests over the limit of their client, but no requests of other clients', async () => {
    const asked: string[] = [];
    const limited = handler({
      admit: async (client) => {
        asked.push(client);
        return client !== '198.51.100.1';
      },
    });
    const refused = await limited(post(PING, { 'cf-connecting-ip': '198.51.100.1', 'x-real-ip': '1.1.1.1' }));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect((await limited(post(PING, { 'cf-connecting-ip': '198.51.100.2' }))).status).toBe(200);
    await limited(post(PING, { 'cf-connecting-ip': '2001:db8:1:2:3::4' }));
    expect(asked).toEqual(['198.51.100.1', '198.51.100.2', '2001:db8:1:2::/64']);
  });

  it('returns an error code without the cause for an unexpected failure', async () => {
    const response = await handler({ broken: true })(post(PING));
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ error: { code: -32_603 } });
    expect(text).not.toContain('broken');
    expect(logged.length).toBeGreaterThan(0);
  });

  it('the MCP server returns 404 for any other path', async () => {
    const response = await handler()(new Request(`${ORIGIN}/mcp/other`, { method: 'POST' }));
    expect(response.status).toBe(404);
  });
});
