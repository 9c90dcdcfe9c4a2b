import { afterAll, beforeAll, expect, it } from 'vitest';
import { priceFromSqrtPrice } from '../../src/chain/solana/whirlpool.ts';
import type { WorldPool } from '../world/orca-pools.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ cron: false, blockMs: 0 });
});
afterAll(() => world?.stop());

type Data = Record<string, unknown>;

async function get(path: string) {
  const response = await world.fetch(path);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

const dataOf = (text: string): Data => (JSON.parse(text) as { data: Data }).data;
const pathOf = ({ address }: WorldPool) => `/api/dex/pool/${address}`;

it('reads a pool that Orca does not list from the chain in two calls, with the state that Orca would return', async () => {
  const pool = world.pools.saethSausd;
  const listed = await (await fetch(`${world.endpoints.orca}/v2/solana/pools/${pool.address}`)).text();
  world.resetStats();
  world.faults.set('orca', { kind: 'unlisted' });
  const { status, text, headers } = await get(pathOf(pool));
  expect(status).toBe(200);
  expect(headers.get('x-data-source')).toBe('chain_rpc');
  expect(world.stats().rpcRead?.byLabel).toEqual({ getMultipleAccounts: 2 });

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
