import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type BitcoinNode, startBitcoinNode } from './bitcoin-node.ts';
import { payBitcoin } from './bitcoin-wallet.ts';
import { startEsploraAdapter } from './esplora-adapter.ts';
import { createFaultBook } from './fault-book.ts';
import type { Upstream } from './fault-gate.ts';
import { createBitcoinKey } from './keys.ts';
import { createRequestCounts } from './request-counts.ts';

const faults = createFaultBook();
const counts = createRequestCounts();
const bank = createBitcoinKey();
let node: BitcoinNode;
let mempool: Upstream;
let blockstream: Upstream;

beforeAll(async () => {
  node = await startBitcoinNode({ coinbaseKeyHash: bank.script.subarray(2) });
  mempool = await startEsploraAdapter({ name: 'esplora1', flavor: 'mempool', node, faults, counts });
  blockstream = await startEsploraAdapter({ name: 'esplora2', flavor: 'blockstream', node, faults, counts });
});
afterEach(() => faults.clear());
afterAll(async () => {
  await mempool.stop();
  await blockstream.stop();
  await node.close();
});

const get = async (from: Upstream, path: string) => {
  const response = await fetch(`${from.url}/api${path}`);
  const body = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status: response.status, body: isJson ? JSON.parse(body) : body };
};

const pay = (to: string, sats: bigint) => payBitcoin(node, bank, [{ address: to, sats }]);

test('payments that begin together spend different coins', async () => {
  const [first, second] = await Promise.all([
    pay(createBitcoinKey().address, 5_000n),
    pay(createBitcoinKey().address, 5_000n),
  ]);
  expect(first).not.toBe(second);
});

describe('the two Esplora adapters', () => {
  test('the Esplora adapters show a payment unconfirmed, then confirmed, under its mainnet address', async () => {
    const { address } = createBitcoinKey();
    const txid = await pay(address, 62_386n);
    const before = await get(mempool, `/address/${address}`);
    expect(before.body.chain_stats).toMatchObject({ funded_txo_sum: 0, tx_count: 0 });
    expect(before.body.mempool_stats).toMatchObject({ funded_txo_sum: 62_386, tx_count: 1 });
    expect((await get(mempool, `/tx/${txid}/status`)).body).toEqual({ confirmed: false });
    await node.mine(1);
    for (const esplora of [mempool, blockstream]) {
      const { body } = await get(esplora, `/address/${address}`);
      expect(body.chain_stats).toMatchObject({ funded_txo_sum: 62_386, tx_count: 1 });
      const [tx] = (await get(esplora, `/address/${address}/txs/chain`)).body;
      expect(tx).toMatchObject({ txid, fee: 2000, status: { confirmed: true, block_height: node.height() } });
      expect(tx.vout[0]).toMatchObject({
        scriptpubkey_address: address,
        scriptpubkey_type: 'v0_p2wpkh',
        value: 62_386,
      });
    }
  });

  test('the Esplora adapters page their history as the public services do', async () => {
    const { address } = createBitcoinKey();
    for (let count = 0; count < 30; count += 1) await pay(address, 1000n + BigInt(count));
    await node.mine(1);
    const first = (await get(blockstream, `/address/${address}/txs/chain`)).body;
    expect(first).toHaveLength(25);
    const second = (await get(blockstream, `/address/${address}/txs/chain/${first[24].txid}`)).body;
    expect(second).toHaveLength(5);
    expect(new Set([...first, ...second].map((tx: { txid: string }) => tx.txid)).size).toBe(30);
    expect((await get(mempool, `/address/${address}/txs`)).body).toHaveLength(30);
    expect((await get(mempool, `/address/${address}/txs/chain?max_txs=3`)).body).toHaveLength(3);
    expect(await get(mempool, `/address/${address}/txs?after_txid=${'0'.repeat(64)}`)).toEqual({
      status: 422,
      body: 'after_txid not found',
    });
  });

  test('the Esplora adapters refuse in plain text with the right status', async () => {
    expect(await get(mempool, '/address/nonsense')).toEqual({ status: 400, body: 'Invalid Bitcoin address' });
    expect(await get(mempool, '/address/tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx')).toEqual({
      status: 400,
      body: 'Address on invalid network',
    });
    expect(await get(mempool, `/tx/${'0'.repeat(64)}`)).toEqual({
      status: 404,
      body: 'Transaction not found',
    });
    expect(await get(mempool, '/blocks/tip/height')).toEqual({ status: 200, body: String(node.height()) });
  });

  test('the two Esplora adapters can lie about a balance and about the tip independently', async () => {
    const { address } = createBitcoinKey();
    await pay(address, 5000n);
    await node.mine(1);
    faults.set('esplora1', [
      { kind: 'wrongBalance', by: 700 },
      { kind: 'staleTip', by: 0 },
    ]);
    expect((await get(mempool, `/address/${address}`)).body.chain_stats.funded_txo_sum).toBe(5700);
    faults.set('esplora2', { kind: 'staleTip', by: 1 });
    expect((await get(blockstream, `/address/${address}`)).body.chain_stats.funded_txo_sum).toBe(0);
    expect((await get(blockstream, '/blocks/tip/height')).body).toBe(String(node.height() - 1));
  });
});

describe('a reorganization', () => {
  test('puts a payment back into the memory pool, and the next block includes it again', async () => {
    const { address } = createBitcoinKey();
    const txid = await pay(address, 9000n);
    await node.mine(2);
    const [height, hash] = [node.height(), await node.blockHash(node.height())];
    await node.reorg(2);
    expect(node.height()).toBe(height + 1);
    expect(await node.blockHash(height)).not.toBe(hash);
    expect((await get(mempool, `/tx/${txid}/status`)).body).toEqual({ confirmed: false });
    await node.mine(1);
    expect((await get(mempool, `/tx/${txid}/status`)).body).toMatchObject({ confirmed: true });
  });

  test('a reorganization can lose a payment permanently', async () => {
    const { address } = createBitcoinKey();
    const [kept, lost] = [await pay(address, 9000n), await pay(address, 8000n)];
    await node.mine(1);
    await node.reorg(1, [lost]);
    await node.mine(1);
    expect((await get(mempool, `/tx/${lost}`)).status).toBe(404);
    expect((await get(mempool, `/tx/${kept}/status`)).body).toMatchObject({ confirmed: true });
    expect((await get(mempool, `/address/${address}`)).body.chain_stats.funded_txo_sum).toBe(9000);
  });
});
