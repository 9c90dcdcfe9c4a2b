import { expect, it } from 'vitest';
import { ChangeNow, readCoins } from '../../src/providers/changenow.ts';
import { eachRow, eachScene } from '../kit/scenes.ts';

const PAIR = { from: { ticker: 'sol', network: 'sol' }, to: { ticker: 'btc', network: 'btc' } };
const ORDER = { ...PAIR, amount: 123_456_789_123_456_780_000_000_000n, payoutAddress: 'bc1qpayout' };
const ASSETS = { fromCurrency: 'sol', fromNetwork: 'sol', toCurrency: 'btc', toNetwork: 'btc' };

type Sent = { url: URL; method: string; headers: Headers; body: string };

/** A provider with one response, and the requests that it received. */
function answering(status: number, body: unknown) {
  const sent: Sent[] = [];
  const changenow = new ChangeNow({
    baseUrl: 'https://changenow.test/v2',
    apiKey: 'canary-key',
    fetch: async (url, init = {}) => {
      sent.push({
        url: new URL(url),
        method: init.method ?? 'GET',
        headers: new Headers(init.headers),
        body: String(init.body ?? ''),
      });
      return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
    },
  });
  return { changenow, sent };
}

eachRow<[amount: unknown, atto: bigint]>(`
  "0.1"                  | 100000000000000000n
  0.1                    | 100000000000000000n
  1e-8                   | 10000000000n
  "1e-8"                 | 10000000000n
  123456789.12345678     | 123456789123456780000000000n
  "0.000000000000000001" | 1n
  "1E+3"                 | 1000000000000000000000n
  0                      | 0n
`)('the amount %s is %s attocoins', (amount, atto) => expect(readCoins(amount)).toBe(atto));

it('decimal places beyond the 18th are dropped, but rounded up for minimum amounts', () => {
  expect(readCoins('0.0000000000000000011')).toBe(1n);
  const raised = ['0.0000000000000000011', '1e-19', '1e-18'].map((text) => readCoins(text, 'raise'));
  expect(raised).toEqual([2n, 1n, 1n]);
});

const NO_AMOUNTS = [
  ...'|-1|abc|1,5|1e999|Infinity|.5|5.'.split('|'),
  '9'.repeat(65),
  null,
  undefined,
  -1,
  {},
  [],
  true,
];
it.each(NO_AMOUNTS)('%j is not an amount', (value) => expect(readCoins(value)).toBeUndefined());

it('the currency list keeps legacy ticker, ticker and network, and drops malformed rows', async () => {
  const kept = { ticker: 'usdt', network: 'eth', legacyTicker: 'usdterc20' };
  const row = { ...kept, name: 'Tether', tokenContract: null };
  const { changenow, sent } = answering(200, [row, { ticker: 'x' }, null, 'y']);
  expect(await changenow.currencies()).toEqual([kept]);
  expect(sent[0]?.url.href).toBe('https://changenow.test/v2/exchange/currencies?active=true&flow=standard');
});

eachRow<[name: string, status: number, body: unknown]>(`
  an empty list                   | 200 | []
  a list without known currencies | 200 | [{ "ticker": "x" }]
  an object                       | 200 | {}
  HTML                            | 200 | <html>
  a refusal                       | 403 | { "error": "invalid_api_key", "message": "canary-key" }
`)('%s as the currency list is a failure, never an empty list', async (_name, status, body) => {
  const failed = answering(status, body).changenow.currencies();
  await expect(failed).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
});

it('a range request names ticker and network of both currencies, and has the key only in its header', async () => {
  const range = { ...ASSETS, flow: 'standard', minAmount: 1e-8, maxAmount: null };
  const { changenow, sent } = answering(200, range);
  const value = { minAmount: 10_000_000_000n, maxAmount: null };
  expect(await changenow.range(PAIR)).toEqual({ ok: true, value });
  expect(sent[0]?.url.href).toBe(
    'https://changenow.test/v2/exchange/range?fromCurrency=sol&fromNetwork=sol&toCurrency=btc&toNetwork=btc&flow=standard',
  );
  expect(sent[0]?.headers.get('x-changenow-api-key')).toBe('canary-key');
});

