import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { payInvoice } from '../../docs/examples/pay-invoice.ts';
import { TOOLS } from '../../src/mcp/tools/all-tools.ts';
import { useWorld } from '../world/use-world.ts';
import { inspect, inspectCall, type McpClient, modernClient, olderClient } from './mcp-clients.ts';
import { until } from './swap-caller.ts';
import { createTokenCaller } from './token-caller.ts';

const NAMES = TOOLS.map(({ name }) => name);

/** An address without a pool. */
const NO_POOL = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';

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

  it('the inspector lists every tool with its schema and annotations, and verifies the proof', {
    tags: ['deep'],
  }, async () => {
    const { code, answer } = await inspect(world, over, '--method', 'tools/list');
    expect(code).toBe(0);
    const { tools } = answer as { tools: Record<string, unknown>[] };
    expect(tools.map(({ name }) => name)).toEqual(NAMES);
    for (const tool of tools)
      expect(tool).toMatchObject({
        title: expect.any(String),
        inputSchema: { type: 'object', additionalProperties: false },
        annotations: { readOnlyHint: expect.any(Boolean) },
      });
    const { structured } = await inspectCall(world, over, 'verify_reserve_proof');
    expect(structured).toMatchObject({ verified: true, age_seconds: expect.any(Number) });
  });
});

it.each([
  ['swap_estimate', { amountSol: 'much' }, 'INVALID_ARGUMENTS', 'amountSol'],
  ['swap_estimate', {}, 'INVALID_ARGUMENTS', 'amountSol is missing'],
  ['swap_create', { amountSol: 0.0001 }, 'INVALID_INPUT', 'amountSol'],
  ['swap_create', { amountSol: 3 }, 'AMOUNT_TOO_LARGE', 'one swap is 2 SOL'],
  ['pool_get', { address: NO_POOL }, 'NOT_FOUND', 'Whirlpool not found'],
])(
  'the inspector shows %s %j as an error with %s and its cause',
  { tags: ['deep'] },
  async (name, given, code, cause) => {
    const { isError, text, code: exit } = await inspectCall(world, 'http', name, given);
    expect([isError, exit]).toEqual([true, 5]);
    const failure = JSON.parse(text) as Record<string, unknown>;
    expect(failure).toMatchObject({ error_code: code, next_step: expect.stringMatching(/\w{3}/) });
    expect(failure.error).toContain(cause);
  },
);

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

it('an agent pays an invoice from its own wallet and finds its token', async () => {
  const client = await modernClient(world, 'http');
  const [agent] = world.users;
  if (!agent) throw new Error('no user');
  try {
    const { structured: invoice, text } = await client.call('token_invoice_create', {
      name: 'Agent Cat',
      symbol: 'ACAT',
      decimals: 6,
      supply: '5000000',
      creator_address: agent.address,
    });
    expect(invoice, text).toMatchObject({ status: 'pending', detail: 'awaiting_payment' });
    const signature = await payInvoice({
      payUrl: String(invoice.solana_pay_url),
      maxSol: String(invoice.amount),
      nodeUrl: world.endpoints.rpc1,
      secretKey: base58.decode(agent.secretKey),
    });
    const { structured: paid } = await client.call('token_invoice_status', {
      invoice_id: invoice.invoice_id,
    });
    expect(paid).toMatchObject({
      status: 'completed',
      payment_tx_signature: signature,
      mint_address: expect.any(String),
    });
    const { structured: token } = await client.call('token_get', { id: paid.mint_address });
    expect(token).toMatchObject({ symbol: 'ACAT', supply: '5000000', mint_address: paid.mint_address });
    const { structured: found } = await client.call('token_search', { query: 'agent cat' });
    expect(found.tokens).toEqual([expect.objectContaining({ id: paid.token_id })]);
  } finally {
    await client.close();
  }
});

it('an agent claims a deposit once, after a dry run', async () => {
  const client = await olderClient(world, 'http');
  const caller = createTokenCaller(world);
  try {
    const [from, to] = [caller.user(1), world.treasury];
    const depositTxSignature = await world.control.transfer({
      ...{ from, to, asset: 'usdc', amount: 100_000_000n },
    });
    const claim = { asset: 'USDC', depositTxSignature, amount: 100 };
    await caller.finality();
    const { structured: dry, text } = await client.call('asry_claim', { ...claim, skipReward: true });
    expect(dry, text).toMatchObject({
      claimed: false,
      would_pay: { recipient: caller.user(1).address },
    });
    const { structured: claimed, text: said } = await client.call('asry_claim', claim);
    expect(claimed, said).toMatchObject({ claimed: true, reward: { recipient: caller.user(1).address } });
    const { structured: record } = await client.call('asry_claim_status', { depositTxSignature });
    expect(record).toMatchObject({ asset: 'USDC', payouts: [expect.objectContaining({ part: 1 })] });
    const { structured: again } = await client.call('asry_claim', claim);
    expect(again).toMatchObject({ claimed: true, replayed: true });
    const { isError, text: refused } = await client.call('asry_claim', { ...claim, amount: undefined });
    expect([isError, refused]).toEqual([true, expect.stringMatching(/CLAIM_IN_PROGRESS|ALREADY_CLAIMED/)]);
  } finally {
    await client.close();
  }
});
