import { describe, expect, it } from 'vitest';
import { TOOLS } from '../../src/mcp/tools/all-tools.ts';
import { useWorld } from '../world/use-world.ts';
import { type McpClient, modernClient, olderClient } from './mcp-clients.ts';
import { until } from './swap-caller.ts';

const NAMES = TOOLS.map(({ name }) => name);

const world = useWorld({ settleDelayMs: 200, mcp: true }, async (world) => {
  // No proof is signed while a new block makes the explorers differ; from the first one on there is always one.
  await until('signed', async () => ((await world.fetch('/api/proof')).ok ? true : undefined));
});

/** Reading tools, with arguments that work on any world. */
const READS: readonly (readonly [name: string, given: Record<string, unknown>])[] = [
  ['get_reserves', {}],
  ['swap_min', {}],
  ['swap_estimate', { amountSol: '0.5' }],
  ['verify_reserve_proof', {}],
  ['token_search', { query: 'a' }],
  ['asry_epoch', {}],
  ['exchange_min', { from: 'sol', to: 'btc' }],
  ['exchange_estimate', { from: 'sol', to: 'btc', amount: 0.5 }],
  ['pool_get', { pool: 'default' }],
  ['service_status', {}],
];
/** Tools that return an error for an unknown id, with its code. */
const UNKNOWN_IDS: readonly (readonly [name: string, given: Record<string, unknown>])[] = [
  ['swap_status', { id: 'unknown' }],
  ['token_get', { id: 999_999 }],
  ['token_invoice_status', { invoice_id: 'unknown' }],
  ['asry_claim_status', { depositTxSignature: '5'.repeat(88) }],
];
async function expectWorks(client: McpClient): Promise<void> {
  expect(await client.tools()).toEqual(NAMES);
  for (const [name, given] of READS) {
    const { isError, structured, text } = await client.call(name, given);
    expect(isError, `${name}: ${text}`).toBe(false);
    expect(JSON.parse(text)).toEqual(structured);
  }
  for (const [name, given] of UNKNOWN_IDS) {
    const { isError, text } = await client.call(name, given);
    expect(isError, name).toBe(true);
    expect(JSON.parse(text), name).toMatchObject({
      error_code: 'NOT_FOUND',
      next_step: expect.stringMatching(/\w{3}/),
    });
  }
}

describe.each(['stdio', 'http'] as const)('over %s', (over) => {
  it('a client of the 2025 SDK uses every reading tool', async () => {
    const client = await olderClient(world, over);
    try {
      await expectWorks(client);
    } finally {
      await client.close();
    }
  });

  it.each(['auto', { pin: '2026-07-28' }] as const)(
    'a client of the 2026 SDK in mode %j uses every reading tool',
    { tags: ['deep'] },
    async (mode) => {
      const client = await modernClient(world, over, mode);
      try {
        await expectWorks(client);
      } finally {
        await client.close();
      }
    },
  );
});

describe.each(['stdio', 'http'] as const)('a swap over %s', (over) => {
  it('a swap over MCP reports progress until it is finished, and its key never creates a second swap', async () => {
    const client = await (over === 'http' ? modernClient(world, over) : olderClient(world, over));
    try {
      const { structured: estimate } = await client.call('swap_estimate', { amountSol: 0.3 });
      expect(estimate).toMatchObject({ creatable: true });
      const given = { amountSol: 0.3, idempotencyKey: `swap-over-${over}-0123456789` };
      const { structured: created, text } = await client.call('swap_create', given);
      expect(created, text).toMatchObject({ initiated: true, status: 'waiting', replayed: false });
      const { structured: again } = await client.call('swap_create', given);
      expect(again).toMatchObject({ id: created.id, replayed: true });
      const seen: string[] = [];
      const { structured: done } = await client.call('swap_status', { id: created.id }, (message) =>
        seen.push(message),
      );
      expect(done).toMatchObject({ id: created.id, status: 'finished', nextPollSeconds: null });
      expect(BigInt(String(done.btcSatoshis))).toBeGreaterThan(0n);
      expect(seen).toContainEqual(expect.stringMatching(/^waiting: \w+$/));
    } finally {
      await client.close();
    }
  });
});