it('a range has no upper bound if the response has none', async () => {
  const { changenow } = answering(200, { ...ASSETS, minAmount: '0.1' });
  expect(await changenow.range(PAIR)).toMatchObject({ ok: true, value: { maxAmount: null } });
});

it('an estimate sends its amount as a decimal string, and accepts an unknown time forecast', async () => {
  const { changenow, sent } = answering(200, { toAmount: 0.000621, transactionSpeedForecast: 7 });
  expect(await changenow.estimate(PAIR, ORDER.amount)).toEqual({
    ok: true,
    value: { toAmount: 621_000_000_000_000n, transactionSpeedForecast: null },
  });
  expect(sent[0]?.url.searchParams.get('fromAmount')).toBe('123456789.12345678');
});

const CREATED = {
  ...{ ...ASSETS, id: 'a1b2c3d4e5f6a7', fromAmount: 0.5, toAmount: 0.000621 },
  ...{ payinAddress: 'payin', payoutAddress: 'bc1qpayout' },
};

eachScene(`
  a code of its own   | 400 | {"error":"pair_is_inactive"}      | pair_is_inactive        | refused pair_is_inactive
  a code with 200     | 200 | {"error":"out_of_range"}          | out_of_range            | refused out_of_range
  a code of free text | 400 | {"error":"Key canary-key is bad"} | other                   | refused other
  too many requests   | 429 | <html>                            | rate_limited            | refused rate_limited
  an unknown key      | 403 | {"error":"invalid_api_key"}       | invalid_api_key         | refused invalid_api_key
  no authorization    | 401 |                                   | invalid_api_key         | refused invalid_api_key
  a firewall          | 403 | <html>                            | status_403              | refused status_403
  a server error      | 500 | {"error":"internal"}              | thrown status_500       | unknown status_500
  a bad gateway       | 502 | {"error":"bad_gateway"}           | thrown status_502       | unknown status_502
  a request timeout   | 408 | {"error":"timeout"}               | timeout                 | unknown status_408
  a redirect          | 302 |                                   | thrown status_302       | unknown status_302
  HTML                | 200 | <html>                            | thrown not_json         | unknown not_json
  half an answer      | 200 | {"id":"a1b2                       | thrown not_json         | unknown not_json
  null                | 200 | null                              | thrown unexpected_shape | unknown unexpected_shape
  no minimum          | 200 | minAmount                         | thrown unexpected_shape | created
  a minimum of -1     | 200 | minAmount=-1                      | thrown unexpected_shape | created
  no pay-in address   | 200 | payinAddress                      | read                    | unknown unexpected_shape
  a broken address    | 200 | payinAddress="a\\nb"              | read                    | unknown unexpected_shape
`)(
  '%s has one result for a read and one for a create call',
  async (_name, status, body = '', read, created) => {
    const [, member = '', , value = 'null'] = /^(\w+)(=(.*))?$/.exec(body === 'null' ? '' : body) ?? [];
    const whole = { ...CREATED, minAmount: 1, [member]: member === body ? undefined : JSON.parse(value) };
    const { changenow, sent } = answering(Number(status), member === '' ? body : whole);
    const outcome = await changenow.create(ORDER);
    expect(
      Object.values(outcome)
        .filter((part) => typeof part === 'string')
        .join(' '),
    ).toBe(created);
    expect(sent).toHaveLength(1);
    const range = await changenow.range(PAIR).then(
      (found) => (found.ok ? 'read' : found.code),
      (error) => `thrown ${error.code === 'UPSTREAM_FAILED' && error.details.reason}`,
    );
    expect(range).toBe(read);
  },
);

