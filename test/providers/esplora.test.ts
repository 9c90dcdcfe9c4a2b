import { describe, expect, it } from 'vitest';
import { createEsplora } from '../../src/providers/esplora.ts';
import { eachScene } from '../kit/scenes.ts';
import { type Recorded, replay } from './replay.ts';

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

const at = (path: string, answer: Recorded) => {
  const { fetch, requests } = replay({ [`GET ${BASE}${path}`]: answer });
  return { esplora: createEsplora({ baseUrl: BASE, name: 'esplora-1', fetch }), requests };
};

/** The body of a balance. */
const sums = (funded: number, spent: number, pending = 0): string =>
  JSON.stringify({ address: ADDRESS, chain_stats: stats(funded, spent), mempool_stats: stats(0, pending) });
/** The body of a transaction. */
const shown = (change: object, txid = TXID): string => JSON.stringify(tx(txid, change));
const withStatus = (status: object): string => shown({ status });
const PAID = `{"txid":"${TXID}","inputs":[{"address":"bc1qfrom","value":"70000"}],"outputs":[{"address":"${ADDRESS}","value":"62386"},{"address":null,"value":"0"}]`;

type Esplora = ReturnType<typeof createEsplora>;
const READS: Readonly<Record<string, readonly [path: string, read: (esplora: Esplora) => Promise<unknown>]>> =
  {
    balance: [`/address/${ADDRESS}`, (esplora) => esplora.balance(ADDRESS)],
    height: ['/blocks/tip/height', (esplora) => esplora.tipHeight()],
    hash: ['/blocks/tip/hash', (esplora) => esplora.tipHash()],
    block: ['/block-height/900000', (esplora) => esplora.blockHash(900_000)],
    tx: [`/tx/${TXID}`, (esplora) => esplora.tx(TXID)],
  };

/** The response, and what is read from it: sats as text, or the reason of a failure. */
eachScene(`
  a balance includes only confirmed money; the mempool sum is separate and may be negative | balance | ${sums(184_000, 60_000, 1_000)} | {"confirmed":"124000","confirmedTxs":1,"pendingDelta":"-1000","pendingSpent":"1000","pendingTxs":1}
  the balance of an address that was never used is zero, not a failure | balance | ${sums(0, 0)} | {"confirmed":"0","confirmedTxs":1,"pendingDelta":"0","pendingSpent":"0","pendingTxs":1}
  a balance without a mempool part is a failure                | balance | {"chain_stats":${JSON.stringify(stats(1, 0))}} | unexpected_shape
  a balance with a fraction of a sat is a failure              | balance | ${sums(1.5, 0)} | unexpected_shape
  a negative sum of receipts is a failure                      | balance | ${sums(-1, 0)} | unexpected_shape
  a balance that shows more spent than received is a failure   | balance | ${sums(7, 8)} | unexpected_shape
  a balance beyond exact numbers is a failure                  | balance | ${sums(7, 0).replace(':7,', ':9007199254740993,')} | unexpected_shape
  the height of the tip is read from plain text                | height | 900001 | 900001
  the height of the tip is not read from HTML                  | height | <html> | not_a_height
  the height of the tip is not read from nothing               | height |  | not_a_height
  the height of the tip is not read from a negative number     | height | -1 | not_a_height
  the height of the tip is not read from a huge number         | height | ${'9'.repeat(10)} | not_a_height
  the height of the tip is not read from a 429 page            | height | 429 <html> | status_429
  the hash of the tip is read from plain text                  | hash | ${'d'.repeat(64)} | "${'d'.repeat(64)}"
  the hash of the tip is not read from nothing                 | hash |  | not_a_hash
  the hash of the tip is not read from capitals                | hash | ${'D'.repeat(64)} | not_a_hash
  the hash of the tip is not read from one digit too few       | hash | ${'d'.repeat(63)} | not_a_hash
  the hash of a block is read from plain text                  | block | ${'d'.repeat(64)} | "${'d'.repeat(64)}"
  the hash of a block is null above the tip                    | block | 404 Block not found | null
  a transaction has its outputs in order, with their addresses if any, and its block | tx | ${shown({})} | ${PAID},"block":{"height":900000,"time":1790000000}}
  a transaction that is unconfirmed with its keys omitted has no block         | tx | ${withStatus({ confirmed: false })} | ${PAID},"block":null}
  a transaction that is confirmed without a height has no block                | tx | ${withStatus({ confirmed: true, block_time: 1 })} | ${PAID},"block":null}
  a transaction that is confirmed without a time has no block                  | tx | ${withStatus({ confirmed: true, block_height: 1 })} | ${PAID},"block":null}
  a transaction that is unconfirmed with a height left over has no block       | tx | ${withStatus({ confirmed: false, block_height: 1, block_time: 1 })} | ${PAID},"block":null}
  a transaction that the index does not know is null           | tx | 404 Transaction not found | null
  a different transaction than requested is a failure, because an index could present any payment as ours | tx | ${shown({}, 'e'.repeat(64))} | other_txid
  status 400 is a failure, not an unknown transaction          | tx | 400 Invalid hex string | status_400
  a txid in capitals is a failure, not an unknown transaction  | tx | ${shown({}, 'A'.repeat(64))} | unexpected_shape
  a transaction with a value of half a sat is a failure        | tx | ${shown({ vout: [{ scriptpubkey_address: ADDRESS, value: 0.5 }] })} | unexpected_shape
  a transaction without outputs is a failure                   | tx | ${shown({ vout: undefined })} | unexpected_shape
`)('%s', async (_title, what = '', response = '', expected) => {
  const [, status = '200', body] = /^(?:(\d{3}) )?(.*)$/.exec(response) ?? [];
  const [path, read] = READS[what] ?? [];
  if (!path || !read) throw new Error(`no read ${what}`);
  const { esplora } = at(path, { status: Number(status), body });
  const texts = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  const found = await read(esplora).then(
    (value) => JSON.stringify(value, texts),
    ({ details }) => {
      expect(details.upstream).toBe('esplora-1');
      return details.reason;
    },
  );
  expect(found).toBe(expected);
});

it('a number with a line feed is refused as the height of the tip', async () => {
  const { esplora } = at('/blocks/tip/height', { body: '900001\n' });
  await expect(esplora.tipHeight()).rejects.toMatchObject({ details: { reason: 'not_a_height' } });
});

it('escapes the address in the path of a request', async () => {
  const { esplora, requests } = at(`/address/${encodeURIComponent('../tx/x?y')}`, { body: sums(1, 0) });
  await esplora.balance('../tx/x?y');
  expect(requests[0]?.url).toBe(`${BASE}/address/..%2Ftx%2Fx%3Fy`);
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
