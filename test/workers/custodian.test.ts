import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { lamports } from '../../src/core/amount.ts';
import { CUSTODIAN_NAME, type SwapAnswer, type SwapRequest } from '../../src/custody/api.ts';
import { Agenda } from '../../src/custody/kernel/agenda.ts';
import { Journal } from '../../src/custody/kernel/journal.ts';
import { MirrorQueue } from '../../src/custody/kernel/mirror-queue.ts';
import type { SqlValue } from '../../src/custody/kernel/ports.ts';
import { createSwapStore } from '../../src/features/swap/swap-store.ts';
import { VENUE_NAMES } from '../../src/providers/price-venues.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { CustodianClient } from '../../src/wiring/custodian-client.ts';
import { QUOTE_KEY } from '../bridges/signed-quote.ts';
import { done } from '../kit/sample-operations.ts';
import { createUpstreams, RESERVE, SOL, type Upstreams, useSettings } from './custodian-upstreams.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

useSettings({
  NEAR_INTENTS_API_URL: 'https://1click.test',
  NEAR_INTENTS_QUOTE_KEY: QUOTE_KEY,
  PRICE_API_URLS: VENUE_NAMES.map((name) => `${name}=https://${name}.test`).join(','),
});
const realFetch = globalThis.fetch;
const realTimeout = AbortSignal.timeout;
let upstreams: Upstreams;

beforeEach(() => {
  upstreams = createUpstreams();
  globalThis.fetch = upstreams.fetch;
  // A timer that still runs would keep the object from being evicted.
  AbortSignal.timeout = () => new AbortController().signal;
});
afterEach(() => {
  globalThis.fetch = realFetch;
  AbortSignal.timeout = realTimeout;
});

const custodian = () => env.CUSTODIAN.getByName(CUSTODIAN_NAME);
const request = (client: string, key?: string): SwapRequest => ({
  amountLamports: SOL,
  client,
  ...(key ? { key: { keyHash: key, bodyHash: 'body' } } : {}),
});
const d1Row = () => env.DB.prepare('SELECT * FROM operations').first<Record<string, unknown>>();
/** A copy of a response, because the response itself would keep the object alive. */
async function createSwap(asked: SwapRequest): Promise<SwapAnswer> {
  const answer = await custodian().createSwap(asked);
  const copy = structuredClone({ ...answer }) as SwapAnswer;
  Reflect.get(answer, Symbol.dispose)?.call(answer);
  return copy;
}
/** Runs alarms until `until` holds, however far in the future they are set. */
async function alarms(until: () => Promise<boolean>): Promise<void> {
  for (let fired = 0; fired < 30; fired++) {
    if (await until()) return;
    await runInDurableObject(custodian(), async (_instance, { storage }) => {
      storage.sql.exec('UPDATE agenda SET due_at = 0 WHERE due_at IS NOT NULL');
      await storage.setAlarm(Date.now() + 60_000);
    });
    await runDurableObjectAlarm(custodian());
  }
  throw new Error('the condition was never met');
}
const stateIs = (detail: string) => async () => (await d1Row())?.detail === detail;

