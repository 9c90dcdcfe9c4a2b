import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BitcoinNode, startBitcoinNode } from './bitcoin-node.ts';
import { payBitcoin } from './bitcoin-wallet.ts';
import { startEsploraAdapter } from './esplora-adapter.ts';
import { createFaultBook } from './fault-book.ts';
import type { Upstream } from './fault-gate.ts';
import { createBitcoinKey } from './keys.ts';
import { createRequestCounts } from './request-counts.ts';

const bank = createBitcoinKey();
let node: BitcoinNode;
let esplora: Upstream;

beforeAll(async () => {
  node = await startBitcoinNode({ coinbaseKeyHash: bank.script.subarray(2) });
  esplora = await startEsploraAdapter({
    name: 'esplora1',
    node,
    faults: createFaultBook(),
    counts: createRequestCounts(),
  });
});
afterAll(async () => {
  await esplora.stop();
  await node.close();
});

async function get(path: string) {
  const response = await fetch(`${esplora.url}/api${path}`);
  const body = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status: response.status, body: isJson ? JSON.parse(body) : body };
}

const pay = (to: string, sats: bigint) => payBitcoin(node, bank, [{ address: to, sats }]);

test('simultaneous payments spend different coins', async () => {
  const [first, second] = await Promise.all([
    pay(createBitcoinKey().address, 5_000n),
    pay(createBitcoinKey().address, 5_000n),
  ]);
  expect(first).not.toBe(second);
});

test('the Esplora adapter pages the history of an address as the public services do', async () => {
  const { address } = createBitcoinKey();
  for (let count = 0; count < 30; count += 1) await pay(address, 1000n + BigInt(count));
  await node.mine(1);
  const first = (await get(`/address/${address}/txs/chain`)).body;
  expect(first).toHaveLength(25);
  const second = (await get(`/address/${address}/txs/chain/${first[24].txid}`)).body;
  expect(second).toHaveLength(5);
  expect(new Set([...first, ...second].map((tx: { txid: string }) => tx.txid)).size).toBe(30);
});

test('the Esplora adapter refuses in plain text with the status of the public services', async () => {
  expect(await get('/address/nonsense')).toEqual({ status: 400, body: 'Invalid Bitcoin address' });
  expect(await get('/address/tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx')).toEqual({
    status: 400,
    body: 'Address on invalid network',
  });
  expect(await get(`/tx/${'0'.repeat(64)}`)).toEqual({ status: 404, body: 'Transaction not found' });
});

describe('a reorganization', () => {
  test('a reorganization returns a payment to the memory pool, and the next block includes it again', async () => {
    const { address } = createBitcoinKey();
    const txid = await pay(address, 9000n);
    await node.mine(2);
    const [height, hash] = [node.height(), await node.blockHash(node.height())];
    await node.reorg(2);
    expect(node.height()).toBe(height + 1);
    expect(await node.blockHash(height)).not.toBe(hash);
    expect((await get(`/tx/${txid}`)).body.status).toEqual({ confirmed: false });
    await node.mine(1);
    expect((await get(`/tx/${txid}`)).body.status).toMatchObject({ confirmed: true });
  });

  test('a reorganization can lose a payment permanently', async () => {
    const { address } = createBitcoinKey();
    const [kept, lost] = [await pay(address, 9000n), await pay(address, 8000n)];
    await node.mine(1);
    await node.reorg(1, [lost]);
    await node.mine(1);
    expect((await get(`/tx/${lost}`)).status).toBe(404);
    expect((await get(`/tx/${kept}`)).body.status).toMatchObject({ confirmed: true });
    expect((await get(`/address/${address}`)).body.chain_stats.funded_txo_sum).toBe(9000);
  });
});
