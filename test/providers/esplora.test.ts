import { describe, expect, it } from 'vitest';
import { createEsplora } from '../../src/providers/esplora.ts';
import { eachRow } from '../kit/scenes.ts';
import { HTML_429, type Recorded, replay } from './replay.ts';

const BASE = 'https://esplora.test/api';
const ADDRESS = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const TXID = 'a'.repeat(64);
const stats = (funded: number, spent: number) => ({
  ...{ funded_txo_count: 1, funded_txo_sum: funded, spent_txo_count: 0, spent_txo_sum: spent, tx_count: 1 },
});
const paid = { scriptpubkey_address: 'bc1qfrom', value: 70_000 };
const tx = (txid: string, change: object = {}) => ({
  ...{ txid, version: 2 },
  vin: [
    { txid: 'b'.repeat(64), vout: 0, prevout: paid, is_coinbase: false },
    { txid: '0'.repeat(64), vout: 0, prevout: null, is_coinbase: true },
  ],
  vout: [
    { scriptpubkey_address: ADDRESS, value: 62_386 },
    { scriptpubkey: '6a', value: 0 },
  ],
  status: { confirmed: true, block_height: 900_000, block_hash: 'c'.repeat(64), block_time: 1_790_000_000 },
  ...change,
});

const at = (path: string, answer: Recorded | Error | (Recorded | Error)[]) => {
  const { fetch, requests } = replay({ [`GET ${BASE}${path}`]: answer });
  return { esplora: createEsplora({ baseUrl: BASE, name: 'esplora-1', fetch }), requests };
};

const balanceOf = (funded: number, spent: number, pending = 0) => ({
  body: { address: ADDRESS, chain_stats: stats(funded, spent), mempool_stats: stats(0, pending) },
});

describe('balance', () => {
  it('a balance includes only confirmed money; the mempool sum is separate and may be negative', async () => {
    const { esplora } = at(`/address/${ADDRESS}`, balanceOf(184_000, 60_000, 1_000));
    expect(await esplora.balance(ADDRESS)).toEqual({
      ...{ confirmed: 124_000n, confirmedTxs: 1, pendingDelta: -1_000n, pendingSpent: 1_000n, pendingTxs: 1 },
    });
  });

  it('the balance of an address that was never used is zero, not an error', async () => {
    const { esplora } = at(`/address/${ADDRESS}`, balanceOf(0, 0));
    const none = { confirmed: 0n, pendingDelta: 0n, pendingSpent: 0n };
    expect(await esplora.balance(ADDRESS)).toMatchObject(none);
  });

  it.each<[string, Recorded]>([
    ['no mempool part', { body: { chain_stats: stats(1, 0) } }],
    ['a fraction of a sat', balanceOf(1.5, 0)],
    ['a negative sum', balanceOf(-1, 0)],
    [
      'a sum beyond exact numbers',
      { body: JSON.stringify(balanceOf(7, 0).body).replace(':7,', ':9007199254740993,') },
    ],
  ])('the read of a balance fails after this response: %s', async (_name, answer) => {
    const { esplora } = at(`/address/${ADDRESS}`, answer);
    await expect(esplora.balance(ADDRESS)).rejects.toMatchObject({
      details: { upstream: 'esplora-1', reason: 'unexpected_shape' },
    });
  });

  it('escapes the address in the path of a request', async () => {
    const { esplora, requests } = at(`/address/${encodeURIComponent('../tx/x?y')}`, balanceOf(1, 0));
    await esplora.balance('../tx/x?y');
    expect(requests[0]?.url).toBe(`${BASE}/address/..%2Ftx%2Fx%3Fy`);
  });
});

it('the height and hash of the tip are read from plain text', async () => {
  expect(await at('/blocks/tip/height', { body: '900001' }).esplora.tipHeight()).toBe(900_001);
  expect(await at('/blocks/tip/hash', { body: 'd'.repeat(64) }).esplora.tipHash()).toBe('d'.repeat(64));
});

eachRow<[kind: 'height' | 'hash', name: string, answer: Recorded, reason: string]>(`
  height | HTML                      | { "body": "<html>" }            | not_a_height
  height | nothing                   | { "body": "" }                  | not_a_height
  height | a negative number         | { "body": "-1" }                | not_a_height
  height | a number with a line feed | { "body": "900001\\n" }         | not_a_height
  height | a huge number             | { "body": "${'9'.repeat(10)}" } | not_a_height
  height | a 429 page                | ${JSON.stringify(HTML_429)}     | status_429
  hash   | nothing                   | { "body": "" }                  | not_a_hash
  hash   | capitals                  | { "body": "${'D'.repeat(64)}" } | not_a_hash
  hash   | a digit less              | { "body": "${'d'.repeat(63)}" } | not_a_hash
`)('the %s of the tip is not read from %s', async (kind, _name, answer, reason) => {
  const { esplora } = at(`/blocks/tip/${kind}`, answer);
  const tip = kind === 'height' ? esplora.tipHeight() : esplora.tipHash();
  await expect(tip).rejects.toMatchObject({ details: { reason } });
});

