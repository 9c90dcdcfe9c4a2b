import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../world/world.ts';
import { type Body, createSwapCaller, type SwapCaller, until } from './swap-caller.ts';

let world: World;
let caller: SwapCaller;
beforeAll(async () => {
  // No mint, so that only these tests change the reserve.
  world = await startWorld({ cron: false, blockMs: 300, vars: { ABSR_MINT_ADDRESS: undefined } });
  caller = createSwapCaller(world);
});
afterEach(() => world.faults.clear());
afterAll(() => world.stop());

/** The report once the condition holds. */
const report = (what: string, isSo: (body: Body) => boolean): Promise<Body> =>
  until(what, async () => {
    const { status, body } = await caller.get('/api/reserves');
    return status === 200 && isSo(body) ? body : undefined;
  });

test('the reserve report shows the exact balances of both chains', async () => {
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

test('a repeated read with the ETag gets 304 without a body', async () => {
  const first = await world.fetch('/api/reserves');
  const etag = first.headers.get('etag') ?? '';
  expect(etag).toMatch(/^(W\/)?"[^"]+"$/);
  const again = await world.fetch('/api/reserves', { headers: { 'if-none-match': etag } });
  expect([again.status, await again.text()]).toEqual([304, '']);
  expect(again.headers.get('access-control-allow-origin')).toBe('*');
});

test('the report shows the configured treasury', async () => {
  const { status, body } = await caller.get('/api/explorer/treasury');
  expect([status, body]).toEqual([200, { treasury_address: world.treasury }]);
});
