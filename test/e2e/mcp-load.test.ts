/** @module-tag deep */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorld, type World } from '../world/world.ts';
import { modernClient, olderClient } from './mcp-clients.ts';
import { until } from './swap-caller.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ slotMs: 200, mcp: true });
});
afterAll(() => world?.stop());

const REQUESTS = 1_000;
const AT_ONCE = 20;
const SEED = 22;
const CLIENTS = 200;

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const method = fc.constantFrom('tools/call', 'tools/list', 'initialize', 'x/y', '');
const junk = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(
    'x'.repeat(70_000),
    '['.repeat(20_000),
    '\u0000',
    '{"__proto__":{"a":1}}',
    '9'.repeat(5_000),
  ),
);

/** Bodies that break one rule or many: of JSON, of JSON-RPC, of MCP, of a tool. */
const body = fc.oneof(
  fc.string(),
  fc.json(),
  junk.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
  fc
    .record(
      {
        jsonrpc: fc.constantFrom('2.0', '1.0', 2, null),
        id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.object()),
        method: fc.oneof(method, fc.jsonValue()),
        params: fc.oneof(
          junk,
          fc.record({
            name: fc.oneof(fc.constantFrom('swap_create', 'swap_status', 'toString'), fc.string()),
            arguments: junk,
          }),
          fc.record({
            _meta: fc.oneof(fc.constant(envelope), fc.object()),
            name: fc.string(),
            uri: fc.webUrl(),
          }),
        ),
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
  fc
    .array(fc.record({ jsonrpc: fc.constant('2.0'), method, id: fc.integer() }), { maxLength: 30 })
    .map((value) => JSON.stringify(value)),
);
const headers = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'text/plain',
      'application/xml',
      'application/json; charset=x',
    ),
    accept: fc.constantFrom('application/json, text/event-stream', '*/*', 'text/html'),
    'mcp-protocol-version': fc.constantFrom('2026-07-28', '2025-06-18', '1999-01-01', 'x'),
    'mcp-method': method.filter((text) => text !== ''),
    'mcp-name': fc.constantFrom('swap_create', '%00', 'x'),
    origin: fc.constantFrom('null', 'https://evil.example', 'http://127.0.0.1'),
    'mcp-session-id': fc.uuid(),
  },
  { requiredKeys: [] },
);
const verb = fc.constantFrom('POST', 'POST', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH');

it('the MCP server serves 200 clients at once, each with its own responses', async () => {
  // Nodes may be slow on a busy machine: the balances are known before the clients come.
  await until('the balances', async () => {
    const response = await world.fetch('/api/reserves');
    return response.ok || undefined;
  });
  const answers = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, at) => {
      const ip = `10.7.0.${at}`;
      const client = await (at % 2 === 0
        ? olderClient(world, 'http', ip)
        : modernClient(world, 'http', 'auto', ip));
      try {
        const { structured: reserves, text: said } = await client.call('get_reserves');
        const { text } = await client.call('swap_status', { id: `swap-${at}` });
        return { reserves, said, code: (JSON.parse(text) as { error_code: string }).error_code };
      } finally {
        await client.close();
      }
    }),
  );
  for (const { reserves, said, code } of answers) {
    expect(code).toBe('NOT_FOUND');
    expect(reserves, said).toMatchObject({ solana: { address: world.reserve.solana } });
  }
});

it('returns protocol errors for 1,000 malformed or oversized requests and keeps working', async () => {
  const requests = fc.sample(fc.tuple(verb, headers, body), { numRuns: REQUESTS, seed: SEED });
  const statuses = new Map<number, number>();
  const wrong: string[] = [];
  let next = 0;
  async function sender(): Promise<void> {
    for (let at = next++; at < requests.length; at = next++) {
      const [verbOf, given, text] = requests[at] ?? ['POST', {}, ''];
      const response = await world.fetch('/mcp', {
        method: verbOf,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...given,
        },
        body: text,
        ip: `10.8.${Math.floor(at / 200)}.${at % 200}`,
      });
      const answer = await response.text();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      const coded = response.status < 400 || /"error":\{"code":-?\d+/.test(answer);
      if (response.status >= 500 || !coded)
        wrong.push(`${response.status} ${answer.slice(0, 200)} for ${text.slice(0, 200)}`);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  expect(wrong).toEqual([]);
  expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBe(REQUESTS);
  for (const status of [400, 403, 405, 413, 415]) expect(statuses.has(status), `${status}`).toBe(true);
  const client = await modernClient(world, 'http');
  expect((await client.call('get_reserves')).isError).toBe(false);
  await client.close();
});
