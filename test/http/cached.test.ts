import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AppError, upstreamFailed } from '../../src/core/errors.ts';
import { CHAIN_POLICY } from '../../src/features/reserves/get-reserves.ts';
import { type CachePolicy, owned, prewarmed, refreshing } from '../../src/http/cache-policy.ts';
import { Cache, Dated, Miss } from '../../src/http/cached.ts';
import { PlatformKv } from '../kit/platform/kv.ts';
import { createKv } from '../kit/platform/memory-kv.ts';
import { eachScene, msOf, playSteps } from '../kit/scenes.ts';

const SHORT: CachePolicy = { freshMs: 10_000, revalidateMs: 20_000, staleMs: 600_000 };
const LONG: CachePolicy = { freshMs: 60_000, revalidateMs: 0, staleMs: 600_000 };

/** Isolates that share a clock, KV and one upstream. */
function platform() {
  const time = { now: 1_000_000 };
  const upstream = { value: 'one', calls: 0, fails: false };
  const stored = new Map<string, string>();
  const lifetimes: (number | undefined)[] = [];
  const kv = {
    get: async (key: string) => JSON.parse(stored.get(key) ?? 'null') as unknown,
    put: async (key: string, text: string, options?: KVNamespacePutOptions) => {
      stored.set(key, text);
      lifetimes.push(options?.expirationTtl);
    },
  } as unknown as KVNamespace;
  async function load(): Promise<string> {
    upstream.calls += 1;
    if (upstream.fails) throw new Error('down');
    return upstream.value;
  }
  function isolate(release = 'r1') {
    const cache = new Cache({ kv, release, now: () => time.now, defer: () => undefined });
    return (policy: CachePolicy) => cache.read('key', policy, load);
  }
  return { time, upstream, stored, lifetimes, isolate };
}

afterEach(() => vi.useRealTimers());

const POLICIES: Readonly<Record<string, CachePolicy>> = {
  short: SHORT,
  long: owned(LONG),
  kv: { ...LONG, kv: 'read' },
  warmed: prewarmed(900_000),
  cron: owned(prewarmed(900_000)),
};

/** Plays steps with isolates, each named by a letter and its release, such as `a` or `b.r2`. */
async function play(steps: string): Promise<void> {
  const { time, upstream, stored, isolate } = platform();
  const isolates = new Map<string, ReturnType<typeof isolate>>();
  const verbs = {
    /** The value, its age, and whether it is stale; else the error. */
    async read(name = 'a', policy = 'short') {
      const read = isolates.get(name) ?? isolate(name.split('.')[1]);
      isolates.set(name, read);
      try {
        const { value, asOf, stale } = await read(POLICIES[policy] ?? SHORT);
        return `${value} ${(time.now - asOf) / 1_000}s${stale ? ' stale' : ''}`;
      } catch (error) {
        return String(error);
      }
    },
    wait: (length: string) => Object.assign(time, { now: time.now + msOf(length) }),
    value: (value: string) => Object.assign(upstream, { value }),
    fail: () => Object.assign(upstream, { fails: true }),
    work: () => Object.assign(upstream, { fails: false }),
    calls: () => upstream.calls,
    stored: () => [...stored.keys()].join() || 'none',
  };
  await playSteps(steps, verbs, (actual, expected, step) => expect(actual, step).toBe(expected));
}

