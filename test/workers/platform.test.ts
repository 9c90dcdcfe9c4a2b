/** The limits of the platform that the local runtime does not have. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { CachePolicy } from '../../src/http/cache-policy.ts';
import { Cache } from '../../src/http/cached.ts';
import { limitedD1 } from '../kit/platform/d1.ts';
import { invoke, MAX_SUBREQUESTS, subrequest, WAIT_UNTIL_MS } from '../kit/platform/invocation.ts';
import { KV_DELAY_MS, PlatformKv } from '../kit/platform/kv.ts';

const POLICY: CachePolicy = { freshMs: 10_000, revalidateMs: 0, staleMs: 0 };

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());
const pass = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

it('the model of KV repeats its last read for a minute in each location, even for an absent key', async () => {
  const kv = new PlatformKv(env.KV);
  const [here, there] = [kv.location(), kv.location()];
  expect(await there.get('key', 'json')).toBeNull();
  await here.put('key', '1');
  expect(await here.get('key', 'json')).toBe(1);
  expect(await there.get('key', 'json')).toBeNull();
  pass(KV_DELAY_MS);
  expect(await there.get('key', 'json')).toBe(1);
});

it('the model of KV refuses a second write of a key within a second, from any location', async () => {
  const kv = new PlatformKv(env.KV);
  await kv.location().put('written', '1');
  await expect(kv.location().put('written', '2')).rejects.toThrow('429');
  pass(1_000);
  await kv.location().put('written', '3');
  expect(kv.refused).toEqual(['written']);
});

it('the model of D1 refuses a statement with more than 100 parameters, or of more than 100 KB', async () => {
  const db = limitedD1(env.DB);
  const marks = (count: number): string => Array.from({ length: count }, () => '?').join();
  const values = Array.from({ length: 101 }, (_, index) => index);
  expect(
    await db
      .prepare(`SELECT 7 AS n WHERE 1 IN (${marks(100)})`)
      .bind(...values.slice(1))
      .first('n'),
  ).toBe(7);
  expect(() => db.prepare(`SELECT ${marks(101)}`).bind(...values)).toThrow('too many SQL variables');
  expect(() => db.prepare(`SELECT 1 -- ${'x'.repeat(100_000)}`)).toThrow('SQLITE_TOOBIG');
});

it('the model of Workers refuses more than 1,000 subrequests of one invocation', async () => {
  const made = invoke(async () => {
    for (let call = 0; call <= MAX_SUBREQUESTS; call += 1) await subrequest(async () => call);
  });
  await expect(made).rejects.toThrow('Too many subrequests');
});

/** A load of a cache by an invocation, which waits until `goOn`. */
function loading(signal?: AbortSignal) {
  const deferred: Promise<unknown>[] = [];
  const cache = new Cache({ now: Date.now, defer: (work) => void deferred.push(work) });
  let goOn: (value: string) => void = () => undefined;
  const upstream = new Promise<string>((resolve) => {
    goOn = resolve;
  });
  const load = () => subrequest(() => upstream);
  const invocation = invoke(async () => void cache.read('key', POLICY, load).catch(() => undefined), signal);
  return { cache, deferred, invocation, goOn };
}

it.each([
  ['drops work that a response left behind for more than 30 seconds', undefined],
  ['drops the load of a client that disconnects', new AbortController()],
])('when the platform %s, a later request loads the value itself', async (_name, client) => {
  const { cache, deferred, invocation, goOn } = loading(client?.signal);
  await invocation;
  client?.abort();
  pass(client ? 0 : WAIT_UNTIL_MS);
  goOn('too late');
  const settled = Promise.all(deferred).then(() => 'settled');
  expect(await Promise.race([settled, scheduler.wait(20).then(() => 'dropped')])).toBe('dropped');
  pass(POLICY.freshMs);
  expect((await cache.read('key', POLICY, async () => 'own')).value).toBe('own');
});