describe('the custodian in the Workers runtime', () => {
  it('refuses reads that exceed its capacity, and still signs a swap between them', async () => {
    const unknown = 'u'.repeat(88);
    const many = (verb: () => Promise<unknown>) => Array.from({ length: 100 }, verb);
    const early = many(() => custodian().findSwap(unknown));
    const swap = createSwap(request('c1'));
    const late = many(() => custodian().findClaim(unknown));
    const answers = await Promise.all([...early, ...late]);
    const busy = answers.filter((answer) => answer !== null);
    expect(busy.every((answer) => JSON.stringify(answer) === '{"busy":true}')).toBe(true);
    expect(busy.length).toBeGreaterThan(0);
    expect(busy.length).toBeLessThan(200);
    expect(await swap).toMatchObject({ type: 'created' });
    expect(await custodian().findSwap(unknown)).toBeNull();
  });

  it('the response to a refused read states when to repeat it', async () => {
    const reads = await Promise.allSettled(
      Array.from({ length: 100 }, () => clientOf().findSwap('u'.repeat(88))),
    );
    const refused = reads.flatMap((read) => (read.status === 'rejected' ? [read.reason] : []));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ code: 'CUSTODIAN_UNAVAILABLE', retryAfterSeconds: 5 });
  });

  it('signs a swap that the chain accepts, and writes its row to D1 before the response', async () => {
    const answer = await createSwap(request('c1'));
    if (answer.type !== 'created') throw new Error(JSON.stringify(answer));
    expect(answer.swap).toMatchObject({
      status: 'waiting',
      amountLamports: SOL,
      expectedSats: 124_375n,
      minimumSats: 123_750n,
    });
    // Both nodes verified the signature before they took it.
    expect(upstreams.sends).toEqual([answer.swap.signature, answer.swap.signature]);
    expect(await createSwapStore(env.DB).bySignature(answer.swap.signature)).toMatchObject({
      status: 'waiting',
      amountLamports: SOL,
      btcSats: null,
    });
    expect(
      await runInDurableObject(custodian(), (_instance, { storage }) => storage.getAlarm()),
    ).not.toBeNull();
  });

  it('writes every state of a swap to D1 while page views cannot be written', async () => {
    await runInDurableObject(env.PAGE_VIEWS.getByName('0'), (_instance, { storage }) => {
      storage.sql.exec("CREATE TRIGGER full BEFORE INSERT ON views BEGIN SELECT RAISE(ABORT, 'full'); END");
    });
    const app = createApp(async () => ({ ...(await apiDeps({ ...env })), log: () => undefined }));
    const viewed = await app.request(
      '/api/analytics/pageview',
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"path":"/"}' },
      env,
    );
    expect([viewed.status, await viewed.json()]).toEqual([
      500,
      expect.objectContaining({ error_code: 'ANALYTICS_WRITE_FAILED' }),
    ]);
    expect((await createSwap(request('c1'))).type).toBe('created');
    expect(await d1Row()).toMatchObject({ status: 'waiting' });
    upstreams.isFinal = true;
    await alarms(stateIs('settling'));
    upstreams.bridgeStatus = 'SUCCESS';
    await alarms(stateIs('done'));
  });

  it('an evicted object resends the same signed bytes', async () => {
    const answer = await createSwap(request('c1', 'key'));
    await evictDurableObject(custodian());
    await alarms(async () => upstreams.sends.length >= 4);
    expect(upstreams.sent.size).toBe(1);
    expect(await createSwap(request('c1', 'key'))).toEqual({ ...answer, replayed: true });
  });

  it('an emptied object starts frozen if the mirror in D1 has rows', async () => {
    await createSwap(request('c1'));
    await runInDurableObject(custodian(), (_instance, { storage }) => storage.deleteAll());
    await evictDurableObject(custodian());
    const answer = await createSwap(request('c2'));
    expect(answer).toMatchObject({
      refusal: { code: 'SWAPS_PAUSED', details: { reason: 'journal_behind_mirror' } },
    });
    expect(upstreams.sent.size).toBe(1);
  });

  it('the storage rolls back only a failed inner transaction, and both if the outer one fails', async () => {
    const rows = await runInDurableObject(custodian(), (_instance, { storage }) => {
      storage.sql.exec('CREATE TABLE t (x)');
      storage.transactionSync(() => {
        storage.sql.exec('INSERT INTO t VALUES (1)');
        expect(() =>
          storage.transactionSync(() => {
            storage.sql.exec('INSERT INTO t VALUES (2)');
            throw new Error('inner');
          }),
        ).toThrow('inner');
      });
      expect(() =>
        storage.transactionSync(() => {
          storage.transactionSync(() => storage.sql.exec('INSERT INTO t VALUES (3)'));
          throw new Error('outer');
        }),
      ).toThrow('outer');
      return storage.sql.exec('SELECT x FROM t').toArray();
    });
    expect(rows).toEqual([{ x: 1 }]);
  });

  it('returns amounts to the caller as exact integers', async () => {
    expect(await custodian().swapRoom()).toMatchObject({
      balanceLamports: 10n * SOL,
      maximumLamports: 2n * SOL,
      refusal: null,
    });
    const { limits } = await clientOf().report();
    expect(limits.find(({ name }) => name === 'day')).toMatchObject({ maximum: 10n * SOL });
  });
});

const clientOf = (missing: readonly string[] = []) =>
  new CustodianClient({ env, missing, log: () => undefined });

it('the client calls the custodian only if all variables of the custodian are set', () =>
  expect(clientOf(['PUBLIC_BASE_URL']).report()).rejects.toMatchObject({ code: 'NOT_CONFIGURED' }));

