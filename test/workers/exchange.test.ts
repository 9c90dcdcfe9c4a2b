import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { createApp, type Deps } from '../../src/app.ts';
import { ExchangeStore } from '../../src/features/exchange/exchange-store.ts';
import { Cache } from '../../src/http/cached.ts';
import { createWaiting } from '../../src/http/wait.ts';
import type { CreateOutcome, ExchangeOrder, ExchangeProvider } from '../../src/providers/changenow.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const KEY = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const COIN = 10n ** 18n;
const order = { from: 'sol', to: 'btc', amount: 0.5, payoutAddress: 'bc1qpayout' };

let clock: number;
let asked: ExchangeOrder[];
let answerCreate: (order: ExchangeOrder) => Promise<CreateOutcome>;
let apiKey: boolean;
/** The provider's state of the exchange by the time of the clock, and when it was read. */
let stateAt: (time: number) => string | undefined;
let readAt: number[];
let deferred: Promise<unknown>[];

const created = async (o: ExchangeOrder): Promise<CreateOutcome> => ({
  outcome: 'created',
  exchange: {
    id: `exchange${asked.length}`,
    fromAmount: o.amount,
    toAmount: COIN / 1000n,
    payinAddress: 'payin-address',
    payinExtraId: null,
    payoutAddress: o.payoutAddress,
    fromCurrency: o.from.ticker,
    fromNetwork: o.from.network,
    toCurrency: o.to.ticker,
    toNetwork: o.to.network,
  },
});

const changenow = (): ExchangeProvider => ({
  currencies: async () =>
    ['sol', 'btc', 'eth'].map((ticker) => ({ legacyTicker: ticker, ticker, network: ticker })),
  range: async () => ({ ok: true, value: { minAmount: COIN / 100n, maxAmount: null } }),
  estimate: async () => ({ ok: true, value: { toAmount: COIN, transactionSpeedForecast: '10-60' } }),
  status: async (id) => {
    readAt.push(clock);
    const status = stateAt(clock);
    if (status === undefined) return { ok: false, code: 'not_found' };
    const coins = { fromCurrency: 'sol', fromNetwork: 'sol', toCurrency: 'btc', toNetwork: 'btc' };
    const amounts = { expectedAmountFrom: COIN, expectedAmountTo: COIN, amountFrom: COIN, amountTo: null };
    const hashes = { payinHash: null, payoutHash: null, refundHash: null };
    const payin = { payinAddress: 'payin-address', payinExtraId: null };
    return { ok: true, value: { id, status, ...coins, ...amounts, ...payin, ...hashes } };
  },
  create: async (o) => {
    asked.push(o);
    return answerCreate(o);
  },
});