describe('a transaction', () => {
  const read = (answer: Recorded | Error) => at(`/tx/${TXID}`, answer).esplora.tx(TXID);

  it('a transaction has its outputs in order, with their addresses if any, and its block', async () => {
    expect(await read({ body: tx(TXID) })).toEqual({
      txid: TXID,
      inputs: [{ address: 'bc1qfrom', value: 70_000n }],
      outputs: [
        { address: ADDRESS, value: 62_386n },
        { address: null, value: 0n },
      ],
      block: { height: 900_000, time: 1_790_000_000 },
    });
  });

  it.each([
    ['unconfirmed with its keys omitted', { confirmed: false }],
    ['confirmed without a height', { confirmed: true, block_time: 1 }],
    ['confirmed without a time', { confirmed: true, block_height: 1 }],
    ['unconfirmed with a height left over', { confirmed: false, block_height: 1, block_time: 1 }],
  ])('a transaction that is %s has no block', async (_name, status) => {
    expect((await read({ body: tx(TXID, { status }) }))?.block).toBeNull();
  });

  it('a transaction that the index does not know is null', async () => {
    expect(await read({ status: 404, body: 'Transaction not found' })).toBeNull();
  });

  it('a different transaction than requested is an error, because an index could present any payment as ours', async () => {
    await expect(read({ body: tx('e'.repeat(64)) })).rejects.toMatchObject({
      details: { reason: 'other_txid' },
    });
  });

  it.each<[string, Recorded | Error, string]>([
    ['status 400', { status: 400, body: 'Invalid hex string' }, 'status_400'],
    ['a txid in capitals', { body: tx('A'.repeat(64)) }, 'unexpected_shape'],
    [
      'a value of half a sat',
      { body: tx(TXID, { vout: [{ scriptpubkey_address: ADDRESS, value: 0.5 }] }) },
      'unexpected_shape',
    ],
    ['no outputs', { body: tx(TXID, { vout: undefined }) }, 'unexpected_shape'],
  ])('%s is a failure, not an unknown transaction', async (_name, answer, reason) => {
    await expect(read(answer)).rejects.toMatchObject({ details: { reason } });
  });
});

describe('the history of an address', () => {
  const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];

  it('the history of an address has each txid once, even if an index lists a mempool transaction twice', async () => {
    const { esplora } = at(`/address/${ADDRESS}/txs/mempool`, { body: [tx(A), tx(B), tx(A)] });
    expect((await esplora.mempoolTxs(ADDRESS)).map(({ txid }) => txid)).toEqual([A, B]);
  });

  it('the history starts with the newest confirmed page and continues after the last transaction seen', async () => {
    expect(
      await at(`/address/${ADDRESS}/txs/chain`, { body: [tx(A)] }).esplora.chainTxs(ADDRESS),
    ).toHaveLength(1);
    const { esplora, requests } = at(`/address/${ADDRESS}/txs/chain/${A}`, { body: [] });
    expect(await esplora.chainTxs(ADDRESS, A)).toEqual([]);
    expect(requests).toHaveLength(1);
  });

  it('the history returns the first rows of a page above 2 MiB, and a cursor for the others', async () => {
    const many = Array(11_000).fill({ scriptpubkey_address: 'bc1pfeessrawgf', value: 240 });
    const large = [A, B, 'c'.repeat(64), 'd'.repeat(64)].map((txid) => tx(txid, { vout: many }));
    const size = JSON.stringify(large).length;
    expect(size).toBeGreaterThan(2 * 1024 * 1024);
    const { esplora } = at(`/address/${ADDRESS}/txs/chain`, { body: large });
    const rows = await esplora.chainTxs(ADDRESS);
    expect(rows.map(({ txid }) => txid)).toEqual([A, B, 'c'.repeat(64)]);
    expect(rows[2]?.outputs).toHaveLength(11_000);
  });

  it('the history returns every row of a page with megabytes of scripts, because scripts are dropped', async () => {
    const witness = ['ff'.repeat(390_000)];
    const script = 'OP_CHECKMULTISIGVERIFY '.repeat(200_000);
    const prevout = { scriptpubkey_address: ADDRESS, value: 5 };
    const vin = [{ prevout, witness, inner_witnessscript_asm: script }];
    const body = [tx(A, { vin }), tx(B, { vin })];
    const { esplora } = at(`/address/${ADDRESS}/txs/chain`, { body });
    const rows = await esplora.chainTxs(ADDRESS);
    expect(rows.map(({ txid, inputs }) => [txid, inputs])).toEqual(
      [A, B].map((txid) => [txid, [{ address: ADDRESS, value: 5n }]]),
    );
    const one = at(`/tx/${A}`, { body: body[0] }).esplora;
    expect((await one.tx(A))?.txid).toBe(A);
  });

  it('the history of an address fails if even the first row of a page is too large', async () => {
    const vout = Array.from({ length: 50_000 }, () => ({ scriptpubkey_address: ADDRESS, value: 1 }));
    const { esplora } = at(`/address/${ADDRESS}/txs/chain`, { body: [tx(A, { vout })] });
    await expect(esplora.chainTxs(ADDRESS)).rejects.toMatchObject({ details: { reason: 'too_large' } });
  });
});

const read = (answer: Recorded) => at('/block-height/900000', answer).esplora.blockHash(900_000);

it('the hash of a block is read from plain text, or is null above the tip', async () => {
  expect(await read({ body: 'd'.repeat(64) })).toBe('d'.repeat(64));
  expect(await read({ status: 404, body: 'Block not found' })).toBeNull();
});