it("the caller gets the code and the reason of an upstream's failure in the custodian", async () => {
  upstreams.fault = (url) => (url.includes('esplora') ? new Response('', { status: 503 }) : undefined);
  await expect(clientOf().draftProof()).rejects.toMatchObject({
    code: 'UPSTREAM_FAILED',
    details: { upstream: 'esplora', reason: 'one_source' },
  });
});

describe("a Durable Object with any name but the custodian's", () => {
  const other = () => env.CUSTODIAN.getByName(RESERVE);
  const TABLES = "SELECT name FROM sqlite_master WHERE name NOT GLOB '_cf_*'";

  it('refuses every call and does not write', async () => {
    const verbs = Object.getOwnPropertyNames(CustodianClient.prototype).filter(
      (name) => name !== 'constructor',
    );
    for (const verb of verbs)
      expect(await Reflect.apply(Reflect.get(other(), verb), other(), ['argument']), verb).toEqual({
        notCustodian: true,
      });
    await runInDurableObject(other(), async (_instance, { storage }) => {
      expect(storage.sql.exec(TABLES).toArray()).toEqual([]);
      expect(await storage.getAlarm()).toBeNull();
    });
    expect(upstreams.sent.size).toBe(0);
  });

  it('an object with another name deletes its timer when it fires, and does not sign its stored operations', async () => {
    await runInDurableObject(other(), (_instance, { storage }) => storage.setAlarm(Date.now() + 60_000));
    await evictDurableObject(other());
    await runDurableObjectAlarm(other());
    await runInDurableObject(other(), async (_instance, { storage }) => {
      expect(await storage.getAlarm()).toBeNull();
      expect(storage.sql.exec(TABLES).toArray()).toEqual([]);
    });
    expect(upstreams.sent.size).toBe(0);
  });
});

it('a create call reads at most 150 rows after a day with a thousand operations', async () => {
  await custodian().findSwap('u'.repeat(88));
  const cursors = await runInDurableObject(custodian(), (_instance, { storage }) => {
    const { sql } = storage;
    const journal = new Journal({
      exec: (query, ...params) => sql.exec<Record<string, SqlValue>>(query, ...params).toArray(),
      transaction: (work) => storage.transactionSync(work),
      sync: () => storage.sync(),
      setAlarm: async () => undefined,
    });
    // About as many as the daily limits allow.
    for (const [kind, count] of [
      ['swap', 20],
      ['token', 490],
      ['asry', 490],
    ] as const)
      for (let at = 0; at < count; at++)
        storage.transactionSync(() =>
          journal.insert(
            done({
              id: `${kind}:${at}`,
              kind,
              amount: lamports(1n),
              createdAt: Date.now(),
              signedAt: null,
              signing: null,
              cost: lamports(0n),
              releasedSlot: null,
            }),
          ),
        );
    journal.queue.delivered(journal.queue.waiting(1_000), Date.now());
    return vi.spyOn(sql, 'exec').mock.results;
  });
  const created = await createSwap(request('c1'));
  expect(created).toMatchObject({ type: 'created' });
  const read = cursors.map(({ value }) => (value as SqlStorageCursor<Record<string, SqlValue>>).rowsRead);
  expect(read.length).toBeGreaterThan(20);
  expect(read.reduce((sum, rows) => sum + rows)).toBeLessThanOrEqual(150);
});

it('the timer finds its next work among 2,000 waiting rows without reading them', async () => {
  const read = await runInDurableObject(custodian(), (_instance, { storage: { sql } }) => {
    const exec = (query: string, ...params: SqlValue[]) =>
      sql.exec<Record<string, SqlValue>>(query, ...params).toArray();
    let now = Date.now();
    const agenda = new Agenda({ exec }, () => now, console.log);
    for (let id = 0; id < 2_000; id++) agenda.plan(id % 2 ? 'one' : 'two', String(id), now + id);
    const { results } = vi.spyOn(sql, 'exec').mock;
    expect(agenda.next(['one', 'two', 'three'])).toBe(now);
    now += 1_000;
    expect(agenda.due('one', 3)).toEqual(['1', '3', '5']);
    // Every row was set at a later time, as after the clock went back.
    now -= 10_000;
    expect([agenda.due('one', 3), agenda.next(['one'])]).toEqual([['1', '3', '5'], now]);
    return results.map(({ value }) => (value as SqlStorageCursor<Record<string, SqlValue>>).rowsRead);
  });
  expect(read.reduce((sum, rows) => sum + rows)).toBeLessThanOrEqual(40);
});