let app: ReturnType<typeof createApp>;
beforeEach(async () => {
  clock = NOON;
  asked = [];
  answerCreate = created;
  deferred = [];
  apiKey = true;
  stateAt = () => undefined;
  readAt = [];
  const memory = () => new Cache({ now: () => clock, defer: () => undefined });
  const waits = memory();
  const deps = { ...(await apiDeps(env)), log: () => undefined };
  const fixed = { log: () => undefined, cache: memory(), memory: memory() };
  const exchange = (): Deps['exchange'] => ({
    ...fixed,
    changenow: apiKey ? changenow() : undefined,
    exchanges: new ExchangeStore(env.DB),
    waiting: createWaiting({
      memory: waits,
      now: () => clock,
      sleep: async (ms) => {
        clock += ms;
      },
    }),
    now: () => clock,
    sleep: async (ms) => {
      clock += ms;
      await new Promise((resolve) => setTimeout(resolve, 1));
    },
    defer: (work) => void deferred.push(work),
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
    { ...env, LIMITER: { limit: async () => ({ success: true }) } },
  );
  return {
    status: response.status,
    headers: response.headers,
    body: await response.json<Record<string, unknown>>(),
  };
}
/** The provider answers a create only when the returned function is called. */
function holdAnswer(outcome = created): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  answerCreate = async (o) => {
    await promise;
    return outcome(o);
  };
  return resolve;
}
const keyed = (key = KEY) => ({ 'idempotency-key': key });

const states = async () =>
  (await env.DB.prepare('SELECT state, exchange_id, reason FROM exchange_requests ORDER BY created_at').all())
    .results;

it.each([
  ['from that is not a code', { from: 's o l' }],
  ['from with a path', { from: '../admin' }],
  ['to equal to from', { to: 'SOL' }],
  ['amount zero', { amount: 0 }],
  ['amount negative', { amount: -1 }],
  ['an empty payoutAddress', { payoutAddress: '' }],
  ['a payoutAddress with a space', { payoutAddress: 'bc1q payout' }],
  ['a payoutAddress with a line break', { payoutAddress: 'bc1q\npayout' }],
  ['a payoutAddress that is not ASCII', { payoutAddress: 'bc1qé' }],
  ['a payoutAddress of 300 characters', { payoutAddress: 'b'.repeat(300) }],
  ['a refundAddress as a number', { refundAddress: 5 }],
])('returns 400 without calling the provider: %s', async (_name, change) => {
  const { status, body } = await create({ ...order, ...change }, keyed());
  expect([status, body.error_code]).toEqual([400, 'INVALID_INPUT']);
  expect(typeof body.error).toBe('string');
  expect([asked, await states()]).toEqual([[], []]);
});

it('without an API key, every exchange route returns 503 and names the variable', async () => {
  apiKey = false;
  const { status, body } = await create(order);
  expect([status, body.error_code, body.details]).toEqual([
    503,
    'NOT_CONFIGURED',
    { variables: ['CHANGENOW_API_KEY'] },
  ]);
  const limited = { ...env, LIMITER: { limit: async () => ({ success: true }) } };
  for (const path of ['min?from=sol&to=btc', 'estimate?from=sol&to=btc&amount=1', 'status/abc']) {
    expect((await app.request(`/api/exchange/${path}`, {}, limited)).status).toBe(503);
  }
});

it('a repeated create returns the first response and marks it as replayed', async () => {
  const first = await create(order, keyed());
  const second = await create(
    { payoutAddress: 'bc1qpayout', to: 'BTC', from: 'SOL', amount: '0.50' },
    keyed(),
  );
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.body).toEqual(first.body);
  expect([first, second].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
  expect(asked).toHaveLength(1);
  expect(await states()).toEqual([{ state: 'done', exchange_id: 'exchange1', reason: null }]);
});

it('stores only the hash of the idempotency key', async () => {
  await create(order, keyed());
  const { results } = await env.DB.prepare('SELECT * FROM exchange_requests').all();
  expect(JSON.stringify(results)).not.toContain(KEY);
  expect(results[0]?.key_hash).toMatch(/^[0-9a-f]{64}$/);
});

it('requests without a key are separate, and each is recorded', async () => {
  const [a, b] = [await create(order), await create(order)];
  expect(a.body.id).not.toBe(b.body.id);
  expect(await states()).toHaveLength(2);
});

it('repeated creates that arrive while the first one runs wait for its response', async () => {
  const answer = holdAnswer();
  const calls = Array.from({ length: 20 }, () => create(order, keyed()));
  await expect.poll(() => asked.length).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 5));
  answer();
  const answers = await Promise.all(calls);
  expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
  expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(19);
  expect(asked).toHaveLength(1);
});

