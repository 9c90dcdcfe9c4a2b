/** Every list over HTTP, walked to its end while rows are inserted, on D1 with 2,000 rows. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { createApp, type Deps } from '../../src/app.ts';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { createAbsrStore, createProofStore } from '../../src/features/reserves/reserves-store.ts';
import { createSwapStore } from '../../src/features/swap/swap-store.ts';
import { createSearchStore } from '../../src/features/tokens/search-store.ts';
import { createTokenStore } from '../../src/features/tokens/token-store.ts';
import { limitedD1 } from '../kit/platform/d1.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

/** Ten times the rows that a page may read. */
const ROWS = 2_000;
const CREATOR = encodeBase58(new Uint8Array(32).fill(3));

/** Rows that D1 has read, for each statement. */
let read: number[] = [];
const counted = limitedD1(env.DB, ({ meta }) => void read.push(meta.rows_read));

const now = () => Date.parse('2027-01-01T00:00:00.000Z');
const deps = {
  log: () => undefined,
  tokens: {
    tokens: createTokenStore(counted, counted),
    search: createSearchStore(env.DB),
    facts: { memory: { readMany: async () => new Map() }, readAccounts: async () => ({ accounts: [] }) },
    officialMints: new Map(),
    now,
  },
  swap: { swaps: createSwapStore(counted), now },
  reserves: { absr: createAbsrStore(counted), proofs: createProofStore(counted), now },
};
const app = createApp(() => deps as unknown as Deps);

const series = (from: number, to: number): string =>
  `WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${to})`;
const time = "strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + i, 'unixepoch')";

/** Inserts rows `from` to `to`. */
const INSERTS = {
  tokens: (from: number, to: number) =>
    `INSERT INTO tokens (id, revision, token_id, mint_address, creator_address, name, symbol, listed_at, created_at, journal)
     ${series(from, to)} SELECT i, 1, i, 'mint' || i, '${CREATOR}', 'moon ' || i, 'M' || i, 'x', 'x',
       json_object('tokenId', i, 'mint', 'mint' || i, 'name', 'moon ' || i, 'symbol', 'M' || i, 'decimals', 9, 'supply', '1',
         'program', 'token', 'createdAt', 0, 'listedAt', 0) FROM n`,
  listings: (from: number, to: number) =>
    // Two at each time, so that the time alone does not order them.
    `INSERT INTO listings (id, revision, token_id, status, created_at, journal)
     ${series(from, to)} SELECT 'listing' || i, 1, 7, 'confirmed', strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + i / 2, 'unixepoch'),
       json_object('view', json_object('id', 'listing' || i, 'kind', 'listing', 'status', 'completed', 'detail', 'completed',
         'reason', null, 'subject', json_object('tokenId', 7), 'feeLamports', '1', 'receivedLamports', '1', 'reference', 'r',
         'createdAt', strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + i / 2, 'unixepoch'), 'expiresAt', '2026-01-01T00:00:00.000Z', 'paidAt', null,
         'completedAt', null, 'paymentSignature', null, 'reportedSignature', null, 'tokenId', 7, 'mintAddress', 'm', 'refunds', json('[]'))) FROM n`,
  operations: (from: number, to: number) =>
    // A tenth never landed, and a tenth has no block time.
    `INSERT INTO operations (id, seq, revision, kind, status, detail, signature, amount_lamports, expected_sats, btc_sats, landed_slot,
       block_time, created_at, updated_at, journal)
     ${series(from, to)} SELECT 'swap:' || i, i, 1, 'swap', 'finished', 'done', 'sig' || i, '1', '1', '1', CASE i % 10 WHEN 0 THEN NULL ELSE i END,
       CASE i % 10 WHEN 1 THEN NULL ELSE 1767225600 + i / 3 END, 'x', 'x', '{}' FROM n`,
  proofs: (from: number, to: number) =>
    `INSERT INTO proofs (id, revision, hash, created_at, journal)
     ${series(from, to)} SELECT ${time}, i, 'hash' || i, 'x', json_object('message', ?, 'timestamp', ${time}, 'hash', 'hash' || i,
       'bitcoin', json_object('scheme', 's', 'signature', 's', 'unprefixed', null), 'solana', json_object('scheme', 's', 'signature', 's'),
       'offline', json('false')) FROM n`,
} as const;

