import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { expect, it } from 'vitest';
import { findAta } from '../../src/chain/solana/token-instructions.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { callRpc } from '../world/json-rpc.ts';
import { useWorld } from '../world/use-world.ts';
import { ask, type Body, until } from './swap-caller.ts';

const DAILY = '5 0 * * *';
const EVERY_MINUTE = '* * * * *';

/** An owner without an account of ABSR. */
const treasury = base58.encode(ed25519.getPublicKey(new Uint8Array(32).fill(99)));
const world = useWorld({
  ...{ cron: false, blockMs: 0, slotMs: 20, settleDelayMs: 200 },
  vars: { TREASURY_SOLANA_ADDRESS: treasury },
});

const get = async (path: string) => (await ask(world, path)).body;
/** Atoms that a node shows. */
async function atomsOf(method: string, ...params: unknown[]): Promise<string> {
  const { result } = await callRpc(world.endpoints.rpc1, method, params);
  return (result as { value: { amount: string } }).value.amount;
}
const supply = () => atomsOf('getTokenSupply', world.mints.absr, { commitment: 'processed' });
const listed = async () => (await get('/api/arbitrage/transactions')).transactions as Body[];
/** The figures, after the values of the cron were read again. */
async function figures() {
  await world.control.cron(EVERY_MINUTE);
  return (await get('/api/arbitrage/summary')) as { absrSupplySats: number; gapSats: number };
}

it('mints ABSR to the new account of the treasury, once, for sats with three confirmations', async () => {
  // Two confirmations are not enough for this deposit.
  await world.control.sendBitcoin(world.reserve.bitcoin, 50_000n);
  await world.control.mine(2);
  await world.control.cron(DAILY);
  const [mint] = await until('a mint', async () => {
    const list = await listed();
    return list.length > 0 ? list : undefined;
  });
  expect(mint).toEqual({
    signature: expect.any(String),
    txId: null,
    type: 'mint',
    amountSats: 1_000_000,
    amountSatoshis: '1000000',
    amountUsd: 800,
    blockTime: expect.any(Number),
  });
  const held = () => atomsOf('getTokenAccountBalance', findAta(treasury, world.mints.absr, TOKEN_PROGRAM));
  expect([await supply(), await held()]).toEqual(['1000000', '1000000']);

  await world.control.mine(3);
  const crons = [DAILY, DAILY, EVERY_MINUTE].map((trigger) => world.control.cron(trigger));
  await Promise.all(crons);
  const mints = await world.worker.query("SELECT status FROM operations WHERE kind = 'absr'");
  expect(mints).toEqual([{ status: 'finished' }]);
  expect(await supply()).toBe('1000000');
});

it('a reorganization removes only sats for which no ABSR was minted', async () => {
  const young = await world.control.sendBitcoin(world.reserve.bitcoin, 70_000n);
  await world.control.mine(2);
  await world.control.reorg(2, [young]);
  expect(await figures()).toMatchObject({
    absrSupplySats: 1_050_000,
    absrTokenSupply: 1_000_000,
    gapSats: 50_000,
  });
});
