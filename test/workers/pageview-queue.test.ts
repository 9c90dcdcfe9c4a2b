import { reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, type MockInstance, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createAnalyticsStore, type View } from '../../src/features/analytics/analytics-store.ts';
import type { Stats } from '../../src/features/analytics/get-stats.ts';
import { type PageviewMessage, queuedViews } from '../../src/features/analytics/pageview-queue.ts';
import { createPurgeStore } from '../../src/features/analytics/purge-store.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { migrate } from './fresh-storage.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = Date.parse('2026-11-20T12:00:00.000Z');

const second = Reflect.get(env, 'SECOND_DB') as D1Database;
/** A real queue, whose consumer is the Worker's own handler. */
const queue = Reflect.get(env, 'TEST_QUEUE') as Queue;
const store = createAnalyticsStore(env.DB, () => undefined);

let logged: MockInstance;
beforeEach(async () => {
  await reset();
  await Promise.all([migrate(), migrate(second)]);
  logged = vi.spyOn(console, 'log').mockImplementation(() => undefined);
});
afterEach(() => {
  Reflect.deleteProperty(env, 'ANALYTICS_DB');
  vi.restoreAllMocks();
});

let made = 0;
const newId = () => (made++).toString(16).padStart(24, '0');
const viewOf = (change: Partial<View> = {}): View => ({
  at: NOON,
  path: '/',
  referrer: '',
  ip: '203.0.113.9',
  visitor: '0'.repeat(32),
  ...change,
});
const messageOf = (change: Partial<View> = {}): PageviewMessage => {
  const { at, ...view } = viewOf(change);
  return { id: newId(), at, view };
};

const rows = async (sql: string, database = env.DB) => (await database.prepare(sql).all()).results;
const TABLES = {
  log: 'SELECT at_ms, path, referrer, ip FROM pageviews ORDER BY id',
  periods: 'SELECT * FROM pageview_periods ORDER BY 1',
  sources: 'SELECT * FROM pageview_sources ORDER BY 1, 2',
  fresh: 'SELECT * FROM pageview_new_sources ORDER BY 1',
  visitors: 'SELECT * FROM pageview_visitors ORDER BY 1, 2',
};
const contentOf = async (database: D1Database) =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(TABLES).map(async ([name, sql]) => [name, await rows(sql, database)] as const),
    ),
  );
const totalOf = async (database = env.DB) =>
  (await rows("SELECT pageviews, bots FROM pageview_periods WHERE period = 'total'", database))[0];
const loggedOnce = async (count: number) =>
  expect(await rows('SELECT count(*) AS n FROM pageviews')).toEqual([{ n: count }]);

/** Waits for the queue's own timers. */
const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 100 });

/** D1 whose first writes fail, before or after they are committed. */
function failing(times: number, when: 'before' | 'after'): D1Database {
  let left = times;
  return new Proxy(env.DB, {
    get(db, name) {
      if (name !== 'batch') return Reflect.get(db, name).bind(db);
      return async (statements: D1PreparedStatement[]) => {
        left -= 1;
        if (left >= 0 && when === 'before') throw new Error('D1_ERROR: overloaded');
        const results = await db.batch(statements);
        if (left >= 0) throw new Error('D1_ERROR: connection lost');
        return results;
      };
    },
  });
}

const sendAll = async (messages: readonly PageviewMessage[]) => {
  for (let from = 0; from < messages.length; from += 100)
    await queue.sendBatch(
      messages.slice(from, from + 100).map((body) => ({ body, contentType: 'json' as const })),
    );
};

