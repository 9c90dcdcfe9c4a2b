import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { createApp, type Deps } from '../../src/app.ts';
import { Cache } from '../../src/http/cached.ts';
import type { CreateOutcome, ExchangeOrder, ExchangeProvider } from '../../src/providers/changenow.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { OPEN_GATE } from '../kit/flood-gate.ts';
import { scenes } from '../kit/scenes.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const COIN = 10n ** 18n;
const order = { from: 'sol', to: 'btc', amount: 0.5, payoutAddress: 'bc1qpayout' };

let asked: ExchangeOrder[];
let answerCreate: (order: ExchangeOrder) => Promise<CreateOutcome>;
let apiKey: boolean;

const created = async (o: ExchangeOrder, payinExtraId: string | null = null): Promise<CreateOutcome> => ({
  outcome: 'created',
  exchange: {
    id: `exchange${asked.length}`,
    fromAmount: o.amount,
    toAmount: COIN / 1000n,
    payinAddress: 'payin-address',
    payinExtraId,
    payoutAddress: o.payoutAddress,
    fromCurrency: o.from.ticker,
    fromNetwork: o.from.network,
    toCurrency: o.to.ticker,
    toNetwork: o.to.network,
  },
});

const changenow = (): ExchangeProvider => ({
  currencies: async () => [
    ...['sol', 'btc', 'eth', 'luna'].map((ticker) => ({ legacyTicker: ticker, ticker, network: ticker })),
    ...['erc20', 'trc20'].map((network) => ({ legacyTicker: `usdt${network}`, ticker: 'usdt', network })),
  ],
  range: async ({ from: { ticker } }) =>
    ticker === 'luna'
      ? { ok: false, code: 'pair_is_inactive' }
      : { ok: true, value: { minAmount: COIN / 100n, maxAmount: null } },
  estimate: async () => ({ ok: true, value: { toAmount: COIN, transactionSpeedForecast: '10-60' } }),
  status: async () => ({ ok: false, code: 'not_found' }),
  create: async (o) => {
    asked.push(o);
    return answerCreate(o);
  },
});

let app: ReturnType<typeof createApp>;
beforeEach(async () => {
  asked = [];
  answerCreate = (sent) => created(sent);
  apiKey = true;
  const memory = () => new Cache({ now: () => NOON, defer: () => undefined });
  const deps = { ...(await apiDeps(env)), log: () => undefined };
  const exchange = (): Deps['exchange'] => ({
    ...deps.exchange,
    log: () => undefined,
    cache: memory(),
    memory: memory(),
    changenow: apiKey ? changenow() : undefined,
  });
  app = createApp(() => ({ ...deps, exchange: exchange() }));
});

async function create(body: unknown, headers: Record<string, string> = {}) {
  const response = await app.request(
    '/api/exchange/create',
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    },
    { ...env, ...OPEN_GATE },
  );
  return {
    status: response.status,
    headers: response.headers,
    body: await response.json<Record<string, unknown>>(),
  };
}
const keyed = (key: string) => ({ 'idempotency-key': key });

/** A change of the order, what the provider does with it, the response, and the calls of the provider. */
const REFUSED = scenes(String.raw`
  {"from":"../admin"}               |                       | 400 INVALID_INPUT | | 0
  {"to":"SOL"}                      |                       | 400 INVALID_INPUT | | 0
  {"payoutAddress":"bc1q\npayout"}  |                       | 400 INVALID_INPUT | | 0
  {"refundAddress":5}               |                       | 400 INVALID_INPUT | | 0
  {"amount":0.009}                  |                       | 400 EXCHANGE_AMOUNT_OUT_OF_RANGE | {"minAmount":"0.01","maxAmount":null} | 0
  {"from":"usdt"}                   |                       | 400 EXCHANGE_CURRENCY_UNKNOWN | {"currency":"usdt","candidates":["usdterc20","usdttrc20"]} | 0
  {}                                | pair_is_inactive      | 400 EXCHANGE_PAIR_INACTIVE | | 1
  {}                                | out_of_range          | 400 EXCHANGE_AMOUNT_OUT_OF_RANGE | | 1
  {}                                | deposit_too_small     | 400 EXCHANGE_AMOUNT_OUT_OF_RANGE | | 1
  {}                                | not_valid_address     | 400 EXCHANGE_ADDRESS_INVALID | | 1
  {}                                | not_valid_refund_memo | 400 EXCHANGE_REFUSED | | 1
  {}                                | invalid_api_key       | 503 NOT_CONFIGURED | | 1
  {}                                | rate_limited          | 502 UPSTREAM_FAILED | | 1
  {}                                | status_403            | 502 UPSTREAM_FAILED | | 1
`);
it.each(REFUSED)(
  'an order with %s that the provider refuses as "%s" returns %s %s',
  async (change = '', code = '', answer = '', details = '', calls = '') => {
    if (code !== '') answerCreate = async () => ({ outcome: 'refused', code });
    const { status, body } = await create({ ...order, ...JSON.parse(change) });
    expect(`${status} ${body.error_code}`).toBe(answer);
    expect(typeof body.error).toBe('string');
    if (details !== '') expect(body.details).toEqual(JSON.parse(details));
    expect(asked).toHaveLength(Number(calls));
  },
);