it('refuses a used key with another body, and creates nothing', async () => {
  await create(order, keyed());
  const { status, body } = await create({ ...order, amount: 0.6 }, keyed());
  expect([status, body.error_code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  expect(asked).toHaveLength(1);
});

it('a repeated create that waited 25 seconds gets 409 with a time to retry', async () => {
  answerCreate = () => new Promise(() => undefined);
  void create(order, keyed());
  await expect.poll(() => asked.length).toBe(1);
  const { status, headers, body } = await create(order, keyed());
  expect([status, body.error_code, headers.get('retry-after')]).toEqual([
    409,
    'IDEMPOTENCY_IN_PROGRESS',
    '5',
  ]);
  expect(clock - NOON).toBeGreaterThan(20_000);
  expect(clock - NOON).toBeLessThanOrEqual(25_000);
});

it('a create whose Worker died has an unknown outcome after its timeouts, and is not sent again', async () => {
  answerCreate = () => new Promise(() => undefined);
  void create(order, keyed());
  await expect.poll(() => asked.length).toBe(1);
  clock += 61_000;
  const { status, body } = await create(order, keyed());
  expect([status, body.error_code]).toEqual([502, 'EXCHANGE_OUTCOME_UNKNOWN']);
  expect(asked).toHaveLength(1);
  expect(await states()).toEqual([{ state: 'unknown', exchange_id: null, reason: 'abandoned' }]);
});

it('a late response of the provider replaces the unknown outcome', async () => {
  const answer = holdAnswer();
  const first = create(order, keyed());
  await expect.poll(() => asked.length).toBe(1);
  clock += 61_000;
  expect((await create(order, keyed())).status).toBe(502);
  answer();
  const { body } = await first;
  expect(await create(order, keyed())).toMatchObject({ status: 200, body });
});

it('a refusal frees the key, so that a call waiting for it can retry at once', async () => {
  const answer = holdAnswer(async () => ({ outcome: 'refused', code: 'not_valid_address' }));
  const first = create(order, keyed());
  await expect.poll(() => asked.length).toBe(1);
  const second = create(order, keyed());
  await new Promise((resolve) => setTimeout(resolve, 5));
  answer();
  expect((await first).body.error_code).toBe('EXCHANGE_ADDRESS_INVALID');
  const { status, headers } = await second;
  expect([status, headers.get('retry-after')]).toEqual([409, '1']);
  expect(await states()).toEqual([]);
});

it.each([
  ['pair_is_inactive', 400, 'EXCHANGE_PAIR_INACTIVE'],
  ['out_of_range', 400, 'EXCHANGE_AMOUNT_OUT_OF_RANGE'],
  ['deposit_too_small', 400, 'EXCHANGE_AMOUNT_OUT_OF_RANGE'],
  ['not_valid_address', 400, 'EXCHANGE_ADDRESS_INVALID'],
  ['not_valid_refund_memo', 400, 'EXCHANGE_REFUSED'],
  ['invalid_api_key', 503, 'NOT_CONFIGURED'],
  ['rate_limited', 502, 'UPSTREAM_FAILED'],
  ['status_403', 502, 'UPSTREAM_FAILED'],
])('returns the provider’s refusal %s as %i %s and frees the key', async (code, status, errorCode) => {
  answerCreate = async () => ({ outcome: 'refused', code });
  const { status: got, body } = await create(order, keyed());
  expect([got, body.error_code]).toEqual([status, errorCode]);
  expect(await states()).toEqual([]);
});

it('concurrent calls from one address open exactly 100 exchanges in an hour', async () => {
  const from = (ip: string) => ({ 'cf-connecting-ip': ip });
  const answers = await Promise.all(
    Array.from({ length: 130 }, () => create(order, from('2001:db8:1:2::1'))),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
  const refused = answers.find(({ status }) => status !== 200);
  expect([refused?.status, refused?.body.error_code]).toEqual([429, 'RATE_LIMITED']);
  expect(refused?.headers.get('retry-after')).toBe('3600');
  expect(asked).toHaveLength(100);
  expect((await create(order, from('2001:db8:1:2:ffff::2'))).status).toBe(429);
  expect((await create(order, from('203.0.113.9'))).status).toBe(200);
  clock += 3_600_000;
  expect((await create(order, from('2001:db8:1:2::1'))).status).toBe(200);
  const { results } = await env.DB.prepare('SELECT DISTINCT client FROM exchange_requests').all();
  expect(results.map(({ client }) => client)).toEqual([
    expect.stringMatching(/^[0-9a-f]{64}$/),
    expect.stringMatching(/^[0-9a-f]{64}$/),
  ]);
});

it('returns a stored response to a repeat even if the address has used its hourly limit', async () => {
  await create(order, keyed());
  await Promise.all(Array.from({ length: 110 }, () => create(order)));
  expect((await create(order)).status).toBe(429);
  expect((await create(order, keyed())).status).toBe(200);
});

it('returns 503 and creates nothing while D1 fails', async () => {
  await env.DB.prepare('DROP TABLE exchange_requests').run();
  for (const headers of [{}, keyed()]) {
    const { status, body } = await create(order, headers);
    expect([status, body.error_code]).toEqual([503, 'DATABASE_UNAVAILABLE']);
  }
  expect(asked).toEqual([]);
});

it('returns an exchange that cannot be stored; a repeat never creates a second one', async () => {
  await env.DB.prepare(
    "CREATE TRIGGER full BEFORE UPDATE ON exchange_requests BEGIN SELECT RAISE(ABORT, 'full'); END",
  ).run();
  const first = await create(order, keyed());
  expect([first.status, first.body.id]).toEqual([200, 'exchange1']);
  await env.DB.prepare('DROP TRIGGER full').run();
  clock += 61_000;
  const { body } = await create(order, keyed());
  expect(body.error_code).toBe('EXCHANGE_OUTCOME_UNKNOWN');
  expect(asked).toHaveLength(1);
});

it('finishes a create in the background when the caller disconnects', async () => {
  const answer = holdAnswer();
  void create(order, keyed());
  await expect.poll(() => asked.length).toBe(1);
  expect(deferred).toHaveLength(1);
  answer();
  await deferred[0];
  expect(await states()).toEqual([{ state: 'done', exchange_id: 'exchange1', reason: null }]);
});

it('deletes exchange requests after 7 days', async () => {
  await create(order, keyed());
  const purge = () => new ExchangeStore(env.DB).purge(clock);
  clock = NOON + 7 * 24 * 3_600_000;
  expect(await purge()).toBe(0);
  expect((await create(order, keyed())).headers.get('idempotency-replayed')).toBe('true');
  clock += 1;
  expect(await purge()).toBe(1);
  expect(await states()).toEqual([]);
});

it('a waiting read returns an exchange when its state changes, with at most one provider call per 5 s', async () => {
  stateAt = (time) => (time < NOON + 30_000 ? 'exchanging' : 'sending');
  const limited = { ...env, LIMITER: { limit: async () => ({ success: true }) } };
  const response = await app.request('/api/exchange/status/abc', { headers: { prefer: 'wait=50' } }, limited);
  expect(response.headers.get('preference-applied')).toBe('wait=50');
  expect(await response.json()).toMatchObject({ status: 'pending', providerStatus: 'sending' });
  expect(clock - NOON).toBeLessThanOrEqual(36_000);
  expect(readAt.length).toBeLessThanOrEqual(36 / 5 + 1);
  const last = await app.request('/api/exchange/status/abc', { headers: { prefer: 'wait=3' } }, limited);
  expect(await last.json()).toMatchObject({ providerStatus: 'sending' });
});