eachScene(`
  the cache calls the upstream once until the value is no longer fresh
    | read = one 0s; wait 9s999ms; read = one 9.999s; calls = 1
  the cache serves an older value at once while it loads a new one
    | read; wait 10s; value two; read = one 10s; read = two 0s
  the cache serves the last value as stale until its maximum age
    | read; fail; wait 9m59s999ms; read = one 599.999s stale; wait 1ms; read = Error: down
  the cache contacts a failed upstream again only after a pause
    | fail; read = Error: down; read = Error: down; read = Error: down; calls = 1; wait 2s; work; read = one 0s
  a value is stale from the first failed read on, and until one succeeds
    | read; fail; wait 10s; read = one 10s; wait 1ms; read = one 10.001s stale; work; wait 2s; read; read = one 0s
  KV stores the values that the cron loaded, for all isolates of the release
    | read a.r1 long; stored = cache:r1:key; wait 30s; read b.r1 kv = one 30s; calls = 1; read c.r2 kv; calls = 2
  KV stores no value that a request loaded
    | read a warmed; calls = 1; stored = none
  a value is stale in every isolate from the first failed read of the cron until the next one succeeds
    | read c cron; read w warmed = one 0s; fail; wait 1m; read c cron; read w warmed = one 60s stale; read n warmed = one 60s stale;
      wait 1m; read c cron; read w warmed = one 120s stale; read n warmed = one 120s stale;
      work; wait 1m; read c cron; read w warmed = one 0s; read n warmed = one 0s; calls = 4
  a value that was read while the clock was a day ahead is read again once the clock is right
    | wait 1d; read = one 0s; wait -1d; value two; read = two 0s
  an isolate whose clock was a day ahead takes the value that the cron stores once the clock is right
    | wait 1d; read w warmed = one 0s; wait -1d; value two; read c cron; wait 1s; read w warmed = two 1s; calls = 2
  a load that failed while the clock was a day ahead delays no load once the clock is right
    | wait 1d; fail; read = Error: down; wait -1d; work; read = one 0s
  a failure while the clock was a day ahead makes no later value of the cron stale
    | wait 1d; fail; read w warmed = Error: down; wait -1d; work; read c cron; read w warmed = one 0s
`)('%s', (_title, steps = '') => play(steps));

it('an isolate whose clock was ahead does not keep its value fresh in the others', async () => {
  const { time, upstream, isolate } = platform();
  time.now += 3_600_000;
  await isolate()({ ...LONG, kv: 'write' });
  time.now -= 3_600_000;
  upstream.value = 'two';
  expect(await isolate()({ ...LONG, kv: 'read' })).toEqual({ value: 'two', asOf: time.now, stale: false });
});

it("a value made from another read has that read's time, and is stale if that read is", async () => {
  const cache = new Cache({ now: () => 60_000, defer: () => undefined });
  for (const stale of [false, true]) {
    const load = async () => new Dated({ value: 'one', asOf: 1_000, stale });
    expect(await cache.read(`key ${stale}`, LONG, load)).toEqual({ value: 'one', asOf: 1_000, stale });
  }
});

it('concurrent requests for one value load it once', async () => {
  const { upstream, isolate } = platform();
  const read = isolate();
  const found = await Promise.all(Array.from({ length: 20 }, () => read(SHORT)));
  expect(new Set(found.map(({ value }) => value))).toEqual(new Set(['one']));
  expect(upstream.calls).toBe(1);
});

it('a request loads the value itself if the load of a cancelled request never settles', async () => {
  vi.useFakeTimers();
  const cache = new Cache({ now: Date.now, defer: () => undefined });
  void cache.read('key', SHORT, () => new Promise<string>(() => undefined));
  const waits = cache.read('key', SHORT, async () => 'own');
  await vi.advanceTimersByTimeAsync(9_999);
  expect(await Promise.race([waits, 'waiting'])).toBe('waiting');
  await vi.advanceTimersByTimeAsync(1);
  expect((await waits).value).toBe('own');
});

it('a request joins no load that began while the clock was a day ahead', async () => {
  let now = 86_400_000;
  const cache = new Cache({ now: () => now, defer: () => undefined });
  void cache.read('key', SHORT, () => new Promise<string>(() => undefined));
  now = 0;
  expect(await cache.read('key', SHORT, async () => 'own')).toMatchObject({ value: 'own' });
});

it.each([
  ['has used up its calls', new AppError('RATE_LIMITED', 'no calls left')],
  ['has no free connection', upstreamFailed('mempool.space', 'busy')],
])('a failed load of a request that %s does not fail other requests', async (_what, error) => {
  const cache = new Cache({ now: Date.now, defer: () => undefined });
  const joined = cache.read('key', SHORT, () => Promise.reject(error));
  const others = cache.read('key', SHORT, async () => 'one');
  await expect(joined).rejects.toThrow(error);
  expect(await others).toMatchObject({ value: 'one', stale: false });
});

