import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { upstreamFailed } from '../../src/core/errors.ts';
import { getPool, type PoolDeps } from '../../src/features/pools/get-pool.ts';
import { createCache } from '../../src/http/cached.ts';
import type { Answer } from '../../src/providers/http.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const POOL = 'Czfq3xZZDmsdGdUyrNLtRhGc47cXcZtLG4crryfu44zE';
const START = Date.parse('2026-11-20T10:00:00.000Z');

let now: number;
let asked: number;
let price: number;
let answer: () => Promise<Answer>;

const textNow = () => `{"data":{"address":"${POOL}","price":"${price}","tokenBalanceA":"1","exact":1.50}}`;
const ok = async (): Promise<Answer> => ({ status: 200, headers: new Headers(), text: textNow() });
const down = async (): Promise<Answer> => {
  throw upstreamFailed('orca', 'unreachable');
};

beforeEach(() => {
  now = START;
  asked = 0;
  price = 1;
  answer = ok;
});

/** A service in a new isolate: empty memory and the shared KV. */
function isolate() {
  let context = createExecutionContext();
  const deps: PoolDeps = {
    orca: {
      async pool() {
        asked += 1;
        return answer();
      },
    },
    readAccounts: () => Promise.reject(upstreamFailed('solana-rpc', 'unreachable')),
    cache: createCache({ kv: env.KV, now: () => now, defer: (work) => context.waitUntil(work) }),
    now: () => now,
    log: () => undefined,
  };
  return {
    get: () => getPool(deps, POOL),
    /** Work that continues after the response. */
    async settle() {
      await waitOnExecutionContext(context);
      context = createExecutionContext();
    },
  };
}

it('a pool read by one isolate is fresh for another one, to the byte', async () => {
  const first = isolate();
  const { text } = await first.get();
  await first.settle();
  price = 2;
  const second = await isolate().get();
  expect(second).toMatchObject({ status: 200, text, source: 'orca', asOf: START, stale: false });
  expect(asked).toBe(1);
});

it('after its fresh time it is served at once and refreshed in the background', async () => {
  const service = isolate();
  await service.get();
  await service.settle();
  now += 30_000;
  price = 2;
  expect((await service.get()).text).toContain('"price":"1"');
  await service.settle();
  expect((await service.get()).text).toContain('"price":"2"');
  expect(asked).toBe(2);
});

it('equal concurrent requests cause one call', async () => {
  const service = isolate();
  const answers = await Promise.all(Array.from({ length: 20 }, () => service.get()));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(asked).toBe(1);
});

it('while neither the pool API nor the chain answers, the last copy is marked stale, for 15 minutes', async () => {
  const service = isolate();
  await service.get();
  await service.settle();
  answer = down;
  now += 600_000;
  expect(await isolate().get()).toMatchObject({ status: 200, stale: true, asOf: START, text: textNow() });
  now += 600_000;
  await expect(isolate().get()).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
});

it('a refusal leaves nothing in the shared cache', async () => {
  answer = async () => ({ status: 404, headers: new Headers(), text: '{"no":1}' });
  const service = isolate();
  expect(await service.get()).toMatchObject({ status: 404, text: '{"no":1}' });
  await service.settle();
  expect((await env.KV.list()).keys).toEqual([]);
});
