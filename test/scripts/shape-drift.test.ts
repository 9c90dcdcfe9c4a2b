import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Exchange } from '../../scripts/probe/read-only-fetch.ts';
import { shapeDrift } from '../../scripts/probe/shape-drift.ts';

const recorded = (path: string): string => readFileSync(`test/fixtures/recorded/${path}`, 'utf8');
const exchange = (over: Partial<Exchange> & Pick<Exchange, 'request'>): Exchange => ({
  status: 200,
  headers: {},
  text: '',
  ...over,
});
const get = (path: string, text: string, status = 200): Exchange =>
  exchange({ request: { method: 'GET', url: `https://upstream.test${path}` }, text, status });
const rpc = (method: string, text: string): Exchange =>
  exchange({ request: { method: 'POST', url: 'https://node.test/key', body: { method } }, text });

it('the shape check compares quotes, refusals, states, tokens and transactions with the recorded ones', () => {
  const quote = { method: 'POST', url: 'https://upstream.test/v0/quote', body: { dry: true } };
  expect(
    shapeDrift([
      exchange({ request: quote, status: 201, text: recorded('one-click/quote-dry-sol-zec.json') }),
      exchange({ request: quote, status: 400, text: recorded('one-click/quote-400-invalid.json') }),
      get('/v0/status', recorded('one-click/status-pending-btc-base-usdc.json')),
      get('/v0/tokens', recorded('one-click/tokens-btc-sol.json')),
      rpc('getTransaction', `{"result":${recorded('solana/transaction-v1-failed.json')}}`),
      rpc('getTransaction', recorded('solana/error-version-1-unsupported.json')),
    ]),
  ).toEqual([
    'shape POST /v0/quote: as recorded',
    'shape GET /v0/status: as recorded',
    'shape GET /v0/tokens: as recorded',
    'shape getTransaction: as recorded',
  ]);
});

it('the shape check names each difference once, with its call', () => {
  const status = JSON.parse(recorded('one-click/status-pending-btc-base-usdc.json')) as object;
  const changed = JSON.stringify({ ...status, status: 5 });
  expect(shapeDrift([get('/v0/status', changed), get('/v0/status', changed)])).toEqual([
    'shape GET /v0/status: status: string is now number',
  ]);
  const tokens = JSON.parse(recorded('one-click/tokens-btc-sol.json')) as { assetId: string }[];
  expect(shapeDrift([get('/v0/tokens', JSON.stringify(tokens.slice(1)))])).toEqual([
    `shape GET /v0/tokens: no row ${tokens[0]?.assetId}`,
  ]);
});

it('the shape check lists unrecorded calls, and omits addresses and keys from the list', () => {
  const address = '11111111111111111111111111111111';
  expect(
    shapeDrift([
      get(`/api/address/${address}`, '{}'),
      get('/v1/quote', '{}', 404),
      rpc('getEpochInfo', '{}'),
      rpc('getTransaction', '{"result":null}'),
    ]),
  ).toEqual([
    'shape GET /api/address/:id: no recorded response to compare with (status 200)',
    'shape GET /v1/quote: no recorded response to compare with (status 404)',
    'shape getEpochInfo: no recorded response to compare with (status 200)',
    'shape getTransaction: no recorded response to compare with (status 200)',
  ]);
});