describe('a miss', () => {
  const unknown = new Error('unknown');
  function cacheWith(kv?: KVNamespace) {
    const time = { now: 0 };
    const state = { loads: 0, exists: false };
    const cache = new Cache({ now: () => time.now, defer: () => undefined, ...(kv && { kv }) });
    const read = (key = 'key', policy = SHORT) =>
      cache.read(key, policy, async () => {
        state.loads += 1;
        if (!state.exists) throw new Miss(unknown);
        return 'there';
      });
    return { time, state, read };
  }

  it('a miss is remembered for a minute in memory only, and its reason is thrown', async () => {
    const put = vi.fn();
    const kv = { get: async () => null, put } as unknown as KVNamespace;
    const { time, state, read } = cacheWith(kv);
    for (time.now of [0, 59_999]) await expect(read('key', owned(SHORT, 0))).rejects.toBe(unknown);
    expect([state.loads, put.mock.calls]).toEqual([1, []]);
    time.now = 60_000;
    state.exists = true;
    expect((await read()).value).toBe('there');
  });

  it('a miss replaces an older value', async () => {
    const { time, state, read } = cacheWith();
    state.exists = true;
    await read();
    time.now = 30_000;
    state.exists = false;
    for (let request = 0; request < 2; request += 1) await expect(read()).rejects.toBe(unknown);
    expect(state.loads).toBe(2);
  });

  it('forgets the oldest of more than 500 misses, and no other', async () => {
    const { state, read } = cacheWith();
    for (let key = 0; key <= 500; key += 1) await read(String(key)).catch(() => undefined);
    for (const key of ['1', '500', '0']) await read(key).catch(() => undefined);
    expect(state.loads).toBe(502);
  });
});

describe('KV', () => {
  it("keeps the cron's value in KV for a minute longer than it may be served", async () => {
    const { lifetimes, isolate } = platform();
    await isolate()(owned(LONG));
    expect(lifetimes).toEqual([660]);
  });

  it('serves a value that the cron stored two minutes ago without calling the upstream', async () => {
    const { time, upstream, isolate } = platform();
    await isolate()(refreshing(prewarmed(900_000), true));
    time.now += 120_000;
    await isolate()(prewarmed(900_000));
    expect(upstream.calls).toBe(1);
  });

  it('loads once a minute and writes at most once a second while KV lags a minute in two locations', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    const { kv: memory } = createKv();
    const kv = new PlatformKv(memory);
    const isolates = [kv.location(), kv.location()].flatMap((location) =>
      Array.from({ length: 3 }, () => new Cache({ kv: location, now: Date.now, defer: () => undefined })),
    );
    const policies = { minute: prewarmed(900_000), slow: prewarmed(900_000, 600_000) };
    const loads = { minute: 0, slow: 0 };
    const ages: number[] = [];
    const load = (key: keyof typeof loads) => async () => ++loads[key];
    for (let second = 0; second < 1_800; second += 1) {
      vi.setSystemTime(second * 1_000);
      const cron = second % 60 === 0 ? isolates[(second / 60) % isolates.length] : undefined;
      await cron?.read('minute', owned(policies.minute), load('minute'));
      await cron?.read('slow', owned(policies.slow, Date.now() - 600_000), load('slow'));
      for (const isolate of isolates)
        for (const key of ['minute', 'slow'] as const) {
          const { asOf, stale } = await isolate.read(key, policies[key], load(key));
          expect(stale).toBe(false);
          if (key === 'minute') ages.push(Date.now() - asOf);
        }
    }
    expect(loads.minute).toBe(30);
    // Two more at the start: the location of the first run serves the absence of the value.
    expect(loads.slow).toBe(5);
    expect(Math.max(...ages)).toBeLessThanOrEqual(150_000);
    // An operation has changed: every isolate reads again at the same moment.
    const again = { ...policies.minute, notBefore: Date.now() };
    await Promise.all(isolates.map((isolate) => isolate.read('minute', again, load('minute'))));
    expect(kv.refused).toEqual([]);
  });

  it('the cache still serves reads when KV fails', async () => {
    const kv = { get: () => Promise.reject(new Error('KV')), put: () => Promise.reject(new Error('KV')) };
    const cache = new Cache({ kv: kv as unknown as KVNamespace, now: () => 0, defer: (work) => void work });
    expect((await cache.read('key', owned(LONG), async () => 1)).value).toBe(1);
  });
});