it('counts every view of the route through the queue, as the statistics show within seconds', async () => {
  const bindings = { ...env, PAGEVIEWS_QUEUE: queue, LIMITER: { limit: async () => ({ success: true }) } };
  const deps = { ...(await apiDeps(bindings)), log: () => undefined };
  const app = createApp(() => deps);
  const send = (n: number) =>
    app.request(
      '/api/analytics/pageview',
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'cf-connecting-ip': `10.0.${n >> 8}.${n & 255}`,
          'user-agent': n % 10 === 0 ? 'Googlebot/2.1' : 'Firefox',
        },
        body: JSON.stringify({ path: `/p${n % 7}`, referrer: n % 2 ? 'https://r.example/' : '' }),
      },
      bindings,
    );
  for (let from = 0; from < 250; from += 50) {
    const sent = await Promise.all(Array.from({ length: 50 }, (_, at) => send(from + at)));
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([204]));
  }
  const stats = async () => (await app.request('/api/analytics/stats', {}, bindings)).json<Stats>();
  await until(async () => {
    const { totals, by_path, by_referrer } = await stats();
    expect(totals).toMatchObject({ pageviews: 225, visitors_24h: 225, filtered_bots: 25 });
    expect(by_path.reduce((sum, { count }) => sum + count, 0)).toBe(225);
    expect(by_referrer).toEqual([{ host: 'r.example', count: 125 }]);
  });
});

it.each(['before', 'after'] as const)(
  'loses and doubles nothing when D1 fails twice %s it has committed a batch',
  async (when) => {
    Reflect.set(env, 'ANALYTICS_DB', failing(2, when));
    await sendAll(Array.from({ length: 150 }, (_, n) => messageOf({ path: `/${n}` })));
    await until(() => loggedOnce(150));
    expect(await totalOf()).toEqual({ pageviews: 150, bots: 0 });
    expect(await rows('SELECT count(*) AS n, sum(count) AS views FROM pageview_sources')).toEqual([
      { n: 150, views: 150 },
    ]);
  },
);

it('moves an unreadable message to the dead letter queue and counts the others', async () => {
  const good = messageOf();
  const poison = { ...messageOf(), view: { ...viewOf(), path: 'no slash' } };
  await queue.sendBatch([{ body: poison }, { body: good }, { body: 'text' }]);
  const seen = () =>
    logged.mock.calls
      .map(([line]) => JSON.parse(String(line)) as { event: string; queue: string; id: string })
      .filter(({ event }) => event === 'pageview_message_invalid');
  // Three deliveries of each by the queue itself, then one by the dead letter queue.
  await until(async () => expect(seen().filter((line) => line.queue === 'pageviews-dead')).toHaveLength(2));
  expect(seen().filter((line) => line.queue === 'pageviews')).toHaveLength(6);
  expect(new Set(seen().map(({ id }) => id)).size).toBe(2);
  expect(await totalOf()).toEqual({ pageviews: 1, bots: 0 });
});

it('counts a message once that is delivered in one batch, in later ones and at the same time', async () => {
  const twice = messageOf({ path: '/twice' });
  const crawler: PageviewMessage = { id: newId(), at: NOON, view: null };
  await store.addMessages([twice, crawler, twice]);
  await store.addMessages([messageOf(), twice]);
  await store.addMessages([twice, crawler]);
  const late = messageOf({ path: '/late' });
  const raced = await Promise.allSettled([1, 2, 3].map(() => store.addMessages([late, messageOf(), twice])));
  for (const one of raced) if (one.status === 'rejected') await store.addMessages([late]);
  const paths = await rows('SELECT path, count(*) AS n FROM pageviews GROUP BY path ORDER BY path');
  expect(paths.filter(({ path }) => path !== '/')).toEqual([
    { path: '/late', n: 1 },
    { path: '/twice', n: 1 },
  ]);
  expect(await totalOf()).toMatchObject({ bots: 1 });
});

it('throws and counts nothing when D1 does not work', async () => {
  await env.DB.prepare('DROP TABLE pageview_sources').run();
  await expect(store.addMessages([messageOf()])).rejects.toThrow(/no such table/);
  expect(await rows('SELECT * FROM pageview_messages')).toEqual([]);
  await loggedOnce(0);
});

it('logs the views of a batch in the order in which they were made', async () => {
  const late = [5, 1, 4, 2, 3].map((n) => messageOf({ at: NOON + n, path: `/${n}` }));
  await store.addMessages(late);
  expect((await rows('SELECT path FROM pageviews ORDER BY id')).map(({ path }) => path)).toEqual([
    '/1',
    '/2',
    '/3',
    '/4',
    '/5',
  ]);
});