it('a legacy ticker selects coin and network, and the response explains the memo of a payment', async () => {
  answerCreate = (sent) => created(sent, '4711');
  const { body } = await create({ ...order, from: 'USDTERC20' });
  expect(asked).toMatchObject([{ from: { ticker: 'usdt', network: 'erc20' } }]);
  expect([body.payinExtraId, body.message]).toEqual(['4711', expect.stringContaining('with the memo 4711')]);
});

it('the minimum of an inactive pair is null', async () => {
  const response = await app.request('/api/exchange/min?from=luna&to=btc', {}, env);
  expect([response.status, await response.json()]).toMatchObject([200, { minAmount: null }]);
});

it('without an API key, every exchange route returns 503 and names the variable', async () => {
  apiKey = false;
  const { status, body } = await create(order);
  expect([status, body.error_code, body.details]).toEqual([
    503,
    'NOT_CONFIGURED',
    { variables: ['CHANGENOW_API_KEY'] },
  ]);
  const limited = { ...env, ...OPEN_GATE };
  for (const path of ['min?from=sol&to=btc', 'estimate?from=sol&to=btc&amount=1', 'status/abc']) {
    expect((await app.request(`/api/exchange/${path}`, {}, limited)).status).toBe(503);
  }
});

it('each create call opens a new exchange, even with the same Idempotency-Key', async () => {
  const [a, b] = [await create(order, keyed('short')), await create(order, keyed('short'))];
  expect([a.status, b.status]).toEqual([200, 200]);
  expect(a.body.id).not.toBe(b.body.id);
  expect(b.headers.get('idempotency-replayed')).toBeNull();
});

it.each<[string, typeof answerCreate]>([
  ['a lost response', async () => ({ outcome: 'unknown', reason: 'unreachable' })],
  ['a response with another payout address', (sent) => created({ ...sent, payoutAddress: 'bc1qother' })],
])('%s returns 502 after one attempt, and says that unused orders expire', async (_name, answer) => {
  answerCreate = answer;
  const { status, body } = await create(order);
  expect([status, body.error_code, body.retryable]).toEqual([502, 'EXCHANGE_OUTCOME_UNKNOWN', false]);
  expect(body.error).toMatch(/order may exist.*unused orders expire.*Create again/);
  expect(JSON.stringify(body)).not.toContain('payin-address');
  expect(asked).toHaveLength(1);
});

it('one network opens at most its share of exchanges in an hour, while other networks can still open exchanges', async () => {
  const from = (ip: string) => create(order, { 'cf-connecting-ip': ip });
  const answers = await Promise.all(Array.from({ length: 110 }, () => from('2001:db8:1:2::1')));
  // The share is an eighth of what is left, and the other tests of this file have used some of it.
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(90);
  const refused = answers.find(({ status }) => status !== 200);
  expect([refused?.status, refused?.body.error_code, refused?.body.details]).toEqual([
    429,
    'RATE_LIMITED',
    { limit: 'exchanges_per_hour' },
  ]);
  expect(asked.length).toBeLessThanOrEqual(100);
  expect((await from('2001:db8:1:2:ffff::2')).status).toBe(429);
  expect((await from('203.0.113.9')).status).toBe(200);
});
