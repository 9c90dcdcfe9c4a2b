import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AppError, upstreamFailed } from '../../src/core/errors.ts';
import { CHAIN_POLICY } from '../../src/features/reserves/get-reserves.ts';
import { type CachePolicy, owned, prewarmed } from '../../src/http/cache-policy.ts';
import { Cache, Dated, Miss } from '../../src/http/cached.ts';
import { PlatformKv } from '../kit/platform/kv.ts';
import { createKv } from '../kit/platform/memory-kv.ts';
import { eachScene, msOf, playSteps } from '../kit/scenes.ts';

const SHORT: CachePolicy = { freshMs: 10_000, revalidateMs: 20_000, staleMs: 600_000 };
const LONG: CachePolicy = { freshMs: 60_000, revalidateMs: 0, staleMs: 600_000 };
const POLICIES: Readonly<Record<string, CachePolicy>> = {
  short: SHORT,
  long: owned(LONG),
  kv: { ...LONG, kv: 'read' },
  warmed: prewarmed(900_000),
  cron: owned(prewarmed(900_000)),
  chain: CHAIN_POLICY,
};

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

const never = () => new Promise<never>(() => undefined);
const down = () => Promise.reject(new Error('down'));
/** A load that its own request ends a second later. */
const refusing = (error: Error) => async () => {
  await new Promise((ends) => setTimeout(ends, 1_000));
  throw error;
};
/** What the upstream does instead of sending its value. */
const FAULTS: Readonly<Record<string, () => Promise<never>>> = {
  down,
  hung: never,
  gone: () => Promise.reject(new Miss(new Error('unknown'))),
  limited: refusing(new AppError('RATE_LIMITED', 'no calls left')),
  busy: refusing(upstreamFailed('mempool.space', 'busy')),
};

/** Plays steps with isolates, each named by a letter and its release, such as `a` or `b.r2`. */
async function play(steps: string): Promise<void> {
  const upstream = { value: 'one', fault: 'none', calls: 0, changed: async () => 0 };
  const stored = new Map<string, string>();
  const storage = { fails: false, lifetime: 0 };
  const held: (() => void)[] = [];
  const answers: string[] = [];
  const kv = {
    get: async (key: string) => (storage.fails ? down() : JSON.parse(stored.get(key) ?? 'null')),
    async put(key: string, text: string, { expirationTtl = 0 } = {}) {
      if (storage.fails) return down();
      stored.set(key, text);
      storage.lifetime = expirationTtl;
    },
  } as unknown as KVNamespace;
  async function load(): Promise<string> {
    upstream.calls += 1;
    const { value, fault } = upstream;
    if (fault === 'held') await new Promise<void>((ends) => held.push(ends));
    return FAULTS[fault]?.() ?? value;
  }
  const isolates = new Map<string, Cache>();
  /** The value, its age, and whether it is stale; else the error. */
  async function read(name = 'a', policy = 'short'): Promise<string> {
    const options = { kv, release: name.split('.')[1] ?? 'r1', lastChange: () => upstream.changed() };
    const cache = isolates.get(name) ?? new Cache({ ...options, now: Date.now, defer: () => undefined });
    isolates.set(name, cache);
    try {
      const { value, asOf, stale } = await cache.read('key', POLICIES[policy] ?? SHORT, load);
      return `${value} ${(Date.now() - asOf) / 1_000}s${stale ? ' stale' : ''}`;
    } catch (error) {
      return String(error);
    }
  }
  const verbs = {
    read,
    /** A read whose answer is not awaited. */
    ask: (name?: string, policy?: string) => void read(name, policy).then((answer) => answers.push(answer)),
    answers: () => answers.splice(0).join(', ') || 'none',
    /** Time passes; a negative time sets the clock back. */
    wait: (length: string) =>
      length.startsWith('-')
        ? void vi.setSystemTime(Date.now() + msOf(length))
        : vi.advanceTimersByTimeAsync(msOf(length)),
    value: (value: string) => Object.assign(upstream, { value }),
    upstream: (fault: string) => Object.assign(upstream, { fault }),
    end() {
      for (const ends of held.splice(0)) ends();
    },
    calls: () => upstream.calls,
    stored: () => [...stored.keys()].join() || 'none',
    lifetime: () => storage.lifetime,
    'kv-fails': () => Object.assign(storage, { fails: true }),
    change(how: string) {
      const at = Date.now();
      const ways: Readonly<Record<string, () => Promise<number>>> = {
        now: async () => at,
        fails: down,
        hangs: never,
      };
      Object.assign(upstream, { changed: ways[how] });
    },
  };
  await playSteps(steps, verbs);
}