it('writes a view at once, and once, when the queue refuses its message', async () => {
  const taken: PageviewMessage[] = [];
  const refusing = {
    async send(message: PageviewMessage): Promise<never> {
      taken.push(message);
      throw new Error('Too Many Requests');
    },
  };
  const queued = queuedViews(refusing as unknown as Queue, store);
  await queued.add(viewOf());
  await queued.addBot(NOON);
  expect(await totalOf()).toEqual({ pageviews: 1, bots: 1 });
  await store.addMessages(taken);
  expect(await totalOf()).toEqual({ pageviews: 1, bots: 1 });
});

/** Generates numbers below `most`, the same in every run. */
function sequence(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % most;
  };
}

it.each([1, 2, 3])('leaves the same rows as views that are written one at a time, run %i', async (seed) => {
  const below = sequence(seed);
  const single = createAnalyticsStore(second, () => undefined);
  // Close to the bounds of a day, so that a run passes them.
  const near = `INSERT INTO pageview_new_sources VALUES ('path', '2026-11-20', 980), ('referrer', '2026-11-20', 990)`;
  for (const database of [env.DB, second]) await database.prepare(near).run();
  for (let batch = 0; batch < 6; batch += 1) {
    const messages = Array.from({ length: 1 + below(60) }, (): PageviewMessage => {
      const at = NOON + batch * 5 * HOUR + below(100) * 60_000 - (below(9) === 0 ? DAY : 0);
      if (below(6) === 0) return { id: newId(), at, view: null };
      return messageOf({
        at,
        path: `/${below(3) ? below(4) : below(500)}`,
        referrer: 'https://r.example/',
        referrerHost: below(3) ? `r${below(40)}.example` : undefined,
        ip: below(2) ? null : '203.0.113.9',
        visitor: below(30).toString(16).padStart(32, '0'),
      });
    }).toSorted((a, b) => a.at - b.at);
    await store.addMessages(messages);
    for (const { at, view } of messages) await (view ? single.add({ at, ...view }) : single.addBot(at));
  }
  const [batched, one] = [await contentOf(env.DB), await contentOf(second)];
  expect(batched).toEqual(one);
  expect(JSON.stringify(one.sources)).toContain('other');
});

it('counts at most 1,000 new names and 1,000,000 visitors a day in one batch', async () => {
  await store.addMessages([messageOf()]);
  await env.DB.prepare(`UPDATE pageview_periods SET visitors = 999998 WHERE period = 'day 2026-11-20'`).run();
  await env.DB.prepare(`UPDATE pageview_new_sources SET count = 998`).run();
  const many = () =>
    Array.from({ length: 5 }, (_, n) =>
      messageOf({ path: `/${newId()}`, visitor: `${n}`.padStart(32, 'a') }),
    );
  await store.addMessages(many());
  await store.addMessages(many());
  expect(await rows("SELECT visitors FROM pageview_periods WHERE period = 'day 2026-11-20'")).toEqual([
    { visitors: 1_000_000 },
  ]);
  expect(await rows("SELECT count FROM pageview_new_sources WHERE kind = 'path'")).toEqual([
    { count: 1_000 },
  ]);
  expect(await rows("SELECT count FROM pageview_sources WHERE value = 'other'")).toEqual([{ count: 8 }]);
});

it('deletes ids of messages after five days, and older hours beyond 5,000,000 ids', async () => {
  const at = [NOON - 5 * DAY - HOUR, NOON - 5 * DAY, NOON - 2 * HOUR, NOON - HOUR, NOON];
  await store.addMessages(at.map((time) => messageOf({ at: time })));
  const hours = async () => (await rows('SELECT hour FROM pageview_messages')).map(({ hour }) => hour);
  const purge = () => createPurgeStore(env.DB).deleteMessages(NOON - 5 * DAY, 5_000_000, 100);
  expect(await purge()).toBe(1);
  expect(await hours()).toHaveLength(4);
  await env.DB.prepare(
    "UPDATE pageview_periods SET pageviews = 5000000 WHERE period = 'hour 2026-11-20T11'",
  ).run();
  expect(await purge()).toBe(2);
  expect(await hours()).toEqual(['2026-11-20T11', '2026-11-20T12']);
});
