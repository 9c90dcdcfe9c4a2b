import { expect, it } from 'vitest';
import { type Exchange, isRead, readOnlyFetch } from '../../scripts/probe/read-only-fetch.ts';
import { replay } from '../providers/replay.ts';

const rpc = (method: string) => ({ jsonrpc: '2.0', id: 1, method, params: [] });

it.each([
  ['GET', 'https://a.test/api/address/x', undefined],
  ['POST', 'https://a.test/v0/quote', { dry: true, amount: '1' }],
  ['POST', 'https://a.test/info', { type: 'allMids' }],
  ['POST', 'https://a.test/', rpc('getEpochInfo')],
])('the probe allows the read %s %s %j', (method, url, body) => {
  expect(isRead(url, method, body)).toBe(true);
});

it.each([
  ['a quote that opens a deposit address', 'POST', 'https://a.test/v0/quote', { dry: false }],
  ['a quote that does not state it', 'POST', 'https://a.test/v0/quote', { amount: '1' }],
  ['a deposit notice', 'POST', 'https://a.test/v0/deposit/submit', { dry: true, txHash: 'x' }],
  ['a transaction', 'POST', 'https://a.test/', rpc('sendTransaction')],
  ['an airdrop', 'POST', 'https://a.test/', rpc('requestAirdrop')],
  ['an order', 'POST', 'https://a.test/exchange', { type: 'order' }],
  ['another request to the venue', 'POST', 'https://a.test/info', { type: 'order' }],
  ['a batch', 'POST', 'https://a.test/', [rpc('sendTransaction')]],
  ['an upload', 'PUT', 'https://a.test/', undefined],
  ['a deletion', 'DELETE', 'https://a.test/', undefined],
])('the probe refuses %s before it sends anything', async (_what, method, url, body) => {
  const { fetch, requests } = replay({});
  const guarded = readOnlyFetch(fetch, () => undefined);
  const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  await expect(guarded(url, init)).rejects.toThrow('the probe only reads');
  expect(requests).toEqual([]);
});

it('the probe stores request, status, limits and the unchanged body, but no request header', async () => {
  const kept: Exchange[] = [];
  const headers = { 'content-type': 'text/html', 'ratelimit-remaining': '74', 'set-cookie': 'a=b' };
  const { fetch } = replay({ 'GET https://a.test/x': { status: 429, headers, body: '{"big":1e400} ' } });
  const response = await readOnlyFetch(fetch, (exchange) => kept.push(exchange))('https://a.test/x', {
    headers: { authorization: 'Bearer secret' },
  });
  expect(await response.text()).toBe('{"big":1e400} ');
  expect(kept).toEqual([
    {
      request: { method: 'GET', url: 'https://a.test/x' },
      status: 429,
      headers: { 'content-type': 'text/html', 'ratelimit-remaining': '74' },
      text: '{"big":1e400} ',
    },
  ]);
});