eachScene(`
  the cache calls the upstream once until the value is no longer fresh
    | read = one 0s; wait 9s999ms; read = one 9.999s; calls = 1
  the cache serves an older value at once while it loads a new one
    | read; wait 10s; value two; read = one 10s; read = two 0s
  the cache serves the last value as stale until its maximum age
    | read; upstream down; wait 9m59s999ms; read = one 599.999s stale; wait 1ms; read = Error: down
  the cache contacts a failed upstream again only after a pause
    | upstream down; read = Error: down; read = Error: down; read = Error: down; calls = 1;
      wait 2s; upstream up; read = one 0s
  a value is stale from the first failed read on until a read succeeds
    | read; upstream down; wait 10s; read = one 10s; wait 1ms; read = one 10.001s stale;
      upstream up; wait 2s; read; read = one 0s
  an older value is served as stale after 3 seconds while the upstream hangs, and then at once
    | read; wait 30s; upstream hung; ask; wait 2s999ms; answers = none; wait 1ms; answers = one 33s stale;
      ask; wait 0s; answers = one 33s stale
  concurrent requests for one value load it once
    | ask; ask; ask; wait 0s; answers = one 0s, one 0s, one 0s; calls = 1
  a request loads the value itself if the load of a cancelled request does not settle within 10 seconds
    | upstream hung; ask; upstream up; ask; wait 9s999ms; answers = none; wait 1ms; answers = one 0s
  a load that fails because its request has used up its calls fails no other request
    | upstream limited; ask; upstream up; ask; wait 1s; answers = AppError: no calls left, one 0s
  a load that fails because its request has no free connection fails no other request
    | upstream busy; ask; upstream up; ask; wait 1s; answers = AppError: The upstream service mempool.space failed., one 0s
  a miss is remembered for a minute in memory only, and its reason is thrown
    | upstream gone; read a long = Error: unknown; wait 59s999ms; read a long = Error: unknown; calls = 1;
      stored = none; upstream up; wait 1ms; read = one 0s
  a miss replaces an older value
    | read; wait 30s; upstream gone; read = Error: unknown; read = Error: unknown; calls = 2
  KV stores the values that the cron loaded, for all isolates of the release
    | read a.r1 long; stored = cache:r1:key; wait 30s; read b.r1 kv = one 30s; calls = 1; read c.r2 kv; calls = 2
  KV stores no value that a request loaded
    | read a warmed; calls = 1; stored = none
  KV keeps the value of the cron for a minute longer than it may be served
    | read a long; lifetime = 660
  a value that the cron stored two minutes ago is served without a call to the upstream
    | read c cron; wait 2m; read w warmed = one 120s; calls = 1
  the cache still serves reads when KV fails
    | kv-fails; read a long = one 0s
  a value is stale in every isolate from the first failed read of the cron until the next read succeeds
    | read c cron; read w warmed = one 0s; upstream down; wait 1m; read c cron;
      read w warmed = one 60s stale; read n warmed = one 60s stale;
      wait 1m; read c cron; read w warmed = one 120s stale; read n warmed = one 120s stale;
      upstream up; wait 1m; read c cron; read w warmed = one 0s; read n warmed = one 0s; calls = 4
  a value that was read while the clock was a day ahead is read again once the clock is right
    | wait 1d; read = one 0s; wait -1d; value two; read = two 0s
  a request joins no load that began while the clock was a day ahead
    | wait 1d; upstream hung; ask; wait -1d; upstream up; read = one 0s
  an isolate whose clock was ahead does not keep its value fresh in other isolates
    | wait 1h; read a long; wait -1h; value two; read b kv = two 0s
  an isolate whose clock was a day ahead takes the value that the cron stores once the clock is right
    | wait 1d; read w warmed = one 0s; wait -1d; value two; read c cron; wait 1s; read w warmed = two 1s; calls = 2
  a load that failed while the clock was a day ahead delays no load once the clock is right
    | wait 1d; upstream down; read = Error: down; wait -1d; upstream up; read = one 0s
  a failure while the clock was a day ahead makes no later value of the cron stale
    | wait 1d; upstream down; read w warmed = Error: down; wait -1d; upstream up; read c cron; read w warmed = one 0s
  a request joins no load that began before the last change, and that load replaces no newer value
    | value before; upstream held; ask a chain; wait 2s; change now; wait 3s; value after; upstream up;
      read a chain = after 0s; end; wait 0s; answers = before 5s; value again; read a chain = after 0s
  the age alone decides while the last change cannot be read
    | change fails; read a chain = one 0s; value two; wait 1s; read a chain = one 1s
  the age alone decides while the read of the last change hangs
    | change hangs; ask a chain; wait 1s; value two; ask a chain; wait 1s; answers = one 0s, one 1s
`)('%s', (_title, steps = '') => play(steps));

it('a value that is made from another value has its time, and is stale if the other value is', async () => {
  const cache = new Cache({ now: () => 60_000, defer: () => undefined });
  for (const stale of [false, true]) {
    const load = async () => new Dated({ value: 'one', asOf: 1_000, stale });
    expect(await cache.read(`key ${stale}`, LONG, load)).toEqual({ value: 'one', asOf: 1_000, stale });
  }
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

it('`readMany` reloads values that are older than the last change only if operations change them', async () => {
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

it('the cache forgets the oldest of more than 500 misses, and no other', async () => {
  const cache = new Cache({ now: () => 0, defer: () => undefined });
  let loads = 0;
  const load = async () => {
    loads += 1;
    throw new Miss(new Error('unknown'));
  };
  const read = (key: number) => cache.read(String(key), SHORT, load).catch(() => undefined);
  for (let key = 0; key <= 500; key += 1) await read(key);
  for (const key of [1, 500, 0]) await read(key);
  expect(loads).toBe(502);
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