const LISTS = [
  ['/api/tokens', 'tokens', 'tokens', 'id', ROWS],
  [`/api/tokens?creator=${CREATOR}`, 'tokens', 'tokens', 'id', ROWS],
  ['/api/listings/search', 'tokens', 'tokens', 'id', ROWS],
  ['/api/listings', 'listings', 'listings', 'listing_request_id', ROWS],
  ['/api/listings?token_id=7', 'listings', 'listings', 'listing_request_id', ROWS],
  ['/api/exchanges/transactions', 'operations', 'transactions', 'signature', (ROWS * 9) / 10],
  ['/api/arbitrage/transactions', 'operations', 'transactions', 'signature', ROWS],
] as const;

const get = async (path: string, init: RequestInit = {}) => {
  const response = await app.request(path, init, env);
  expect([path, response.status]).toEqual([path, 200]);
  return response;
};
const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;

beforeEach(() => {
  read = [];
});

describe.each(LISTS)('%s', (path, table, member, key, expected) => {
  it('pages through 2,000 rows at equal cost and shows each once while rows are inserted', async () => {
    await env.DB.exec(INSERTS[table](1, ROWS).replaceAll('\n', ' '));
    const seen = new Set<unknown>();
    let shown = 0;
    let newest = ROWS;
    let cursor: string | null = null;
    let pages = 0;
    const costs: number[] = [];
    do {
      read = [];
      const response = await get(withQuery(path, `limit=100${cursor ? `&cursor=${cursor}` : ''}`));
      const body = await response.json<Record<string, unknown> & { next_cursor: string | null }>();
      const rows = body[member] as Record<string, unknown>[];
      for (const row of rows) seen.add(row[key]);
      shown += rows.length;
      cursor = body.next_cursor;
      costs.push(Math.max(...read));
      if (++pages % 4 === 0) {
        await env.DB.exec(INSERTS[table](newest + 1, newest + 3).replaceAll('\n', ' '));
        newest += 3;
      }
    } while (cursor !== null && pages < 40);
    expect(seen.size).toBe(shown);
    // Rows without a block time count as the oldest, so later insertions of such rows still appear.
    expect(shown).toBeGreaterThanOrEqual(expected);
    expect(shown).toBeLessThanOrEqual(expected + newest - ROWS);
    // Each row, and its entry in the index.
    expect(Math.max(...costs)).toBeLessThanOrEqual(210);
  });
});

it('lists 250 archived proofs in the order of their chain at 210 rows a page, although the clock was ahead for one proof', async () => {
  await env.DB.prepare(INSERTS.proofs(1, 250)).bind('x').run();
  const ahead = '2026-02-01T00:00:00.000Z';
  await env.DB.prepare(
    `UPDATE proofs SET id = ?1, journal = json_set(journal, '$.timestamp', ?1) WHERE hash = 'hash50'`,
  )
    .bind(ahead)
    .run();
  const store = createProofStore(counted);
  const hashes: string[] = [];
  let after: string | undefined;
  let next = 250;
  do {
    read = [];
    const page = await store.list(50, { after });
    hashes.push(...page.map(({ hash }) => hash));
    after = page.at(-1)?.timestamp;
    expect(Math.max(...read)).toBeLessThanOrEqual(210);
    // D1 receives a proof between two pages, and the newest row again with a higher revision.
    next += 1;
    await env.DB.prepare(INSERTS.proofs(next, next)).bind('x').run();
    await env.DB.exec(`UPDATE proofs SET revision = revision + 1000 WHERE hash = 'hash${next}'`);
  } while (after !== undefined && hashes.length < 1_000);
  expect(hashes).toEqual(Array.from({ length: 250 }, (_, at) => `hash${250 - at}`));
  const from = async (before: string) => (await store.list(1, { before })).map(({ timestamp }) => timestamp);
  // The site links each proof by the millisecond after it.
  expect(await from('2026-02-01T00:00:00.001Z')).toEqual([ahead]);
  expect(await from('2026-01-01T00:00:40.001Z')).toEqual(['2026-01-01T00:00:40.000Z']);
  read = [];
  await store.newest();
  expect(Math.max(...read)).toBeLessThanOrEqual(2);
});

