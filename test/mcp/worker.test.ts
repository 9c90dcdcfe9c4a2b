import { expect, it } from 'vitest';
import { requestClient } from '../../src/core/client-network.ts';
import worker from '../../src/mcp/worker.ts';
import { floodGate } from '../kit/flood-gate.ts';
import { eachRow } from '../kit/scenes.ts';

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'asry_epoch', arguments: {} } };

/** Calls a tool. @returns the clients that the API saw, and the keys that the limiter counted */
async function call(headers: Readonly<Record<string, string>>, isAdmitted: (key: string) => boolean) {
  const clients: string[] = [];
  const keys: string[] = [];
  const response = await worker.fetch(
    new Request('https://sluice.test/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(CALL),
    }),
    {
      API: {
        async fetch(input, init) {
          clients.push(requestClient(new Request(input, init).headers));
          return Response.json({});
        },
      },
      ...floodGate((_limiter, key) => keys.push(key) > 0 && isAdmitted(key)),
    },
  );
  await response.text();
  return { status: response.status, clients: [...new Set(clients)], keys };
}

eachRow<[kind: string, headers: Readonly<Record<string, string>>, client: string]>(`
  an IPv4 address          | { "cf-connecting-ip": "198.51.100.7" }                                     | "198.51.100.7"
  an IPv6 address          | { "cf-connecting-ip": "2001:db8:1:2:3::4" }                                | "2001:db8:1:2::/64"
  a Worker of the platform | { "cf-connecting-ip": "2a06:98c0:3600::103", "cf-worker": "shop.example" } | workers shop.example
`)('the API counts the calls of a tool for its caller: %s', async (_kind, headers, client) => {
  const { status, clients } = await call(headers, () => true);
  expect([status, clients]).toEqual([200, [client]]);
});

it('the MCP server counts a request for its client and each wider network, and refuses it if one has used up its limit', async () => {
  const headers = { 'cf-connecting-ip': '2001:db8:1:2:3::4' };
  const admitted = await call(headers, () => true);
  expect(admitted.keys).toEqual(['mcp:2001:db8:1:2::/64', 'mcp:2001:db8:1::/48', 'mcp:2001:db8::/32']);
  for (const full of admitted.keys) {
    const { status, clients } = await call(headers, (key) => key !== full);
    expect([full, status, clients]).toEqual([full, 429, []]);
  }
});
