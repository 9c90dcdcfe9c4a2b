import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../world/world.ts';
import { until } from './swap-desk.ts';

const run = promisify(execFile);
const ENTRY = join(import.meta.dirname, '../../src/mcp/stdio.ts');
const INSPECTOR = join(
  createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json'),
  '../clients/launcher/build/index.js',
);
const NAMES = ['get_reserves', 'swap_min', 'swap_estimate', 'swap_create', 'swap_status'];

type Result = {
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
  readonly text: string;
};

let world: World;
beforeAll(async () => {
  world = await startWorld({ blockMs: 500, settleDelayMs: 200 });
});
afterAll(() => world?.stop());

/** A tool's result as any client gives it. */
function resultOf(given: unknown): Result {
  const { isError, structuredContent, content } = given as {
    isError?: boolean;
    structuredContent?: Record<string, unknown>;
    content: { type: string; text: string }[];
  };
  const text = content[0]?.text ?? '';
  return { text, ...(isError ? { isError } : {}), ...(structuredContent ? { structuredContent } : {}) };
}

/** Calls the server through the inspector's command line; its exit code is 5 when the result is an error. */
async function inspect(...args: string[]): Promise<{ code: number; answer: unknown; stdout: string }> {
  const all = ['--cli', '-e', `API_BASE_URL=${world.url}`, process.execPath, ENTRY, ...args];
  const { stdout, code } = await run(process.execPath, [INSPECTOR, ...all]).then(
    ({ stdout }) => ({ stdout, code: 0 }),
    (error: { code: number; stdout: string }) => ({ stdout: error.stdout, code: error.code }),
  );
  return { code, answer: JSON.parse(stdout) as unknown, stdout };
}
const inspectCall = async (name: string, ...args: string[]) => {
  const { code, answer } = await inspect(
    '--method',
    'tools/call',
    '--tool-name',
    name,
    ...args.flatMap((arg) => ['--tool-arg', arg]),
  );
  return { code, ...resultOf(answer) };
};

describe('the inspector', () => {
  it('lists all five tools with schemas and annotations', async () => {
    const { code, answer } = await inspect('--method', 'tools/list');
    expect(code).toBe(0);
    const { tools } = answer as { tools: Record<string, unknown>[] };
    expect(tools.map(({ name }) => name)).toEqual(NAMES);
    for (const tool of tools)
      expect(tool).toMatchObject({
        title: expect.any(String),
        inputSchema: { type: 'object', additionalProperties: false },
        outputSchema: { type: 'object' },
        annotations: { readOnlyHint: expect.any(Boolean), destructiveHint: expect.any(Boolean) },
      });
  });

  it('calls all five, and the swap ends finished with the BTC at the reserve', {
    timeout: 120_000,
  }, async () => {
    const before = world.reserve;
    const reserves = await inspectCall('get_reserves');
    expect(reserves.structuredContent).toMatchObject({
      bitcoin: { address: before.bitcoin },
      solana: { address: before.solana },
    });
    expect((await inspectCall('swap_min')).structuredContent).toMatchObject({ available: true });
    const estimate = await inspectCall('swap_estimate', 'amountSol=0.5');
    expect(estimate.structuredContent).toMatchObject({ amountLamports: '500000000' });
    const dry = await inspectCall('swap_create', 'amount_sol=0.5', 'dry_run=true');
    expect(dry.structuredContent).toMatchObject({ initiated: false, id: null, idempotencyKey: null });
    const created = await inspectCall('swap_create', 'amountSol=0.5');
    const { id, idempotencyKey } = created.structuredContent ?? {};
    expect(created.structuredContent).toMatchObject({ initiated: true, status: 'waiting', replayed: false });
    const again = await inspectCall('swap_create', 'amountSol=0.5', `idempotencyKey=${idempotencyKey}`);
    expect(again.structuredContent).toMatchObject({ id, idempotencyKey, replayed: true });
    const done = await until('finished', async () => {
      const { structuredContent } = await inspectCall('swap_status', `id=${id}`);
      return structuredContent?.status === 'waiting' ? undefined : structuredContent;
    });
    expect(done).toMatchObject({ id, status: 'finished', nextPollSeconds: null });
    expect(BigInt(String(done.btcSatoshis))).toBeGreaterThan(0n);
  });

  it.each([
    ['swap_estimate', ['amountSol=much'], 'INVALID_ARGUMENTS'],
    ['swap_estimate', [], 'INVALID_ARGUMENTS'],
    ['swap_create', ['amountSol=0.0001', 'dry_run=true'], 'INVALID_INPUT'],
    ['swap_create', ['amountSol=5', 'dry_run=true'], 'AMOUNT_TOO_LARGE'],
    ['swap_status', ['id=nobody'], 'NOT_FOUND'],
  ])('%s %j is an error result with %s and a next step', async (name, args, code) => {
    const { isError, text, code: exit } = await inspectCall(name, ...args);
    expect([isError, exit]).toEqual([true, 5]);
    expect(JSON.parse(text)).toMatchObject({ error_code: code, next_step: expect.stringMatching(/\w{3}/) });
  });
});

describe('a client of the older SDK', () => {
  it('lists, reads, estimates, tries and asks, and checks each answer against its schema', async () => {
    const client = new OlderClient({ name: 'older', version: '1' });
    await client.connect(
      new OlderTransport({
        command: process.execPath,
        args: [ENTRY],
        env: { API_BASE_URL: world.url },
        stderr: 'ignore',
      }),
    );
    try {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(NAMES);
      const call = async (name: string, given: Record<string, unknown> = {}) =>
        resultOf(await client.callTool({ name, arguments: given }));
      expect((await call('get_reserves')).structuredContent).toMatchObject({ stale: false });
      expect((await call('swap_min')).isError).toBeUndefined();
      expect((await call('swap_estimate', { amount_sol: '0.5' })).structuredContent).toMatchObject({
        amountSol: 0.5,
      });
      expect((await call('swap_create', { amountSol: 0.5, dry_run: true })).structuredContent).toMatchObject({
        initiated: false,
      });
      expect((await call('swap_status', { id: 'nobody' })).isError).toBe(true);
      expect((await call('swap_estimate', { amountSol: [] })).isError).toBe(true);
    } finally {
      await client.close();
    }
  });
});

describe('a client of 2026', () => {
  it.each(['auto', { pin: '2026-07-28' }] as const)(
    'in mode %j discovers the server and uses it',
    async (mode) => {
      const client = new ModernClient({ name: 'modern', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(
        new ModernTransport({
          command: process.execPath,
          args: [ENTRY],
          env: { API_BASE_URL: world.url },
          stderr: 'ignore',
        }),
      );
      try {
        expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(NAMES);
        const reserves = resultOf(await client.callTool({ name: 'get_reserves', arguments: {} }));
        expect(reserves.structuredContent).toMatchObject({ solana: { address: world.reserve.solana } });
        const refused = resultOf(await client.callTool({ name: 'swap_estimate', arguments: {} }));
        expect(refused.isError).toBe(true);
      } finally {
        await client.close();
      }
    },
  );
});