it('a create call is a POST with the exact amount of one side and an empty amount of the other', async () => {
  const { changenow, sent } = answering(200, CREATED);
  await changenow.create({ ...ORDER, refundAddress: 'back', payoutExtraId: '7' });
  expect(sent.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual(['POST /v2/exchange']);
  expect(JSON.parse(sent[0]?.body ?? '')).toEqual({
    ...{ ...ASSETS, fromAmount: '123456789.12345678', toAmount: '', flow: 'standard', type: 'direct' },
    ...{ address: 'bc1qpayout', extraId: '7', refundAddress: 'back', refundExtraId: '' },
  });
});

eachScene(`
  absent                |                                   | null
  null                  | ,"payinExtraId":null              | null
  empty                 | ,"payinExtraId":""                | null
  given                 | ,"payinExtraId":"1234"            | 1234
  a number              | ,"payinExtraId":35435481186486881 | 35435481186486881
  the destination tag 0 | ,"payinExtraId":0                 | 0
  of two words          | ,"payinExtraId":"order 12"        | order 12
`)('a memo that is %s (%s) is read as %s', async (_name, member, memo) => {
  const outcome = await answering(200, `${JSON.stringify(CREATED).slice(0, -1)}${member}}`).changenow.create(
    ORDER,
  );
  const payinExtraId = memo === 'null' ? null : memo;
  expect(outcome).toMatchObject({ outcome: 'created', exchange: { payinExtraId } });
});

it('a connection that breaks after a create call leaves its outcome unknown, and is not retried', async () => {
  let calls = 0;
  const changenow = new ChangeNow({
    baseUrl: 'https://changenow.test/v2',
    apiKey: 'canary-key',
    fetch: async () => {
      calls++;
      throw new TypeError('connection reset while sending canary-key');
    },
  });
  expect(await changenow.create(ORDER)).toEqual({ outcome: 'unknown', reason: 'unreachable' });
  expect(calls).toBe(1);
});

it('a status accepts amounts that are numbers, strings, null, empty or absent', async () => {
  const amounts = { expectedAmountFrom: '0.5', expectedAmountTo: 0.000621, amountFrom: null, amountTo: '' };
  const state = { ...ASSETS, id: 'a1b2', status: 'sending', ...amounts, payinAddress: 'payin' };
  const { changenow, sent } = answering(200, state);
  expect(await changenow.status('a1b2')).toMatchObject({
    ok: true,
    value: {
      ...{ expectedAmountFrom: 500_000_000_000_000_000n, expectedAmountTo: 621_000_000_000_000n },
      ...{ amountFrom: null, amountTo: null, payinHash: null },
    },
  });
  expect(sent[0]?.url.href).toBe('https://changenow.test/v2/exchange/by-id?id=a1b2');
});

it('0 is an unknown amount in a status, a bound and a created exchange, and is not accepted as an estimate', async () => {
  const bounds = { minAmount: 0, maxAmount: 0, toAmount: 0 };
  const zeros = { ...bounds, amountFrom: 0, amountTo: '0', expectedAmountTo: '0.000' };
  const { changenow } = answering(200, { ...CREATED, id: 'a1b2', status: 'waiting', ...zeros });
  expect(await changenow.status('a1b2')).toMatchObject({
    value: { amountFrom: null, amountTo: null, expectedAmountTo: null },
  });
  expect(await changenow.range(PAIR)).toMatchObject({ value: { minAmount: null, maxAmount: null } });
  expect(await changenow.create(ORDER)).toMatchObject({ exchange: { toAmount: null } });
  await expect(changenow.estimate(PAIR, 1n)).rejects.toMatchObject({
    details: { reason: 'unexpected_shape' },
  });
});

it('a new exchange may have no pay-in address yet, and a payout several transactions', async () => {
  const body = { ...CREATED, id: 'a1b2', status: 'new', payinAddress: null, payoutHash: 'a, b' };
  expect(await answering(200, body).changenow.status('a1b2')).toMatchObject({
    value: { payinAddress: null, payoutHash: 'a, b' },
  });
});
