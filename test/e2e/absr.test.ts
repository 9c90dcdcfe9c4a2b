import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base58 } from '@scure/base';
import { NETWORK, p2wpkh, WIF } from '@scure/btc-signer';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findAta } from '../../src/chain/solana/token-instructions.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { payBitcoin } from '../world/bitcoin-wallet.ts';
import type { BitcoinKey } from '../world/keys.ts';
import { startWorld, type World } from '../world/world.ts';
import { until } from './swap-caller.ts';

type Json = Record<string, unknown>;
const DAILY = '5 0 * * *';
const EVERY_MINUTE = '* * * * *';

async function get<T = Json>(world: World, path: string): Promise<T> {
  return (await (await world.fetch(path)).json()) as T;
}
async function rpc<T>(world: World, method: string, ...params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(world.endpoints.rpc1, { method: 'POST', headers, body });
  return ((await response.json()) as { result: T }).result;
}
/** Atoms, in the newest slot. */
const supplyOf = async (world: World): Promise<string> =>
  (
    await rpc<{ value: { amount: string } }>(world, 'getTokenSupply', world.mints.absr, {
      commitment: 'processed',
    })
  ).value.amount;
const mintsOf = (world: World) =>
  world.worker.query("SELECT id, status, detail, reason FROM operations WHERE kind = 'absr'") as Promise<
    Json[]
  >;
const listOf = async (world: World) =>
  (await get<{ transactions: Json[] }>(world, '/api/arbitrage/transactions')).transactions;
/** Reads the values of the cron again. */
async function fresh<T = Json>(world: World, path: string): Promise<T> {
  await world.control.cron(EVERY_MINUTE);
  return get<T>(world, path);
}

describe('a day of the reserve', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ cron: false, blockMs: 0, slotMs: 20, settleDelayMs: 200 });
  });
  afterAll(() => world?.stop());
  afterEach(() => world.faults.clear());

  it('mints ABSR to the treasury, once, for sats with three confirmations, as soon as the Bitcoin indexes agree', async () => {
    // Two confirmations are not enough for this deposit.
    await world.control.sendBitcoin(world.reserve.bitcoin, 50_000n);
    await world.control.mine(2);
    await world.control.cron(DAILY);
    const [mint] = await until('a mint', async () => {
      const list = await listOf(world);
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
    expect(await supplyOf(world)).toBe('1000000');
    const account = findAta(world.treasury, world.mints.absr, TOKEN_PROGRAM);
    const held = await rpc<{ value: { amount: string } }>(world, 'getTokenAccountBalance', account);
    expect(held.value.amount).toBe('1000000');

    await world.control.mine(3);
    await Promise.all([
      world.control.cron(DAILY),
      world.control.cron(DAILY),
      world.control.cron(EVERY_MINUTE),
    ]);
    expect(await mintsOf(world)).toMatchObject([{ status: 'finished' }]);
    expect(await supplyOf(world)).toBe('1000000');
  });

  it('the status is red within a cron tick when sats leave the reserve, and shows the missing sats', async () => {
    const privateKey = WIF(NETWORK).decode(world.bindings.BTC_PRIVATE_KEY_WIF ?? '');
    const { script } = p2wpkh(secp256k1.getPublicKey(privateKey, true), NETWORK);
    const reserve: BitcoinKey = { address: world.reserve.bitcoin, wif: '', privateKey, script };
    const before = await fresh<{ absrSupplySats: number }>(world, '/api/arbitrage/summary');
    await payBitcoin(world.bitcoin, reserve, [
      { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', sats: 900_000n },
    ]);
    await world.control.mine(1);
    const summary = await until('the spend is seen', async () => {
      const seen = await fresh<{ absrSupplySats: number; gapSats: number }>(world, '/api/arbitrage/summary');
      return seen.absrSupplySats < before.absrSupplySats ? seen : undefined;
    });
    expect(summary.gapSats).toBeLessThan(0);
    expect(await get(world, '/api/status')).toMatchObject({
      ok: false,
      backing: { ok: false, gapSatoshis: String(summary.gapSats) },
    });
    await until('an alarm', () => world.worker.logs().find((line) => line.includes('supply_above_reserve')));
  });
});

it('creates a missing treasury token account; a reorganization removes only sats without minted ABSR', async () => {
  const treasury = base58.encode(ed25519.getPublicKey(new Uint8Array(32).fill(99)));
  const world = await startWorld({
    cron: false,
    blockMs: 0,
    slotMs: 20,
    vars: { TREASURY_SOLANA_ADDRESS: treasury },
  });
  try {
    const young = await world.control.sendBitcoin(world.reserve.bitcoin, 70_000n);
    await world.control.mine(2);
    await world.control.cron(DAILY);
    await until('a mint', async () => ((await listOf(world)).length > 0 ? true : undefined));
    const account = findAta(treasury, world.mints.absr, TOKEN_PROGRAM);
    const held = await rpc<{ value: { amount: string } }>(world, 'getTokenAccountBalance', account);
    expect(held.value.amount).toBe('1000000');

    await world.control.reorg(2, [young]);
    expect(await fresh(world, '/api/arbitrage/summary')).toMatchObject({
      absrSupplySats: 1_000_000,
      absrTokenSupply: 1_000_000,
      gapSats: 0,
    });
  } finally {
    await world.stop();
  }
});