type Change = { readonly at: number; readonly isOwn: boolean };

it("shows the service's own changes within 2 seconds and others within a minute, in each isolate, while KV lags", async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 });
  const step = 250;
  const arbitraryChange = fc.record({ at: fc.nat(300_000), isOwn: fc.boolean() });
  const arbitraryReads = fc.array(fc.boolean(), { minLength: 16, maxLength: 64 });
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryChange, { maxLength: 6 }), arbitraryReads, async (changes, reads) => {
      vi.setSystemTime(0);
      const seenAt = (at: number, isSeen: (change: Change) => boolean): number =>
        changes.filter((change) => change.at <= at && isSeen(change)).length;
      const { kv: memory } = createKv();
      const kv = new PlatformKv(memory);
      const database = { reads: 0 };
      const isolates = [kv.location(), kv.location()].map((location) => {
        const lastChange = async () => {
          database.reads += 1;
          return Math.max(0, ...changes.flatMap(({ at, isOwn }) => (isOwn && at <= Date.now() ? at : [])));
        };
        return new Cache({ kv: location, now: Date.now, lastChange, defer: () => undefined });
      });
      /** A node shows a transaction a second after the custodian has seen it. */
      const load = async () => ({
        own: seenAt(Date.now() - 1_000, ({ isOwn }) => isOwn),
        others: seenAt(Date.now(), ({ isOwn }) => !isOwn),
      });
      for (let now = 0; now < 310_000; now += step) {
        vi.setSystemTime(now);
        const turn = now / step;
        if (now % 60_000 === 0) await isolates[(now / 60_000) % 2]?.read('key', owned(CHAIN_POLICY), load);
        if (!reads[turn % reads.length]) continue;
        const { value } = (await isolates[turn % 2]?.read('key', CHAIN_POLICY, load)) ?? {};
        expect(value?.own).toBeGreaterThanOrEqual(seenAt(now - 2_000, ({ isOwn }) => isOwn));
        expect(value?.others).toBeGreaterThanOrEqual(seenAt(now - 60_000, ({ isOwn }) => !isOwn));
      }
      expect(database.reads).toBeLessThanOrEqual(2 * 310);
    }),
    { numRuns: 30 },
  );
});

it('does not join a load that began before the last change', async () => {
  const time = { now: 10_000, changed: 0 };
  const lastChange = async () => time.changed;
  const cache = new Cache({ now: () => time.now, lastChange, defer: () => undefined });
  const before = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const first = cache.read('key', CHAIN_POLICY, () => {
    begun.resolve();
    return before.promise;
  });
  await begun.promise;
  time.changed = 12_000;
  time.now = 15_000;
  expect((await cache.read('key', CHAIN_POLICY, async () => 'after')).value).toBe('after');
  before.resolve('before');
  expect((await first).value).toBe('before');
  expect((await cache.read('key', CHAIN_POLICY, async () => 'again')).value).toBe('after');
});

it.each([
  ['fails', () => Promise.reject(new Error('D1'))],
  ['hangs', () => new Promise<never>(() => undefined)],
])('the age alone decides while the last change %s', async (_how, lastChange) => {
  vi.useFakeTimers();
  const cache = new Cache({ now: Date.now, lastChange, defer: () => undefined });
  const read = async (value: string) => {
    const found = cache.read('key', CHAIN_POLICY, async () => value);
    await vi.advanceTimersByTimeAsync(1_000);
    return (await found).value;
  };
  expect(await read('one')).toBe('one');
  expect(await read('two')).toBe('one');
});

it('serves an older value as stale after 3 seconds while the upstream hangs, and then at once', async () => {
  vi.useFakeTimers();
  const cache = new Cache({ now: Date.now, defer: () => undefined });
  await cache.read('key', SHORT, async () => 'one');
  await vi.advanceTimersByTimeAsync(30_000);
  const read = () => cache.read('key', SHORT, () => new Promise<string>(() => undefined));
  const first = read();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await first).toMatchObject({ value: 'one', stale: true });
  const second = read();
  await vi.advanceTimersByTimeAsync(0);
  expect(await second).toMatchObject({ value: 'one', stale: true });
});

