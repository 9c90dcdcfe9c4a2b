import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { UpstreamName } from '../world/bindings.ts';
import { startWorld, type World } from '../world/world.ts';
import { type Body, createSwapCaller, type SwapCaller, until } from './swap-caller.ts';

/** Minimum interval between two reads of a value by one isolate, in milliseconds. */
const FRESH_MS = 75_000;
const NODES: readonly UpstreamName[] = ['rpc1', 'rpc2'];
const INDEXES: readonly UpstreamName[] = ['esplora1', 'esplora2'];

let world: World;
let caller: SwapCaller;
beforeAll(async () => {
  // No mint, so that only these tests change the reserve.
  world = await startWorld({ cron: false, blockMs: 300, vars: { ABSR_MINT_ADDRESS: undefined } });
  caller = createSwapCaller(world);
});
afterEach(() => world.faults.clear());
afterAll(() => world.stop());

const fail = (upstreams: readonly UpstreamName[]): void => {
  for (const upstream of upstreams) world.faults.set(upstream, { kind: '500' });
};

/** The report once the condition holds; a failed source is not called for a moment. */
const report = (what: string, isSo: (body: Body) => boolean): Promise<Body> =>
  until(what, async () => {
    const { status, body } = await caller.get('/api/reserves');
    return status === 200 && isSo(body) ? body : undefined;
  });

test('returns an error when no chain can be read, and the other chain when one cannot be read', async () => {
  fail([...NODES, ...INDEXES]);
  const { status, body, headers } = await caller.get('/api/reserves');
  expect([status, body.error_code, body.retryable]).toEqual([503, 'UPSTREAM_FAILED', true]);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);

  world.faults.clear();
  fail(NODES);
  const half = await report('the Bitcoin half', ({ bitcoin }) => (bitcoin as Body).balanceSat !== null);
  expect(half).toMatchObject({
    bitcoin: { address: world.reserve.bitcoin, balanceSat: 1_000_000, balanceBtc: 0.01 },
    solana: { address: world.reserve.solana, balanceSol: null, balanceLamports: null, source: null },
    errors: [{ part: 'solana', error_code: 'UPSTREAM_FAILED' }],
  });
});

test('the report equals both chains, to the unit', async () => {
  const body = await report('a whole report', ({ errors }) => errors === undefined);
  const lamports = await caller.lamports();
  const sats = caller.sats();
  expect(body).toMatchObject({
    bitcoin: {
      address: world.reserve.bitcoin,
      balanceSat: Number(sats),
      balanceSatoshis: sats.toString(),
      balanceBtc: Number(sats) / 1e8,
      pendingSatoshis: '0',
      agreed: true,
    },
    solana: {
      address: world.reserve.solana,
      balanceLamports: lamports.toString(),
      balanceSol: Number(lamports) / 1e9,
    },
    stale: false,
  });
});

test('1,000 reads cost the upstreams no more than the refresh of the cache', async () => {
  world.resetStats();
  const started = Date.now();
  for (let round = 0; round < 20; round += 1) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => caller.get('/api/reserves')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  }
  const refreshes = Math.ceil((Date.now() - started) / FRESH_MS);
  for (const upstream of [...NODES, ...INDEXES])
    expect(world.stats()[upstream]?.total ?? 0).toBeLessThanOrEqual(refreshes);
});

test('a repeated read with the ETag gets 304 without a body', async () => {
  const first = await world.fetch('/api/reserves');
  const etag = first.headers.get('etag') ?? '';
  expect(etag).toMatch(/^(W\/)?"[^"]+"$/);
  const again = await world.fetch('/api/reserves', { headers: { 'if-none-match': etag } });
  expect([again.status, await again.text()]).toEqual([304, '']);
  expect(again.headers.get('access-control-allow-origin')).toBe('*');
});

test('shows the lower of two Bitcoin balances after a payment and a cron tick', async () => {
  const before = caller.sats();
  await world.control.sendBitcoin(world.reserve.bitcoin, 4_321n);
  await world.control.mine(1);
  world.faults.set('esplora1', { kind: 'wrongBalance', by: 1_000_000 });
  await world.control.cron();
  const body = await report('two views', ({ bitcoin }) => (bitcoin as Body).agreed === false);
  const sats = before + 4_321n;
  expect(body.bitcoin).toMatchObject({ balanceSatoshis: sats.toString(), source: 'esplora-2' });
  expect((body.bitcoin as Body).sources).toEqual([
    { name: 'esplora-1', balanceSatoshis: (sats + 1_000_000n).toString() },
    { name: 'esplora-2', balanceSatoshis: sats.toString() },
  ]);
});

test('the treasury is the configured one', async () => {
  const { status, body } = await caller.get('/api/explorer/treasury');
  expect([status, body]).toEqual([200, { treasury_address: world.treasury }]);
});