it('a delivery to D1 and a new operation read few of 2,000 rows that wait for D1', async () => {
  const read = await runInDurableObject(custodian(), (_instance, { storage: { sql } }) => {
    const exec = (query: string, ...params: SqlValue[]) =>
      sql.exec<Record<string, SqlValue>>(query, ...params).toArray();
    const meta = new Map<string, string>();
    const queue = new MirrorQueue(exec, {
      getMeta: (name) => meta.get(name),
      setMeta: (name, value) => void meta.set(name, value),
    });
    for (let id = 0; id < 2_000; id++) queue.publish('asry_claims', String(id), {}, 2_000 - id);
    const { results } = vi.spyOn(sql, 'exec').mock;
    expect(queue.waiting(3).map(({ id }) => id)).toEqual(['0', '1', '2']);
    expect([queue.isQueued(), queue.undeliveredSince(), queue.setAside(20)]).toEqual([true, 1, []]);
    return results.map(({ value }) => (value as SqlStorageCursor<Record<string, SqlValue>>).rowsRead);
  });
  expect(read.reduce((sum, rows) => sum + rows)).toBeLessThanOrEqual(40);
});

it('the object exposes only its calls and its timer, so no caller can start an operation directly', () =>
  runInDurableObject(custodian(), (instance) => {
    expect('createSwap' in instance).toBe(true);
    expect('begin' in instance).toBe(false);
  }));

describe('a custodian whose keys do not match the settings', () => {
  const others = 'US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx';
  /** Runs `work` on an object that starts with these variables, then evicts it. */
  async function during(changed: Readonly<Record<string, string>>, work: () => Promise<void>): Promise<void> {
    const kept = Object.keys(changed).map((name) => [name, Reflect.get(env, name)] as const);
    const logged = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    Object.assign(env, changed);
    try {
      await work();
      const lines = logged.mock.calls.map(([line]) => String(line));
      expect(lines.filter((line) => line.includes('"event":"custodian_not_configured"'))).toHaveLength(1);
    } finally {
      logged.mockRestore();
      for (const [name, value] of kept) {
        if (value === undefined) Reflect.deleteProperty(env, name);
        else Reflect.set(env, name, value);
      }
      await evictDurableObject(custodian());
    }
  }
  const notConfigured = (...variables: string[]) => ({ code: 'NOT_CONFIGURED', details: { variables } });

  const WIF = 'L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ';
  it.each<[string, Readonly<Record<string, string>>, string[]]>([
    ['another address', { RESERVE_SOLANA_ADDRESS: others }, ['SOLANA_PRIVATE_KEY', 'RESERVE_SOLANA_ADDRESS']],
    ['no key', { SOLANA_PRIVATE_KEY: '' }, ['SOLANA_PRIVATE_KEY']],
    ['the Bitcoin key of another address', { BTC_PRIVATE_KEY_WIF: WIF }, ['BTC_PRIVATE_KEY_WIF']],
  ])('a custodian refuses every verb and logs one alarm because of %s', async (_name, changed, variables) => {
    await during(changed, async () => {
      for (const call of [
        () => clientOf().report(),
        () => clientOf().signingState(),
        () => clientOf().findSwap('unknown'),
        () => clientOf().createSwap(request('c1')),
        () => clientOf().wake(),
      ])
        await expect(call()).rejects.toMatchObject(notConfigured(...variables));
      await runInDurableObject(custodian(), (instance) => (instance as { alarm(): Promise<void> }).alarm());
      expect(upstreams.sent.size).toBe(0);
    });
    expect(await clientOf().findSwap('unknown')).toBeNull();
  });

  it('/api/ready names a malformed key and does not show its value', async () => {
    await during({ SOLANA_PRIVATE_KEY: 'not-a-key-but-secret' }, async () => {
      const app = createApp(async () => ({ ...(await apiDeps({ ...env })), log: () => undefined }));
      const ready = await app.request('/api/ready', {}, env);
      expect(ready.status).toBe(503);
      const { checks } = await ready.json<{ checks: unknown[] }>();
      const reason = 'missing or invalid: SOLANA_PRIVATE_KEY';
      expect(checks).toContainEqual({ name: 'config', ok: false, reason });
      expect(JSON.stringify(checks)).not.toContain('not-a-key');
    });
  });

  it('refuses payment requests without MINT_KEY_SEED, but still creates swaps', async () => {
    await expect(clientOf().findRequest('unknown')).rejects.toMatchObject(notConfigured('MINT_KEY_SEED'));
    expect((await clientOf().createSwap(request('c1'))).type).toBe('created');
  });
});