it('loads several keys together, and each key at most once while it is fresh', async () => {
  const time = { now: 0 };
  const cache = new Cache({ now: () => time.now, defer: () => undefined });
  const loads: (readonly string[])[] = [];
  const read = (...keys: string[]) =>
    cache.readMany(keys, SHORT, async (missing) => {
      loads.push(missing);
      if (missing.includes('broken')) throw new Error('down');
      return new Map(missing.map((key) => [key, key.toUpperCase()]));
    });
  expect((await read('a', 'b')).get('b')).toEqual({ value: 'B', asOf: 0, stale: false });
  time.now = 10_000;
  await read('c');
  expect([...(await read('a', 'c', 'broken')).keys()]).toEqual(['a', 'c']);
  expect((await read('a')).get('a')).toEqual({ value: 'A', asOf: 0, stale: true });
  expect(loads).toEqual([['a', 'b'], ['c'], ['a', 'broken']]);
});

it('`readMany` loads values from before the last change again only if operations change them', async () => {
  const time = { now: 10_000, changed: 0 };
  const lastChange = async () => time.changed;
  const cache = new Cache({ now: () => time.now, lastChange, defer: () => undefined });
  const supplyOf = async (changedByOperations: boolean) => {
    const policy = { freshMs: 60_000, staleMs: 60_000, changedByOperations };
    const load = async () => new Map([['mint', time.now]]);
    return (await cache.readMany(['mint'], policy, load)).get('mint')?.value;
  };
  expect(await supplyOf(true)).toBe(10_000);
  time.changed = 12_000;
  time.now = 15_000;
  expect(await supplyOf(false)).toBe(10_000);
  expect(await supplyOf(true)).toBe(15_000);
});

it('the cache evicts the oldest of more than 500 values', async () => {
  const cache = new Cache({ now: () => 0, defer: () => undefined });
  let loads = 0;
  const read = (key: number) => cache.read(String(key), SHORT, async () => (loads += 1));
  for (let key = 0; key <= 500; key += 1) await read(key);
  await read(500);
  expect(loads).toBe(501);
  await read(0);
  expect(loads).toBe(502);
});

it('the cache evicts the oldest values above 8 million characters, including values in parts', async () => {
  const cache = new Cache({ now: () => 0, defer: () => undefined });
  let loads = 0;
  const read = (key: string) =>
    cache.read(key, SHORT, async () => {
      loads += 1;
      return { posts: Array.from({ length: 1_000 }, () => ({ labels: ['x'.repeat(3_000)] })) };
    });
  for (const key of ['one', 'two', 'three', 'three', 'two', 'one']) await read(key);
  expect(loads).toBe(4);
});

it('keeps the body of a response until a value in it is read again or is stale, or another part differs', async () => {
  const time = { now: 1_000_000 };
  const cache = new Cache({ now: () => time.now, defer: () => undefined });
  let isDown = false;
  const load = async () => (isDown ? Promise.reject(new Error('down')) : { sats: time.now });
  let made = 0;
  async function body(part: unknown = true): Promise<string> {
    const read = await cache.read('key', SHORT, load);
    const { text, etag } = await cache.body('key', [read, part], () => ({ made: ++made, ...read, part }));
    const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text));
    expect(etag).toBe(`"${Buffer.from(digest).toString('hex')}"`);
    return text;
  }
  const first = await body();
  time.now += 9_999;
  expect(await body()).toBe(first);
  time.now += 30_000;
  const second = await body();
  expect(JSON.parse(second)).toMatchObject({ made: 2, value: { sats: time.now }, stale: false });
  isDown = true;
  time.now += 60_000;
  expect(JSON.parse(await body())).toMatchObject({ made: 3, stale: true });
  expect(JSON.parse(await body(null))).toMatchObject({ made: 4, part: null });
  expect(JSON.parse(await body(false))).toMatchObject({ made: 5, part: false });
});
