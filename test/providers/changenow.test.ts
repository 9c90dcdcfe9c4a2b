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

const CREATED = {
  ...{ ...ASSETS, id: 'a1b2c3d4e5f6a7', fromAmount: 0.5, toAmount: 0.000621 },
  ...{ payinAddress: 'payin', payoutAddress: 'bc1qpayout' },
};

const READS: Readonly<Record<string, (changenow: ChangeNow) => Promise<unknown>>> = {
  currencies: (changenow) => changenow.currencies(),
  range: (changenow) => changenow.range(PAIR),
  estimate: (changenow) => changenow.estimate(PAIR, ORDER.amount),
  create: (changenow) => changenow.create(ORDER),
  status: (changenow) => changenow.status('a1b2'),
};

eachScene(`
  currencies | GET https://changenow.test/v2/exchange/currencies?active=true&flow=standard
  range      | GET https://changenow.test/v2/exchange/range?fromCurrency=sol&fromNetwork=sol&toCurrency=btc&toNetwork=btc&flow=standard
  estimate   | GET https://changenow.test/v2/exchange/estimated-amount?fromCurrency=sol&fromNetwork=sol&toCurrency=btc&toNetwork=btc&flow=standard&type=direct&fromAmount=123456789.12345678
  status     | GET https://changenow.test/v2/exchange/by-id?id=a1b2
`)('the request of %s is "%s", and has the key only in its header', async (call = '', line) => {
  const { changenow, sent } = answering(200, {});
  await READS[call]?.(changenow).catch(() => undefined);
  expect(sent.map(({ method, url }) => `${method} ${url.href}`)).toEqual([line]);
  expect(sent[0]?.headers.get('x-changenow-api-key')).toBe('canary-key');
});

/** The body of a created exchange with other members. */
const made = (change: object): string => JSON.stringify({ ...CREATED, ...change });
const state = (change: object): string => made({ id: 'a1b2', status: 'sending', ...change });
const range = (change: object): string => JSON.stringify({ ...ASSETS, ...change });

/** The response to a call, with 200 if it names no status, and its result: all of it or what it `has`; amounts as text. */
eachScene(`
  the currency list keeps legacy ticker, ticker and network, and drops malformed rows | currencies | [{"ticker":"usdt","network":"eth","legacyTicker":"usdterc20","name":"Tether"},{"ticker":"x"},null,"y"] | [{"ticker":"usdt","network":"eth","legacyTicker":"usdterc20"}]
  an empty list as the currency list is a failure, never an empty list                | currencies | [] | UPSTREAM_FAILED
  a list without known currencies is a failure, never an empty list                   | currencies | [{"ticker":"x"}] | UPSTREAM_FAILED
  an object as the currency list is a failure, never an empty list                    | currencies | {} | UPSTREAM_FAILED
  HTML as the currency list is a failure, never an empty list                         | currencies | <html> | UPSTREAM_FAILED
  a refusal of the currency list is a failure, never an empty list                    | currencies | 403 {"error":"invalid_api_key","message":"canary-key"} | UPSTREAM_FAILED
  a range has bounds in attocoins, and no upper bound if it is null                   | range | ${range({ minAmount: 1e-8, maxAmount: null })} | {"ok":true,"value":{"minAmount":"10000000000","maxAmount":null}}
  a range has no upper bound if the response has none                                 | range | ${range({ minAmount: '0.1' })} | {"ok":true,"value":{"minAmount":"100000000000000000","maxAmount":null}}
  a bound of 0 in a range means that the bound is unknown                             | range | ${range({ minAmount: 0, maxAmount: 0 })} | {"ok":true,"value":{"minAmount":null,"maxAmount":null}}
  an estimate accepts an unknown time forecast                                        | estimate | {"toAmount":0.000621,"transactionSpeedForecast":7} | {"ok":true,"value":{"toAmount":"621000000000000","transactionSpeedForecast":null}}
  0 is not accepted as an estimate                                                    | estimate | {"toAmount":0} | UPSTREAM_FAILED unexpected_shape
  a status accepts amounts that are numbers, strings, null, empty or absent           | status | ${state({ expectedAmountFrom: '0.5', expectedAmountTo: 0.000621, amountFrom: null, amountTo: '' })} | has {"ok":true,"value":{"expectedAmountFrom":"500000000000000000","expectedAmountTo":"621000000000000","amountFrom":null,"amountTo":null,"payinHash":null}}
  0 is an unknown amount in a status                                                  | status | ${state({ amountFrom: 0, amountTo: '0', expectedAmountTo: '0.000' })} | has {"value":{"amountFrom":null,"amountTo":null,"expectedAmountTo":null}}
  a new exchange may have no pay-in address yet, and a payout several transactions    | status | ${state({ status: 'new', payinAddress: null, payoutHash: 'a, b' })} | has {"value":{"payinAddress":null,"payoutHash":"a, b"}}
  0 is an unknown amount in a created exchange                                        | create | ${made({ toAmount: 0 })} | has {"exchange":{"toAmount":null}}
  a memo that is absent is null                                                       | create | ${made({})} | has {"outcome":"created","exchange":{"payinExtraId":null}}
  a memo of null is null                                                              | create | ${made({ payinExtraId: null })} | has {"exchange":{"payinExtraId":null}}
  an empty memo is null                                                               | create | ${made({ payinExtraId: '' })} | has {"exchange":{"payinExtraId":null}}
  a memo is kept                                                                      | create | ${made({ payinExtraId: '1234' })} | has {"exchange":{"payinExtraId":"1234"}}
  a memo that is a number keeps its digits                                            | create | ${made({ payinExtraId: 7 }).replace('Id":7', 'Id":35435481186486881')} | has {"exchange":{"payinExtraId":"35435481186486881"}}
  the destination tag 0 is a memo                                                     | create | ${made({ payinExtraId: 0 })} | has {"exchange":{"payinExtraId":"0"}}
  a memo of two words is kept                                                         | create | ${made({ payinExtraId: 'order 12' })} | has {"exchange":{"payinExtraId":"order 12"}}
`)('%s', async (_title, call = '', response = '', expected = '') => {
  const [, status = '200', body = ''] = /^(?:(\d{3}) )?(.*)$/.exec(response) ?? [];
  const texts = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  const found = await READS[call]?.(answering(Number(status), body).changenow).then(
    (value) => JSON.stringify(value, texts),
    ({ code, details }) => `${code} ${details.reason}`,
  );
  if (expected.startsWith('has '))
    expect(JSON.parse(found ?? '')).toMatchObject(JSON.parse(expected.slice(4)));
  else if (expected.startsWith('UPSTREAM')) expect(found).toContain(expected);
  else expect(JSON.parse(found ?? '')).toEqual(JSON.parse(expected));
});

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

it('a create call whose connection breaks has an unknown outcome, and is not retried', async () => {
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