it('finds the last proof of each day with one search per day, for any number of proofs', async () => {
  // A proof each minute of three days, 4,320 in all.
  const minutes = INSERTS.proofs(1, 4_320).replaceAll('+ i,', '+ i * 60,');
  await env.DB.prepare(minutes).bind('x').run();
  read = [];
  const days = await createProofStore(counted).listDaily(10);
  expect(days.map(({ timestamp }) => timestamp)).toEqual([
    '2026-01-04T00:00:00.000Z',
    '2026-01-03T23:59:00.000Z',
    '2026-01-02T23:59:00.000Z',
    '2026-01-01T23:59:00.000Z',
  ]);
  const rest = await createProofStore(counted).listDaily(10, { after: '2026-01-03T23:59:00.000Z' });
  expect(rest).toEqual(days.slice(2));
  expect(Math.max(...read)).toBeLessThanOrEqual(30);
});

it('refuses a cursor that the list did not issue itself', async () => {
  await env.DB.exec(INSERTS.tokens(1, 30).replaceAll('\n', ' '));
  const { next_cursor: cursor } = await (await get('/api/tokens?limit=5')).json<{ next_cursor: string }>();
  for (const path of [
    '/api/listings',
    '/api/listings/search',
    '/api/exchanges/transactions',
    '/api/arbitrage/transactions',
    '/api/proof/history',
  ])
    for (const text of [cursor, 'x', '!', 'eyJhIjoxfQ']) {
      const response = await app.request(withQuery(path, `cursor=${text}`), {}, env);
      expect([path, text, response.status]).toEqual([path, text, 400]);
      expect(await response.json()).toMatchObject({ error_code: 'INVALID_INPUT' });
    }
});

describe('CSV', () => {
  it('CSV has the members of the JSON as columns, an empty cell for null, and the next page in Link', async () => {
    await env.DB.exec(INSERTS.operations(1, 5).replaceAll('\n', ' '));
    const headers = { accept: 'text/csv' };
    const response = await get('/api/exchanges/transactions?limit=2', { headers });
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(response.headers.get('vary')).toContain('Accept');
    expect(await response.text()).toBe(
      'signature,txId,solAmount,btcSats,blockTime,status,detail,amountLamports,btcSatoshis\r\n' +
        'sig5,,1e-9,1,1767225601,finished,done,1,1\r\nsig4,,1e-9,1,1767225601,finished,done,1,1\r\n',
    );
    const next = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1] ?? '';
    expect(await (await get(next, { headers })).text()).toContain('sig3,');
    const absr = await get('/api/arbitrage/transactions', { headers });
    expect((await absr.text()).split('\r\n')[0]).toBe(
      'signature,txId,type,amountSats,amountUsd,blockTime,amountSatoshis',
    );
  });

  it.each(['*/*', 'application/json', 'text/html', 'application/json, text/csv;q=0.5'])(
    'a caller that accepts %s gets JSON, not CSV',
    async (accept) => {
      const response = await get('/api/exchanges/transactions', { headers: { accept } });
      expect(response.headers.get('content-type')).toContain('application/json');
      expect(await response.json()).toEqual({ transactions: [], next_cursor: null });
    },
  );
});
