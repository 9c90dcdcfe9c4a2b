import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { priceFromSqrtPrice } from '../../src/chain/solana/whirlpool.ts';
import { createSolanaKey } from '../world/keys.ts';
import type { WorldPool } from '../world/orca-pools.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ cron: false, blockMs: 0 });
});
afterAll(() => world?.stop());
afterEach(() => {
  world.faults.clear();
  world.resetStats();
});

type Data = Record<string, unknown>;

async function get(path: string, init?: RequestInit) {
  const response = await world.fetch(path, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

const dataOf = (text: string): Data => (JSON.parse(text) as { data: Data }).data;
const pathOf = ({ address }: WorldPool) => `/api/dex/pool/${address}`;
/** The same pool at an address that neither the pool API nor any cache has. */
async function copyOf(pool: WorldPool): Promise<string> {
  const { ledger } = world.solana;
  const account = await ledger.account(pool.address, ledger.clock.slot('confirmed'));
  if (account === null) throw new Error('the pool is gone');
  const { address } = await createSolanaKey();
  await ledger.plant(address, BigInt(account.lamports), account.data, account.owner);
  await ledger.clock.reached(ledger.clock.slot('processed') + 2);
  return address;
}

it('a pool is returned exactly as the pool API sends it', async () => {
  const pool = world.pools.sabtcUsdc;
  const upstream = await (await fetch(`${world.endpoints.orca}/v2/solana/pools/${pool.address}`)).text();
  const { status, text, headers } = await get(pathOf(pool));
  expect(status).toBe(200);
  // The slot advances between two reads of the simulator.
  const sameSlot = (body: string) => body.replace(/"updatedSlot":\d+/, '"updatedSlot":0');
  expect(sameSlot(text)).toBe(sameSlot(upstream));
  expect(headers.get('x-data-source')).toBe('orca');
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(world.stats().rpc1?.total ?? 0).toBe(0);
});

it('an unlisted pool is read from the chain in two round trips, with the same state', async () => {
  const pool = world.pools.saethSausd;
  const listed = await (await fetch(`${world.endpoints.orca}/v2/solana/pools/${pool.address}`)).text();
  world.resetStats();
  world.faults.set('orca', { kind: 'unlisted' });
  const { status, text, headers } = await get(pathOf(pool));
  expect(status).toBe(200);
  expect(headers.get('x-data-source')).toBe('chain_rpc');
  expect(world.stats().rpc1?.byLabel).toEqual({ getMultipleAccounts: 2 });

  const fromChain = dataOf(text);
  const fromOrca = dataOf(listed);
  const same = [
    'sqrtPrice',
    'liquidity',
    'feeRate',
    'tickCurrentIndex',
    'tokenMintA',
    'tokenMintB',
    'tokenVaultA',
  ];
  for (const field of [...same, 'tokenVaultB', 'tokenBalanceA', 'tokenBalanceB', 'feeTierIndex', 'poolType'])
    expect(fromChain[field], field).toEqual(fromOrca[field]);
  const { tokenA, tokenB } = pool;
  expect(fromChain.tokenA).toMatchObject({
    name: tokenA.name,
    symbol: tokenA.symbol,
    decimals: tokenA.decimals,
  });
  expect(fromChain.tokenB).toMatchObject({
    name: tokenB.name,
    symbol: tokenB.symbol,
    programId: tokenB.program,
  });
  expect(fromChain.price).toBe(
    priceFromSqrtPrice(BigInt(String(fromChain.sqrtPrice)), tokenA.decimals, tokenB.decimals),
  );
  expect(Number(fromChain.price) / Number(fromOrca.price)).toBeCloseTo(1, 12);
  expect(fromChain).toMatchObject({
    poolDataSource: 'chain_rpc',
    swapFeePercentDisplay: '0.04%',
    adaptiveFeeEnabled: true,
    adaptiveFee: { currentRate: 164, maxRate: 16_384 },
  });
  expect(fromChain).not.toHaveProperty('tvlUsdc');
  expect(fromChain).not.toHaveProperty('stats');
});

it('zero balances of the pool API are overwritten from the vaults', async () => {
  world.faults.set('orca', { kind: 'zeroBalances' });
  const pool = world.pools.sausdUsdc;
  const { text } = await get(pathOf(pool));
  expect(dataOf(text)).toMatchObject({
    tokenBalanceA: '500000000000',
    tokenBalanceB: '500000000000',
    vault_balances_source: 'chain_rpc',
    tvlUsdc: '1000000.00',
  });
});

it.each(['429', '500', 'html', 'truncate', 'drop', 'empty', 'redirect', 'huge', 'hang'])(
  'with %s of the pool API the chain answers',
  async (kind) => {
    const address = await copyOf(world.pools.sabtcUsdc);
    world.faults.set('orca', { kind });
    const { status, text } = await get(`/api/dex/pool/${address}`);
    expect(status).toBe(200);
    expect(dataOf(text)).toMatchObject({ poolDataSource: 'chain_rpc', address });
  },
);

it('an account that is not a pool gets the pool API’s own refusal with a code', async () => {
  const { status, text } = await get(`/api/dex/pool/${world.reserve.solana}`);
  expect(status).toBe(404);
  expect(JSON.parse(text)).toEqual({ error: 'Whirlpool not found', error_code: 'NOT_FOUND' });
  world.faults.set('orca', { kind: 'html' });
  const wrapped = await get(`/api/dex/pool/${world.treasury}`);
  expect(wrapped.status).toBe(502);
  expect(JSON.parse(wrapped.text)).toMatchObject({ error: 'dex_non_json', error_code: 'DEX_NON_JSON' });
});

it('a pool is served from the shared cache while everything is down', async () => {
  // A copy that has not been read before, so that no cached value expires between the two reads.
  const path = `/api/dex/pool/${await copyOf(world.pools.sabtcUsdc)}`;
  const before = await get(path);
  for (const upstream of ['orca', 'rpc1', 'rpc2'] as const) world.faults.set(upstream, { kind: 'drop' });
  const after = await get(path);
  expect(after.status).toBe(200);
  expect(after.text).toBe(before.text);
});

it('the three default pools are 307 with a relative Location that leads to the pool', async () => {
  const { sabtcUsdc, saethSausd, sausdUsdc } = world.pools;
  const defaults: [string, WorldPool][] = [
    ['/api/dex/pool-default', sabtcUsdc],
    ['/api/dex/pool-saeth-sausd-default', saethSausd],
    ['/api/dex/pool-sausd-usdc-default', sausdUsdc],
  ];
  for (const [path, pool] of defaults) {
    const { status, headers } = await get(path, { redirect: 'manual' });
    expect(status).toBe(307);
    expect(headers.get('location')).toBe(pathOf(pool));
    expect(dataOf((await get(path)).text).address).toBe(pool.address);
  }
});
