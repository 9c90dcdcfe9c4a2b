import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { Stats } from '../../src/features/analytics/get-stats.ts';
import { createPurgeStore, purgeAnalytics } from '../../src/features/analytics/purge-store.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { scheduledDeps } from '../../src/wiring/scheduled.ts';
import { FULL_DATABASE, freshStorageForEachTest, migrate } from './fresh-storage.ts';

freshStorageForEachTest();

const DAY = 86_400_000;
const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const NEW_NAMES_A_DAY = 1_000;
const second = Reflect.get(env, 'SECOND_DB') as D1Database;
const limiter = { limit: async () => ({ success: true }) };

let clock: number;
let app: ReturnType<typeof createApp>;
const appOn = async (bindings: Env) => {
  const deps = await apiDeps(bindings);
  return createApp(() => ({
    ...deps,
    log: () => undefined,
    analytics: { ...deps.analytics, now: () => clock },
  }));
};
beforeEach(async () => {
  clock = NOON;
  app = await appOn({ ...env });
});

const view = async (body: object, headers: Record<string, string> = {}, to = app) =>
  to.request(
    '/api/analytics/pageview',
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'cf-connecting-ip': '203.0.113.9', ...headers },
      body: JSON.stringify(body),
    },
    { ...env, LIMITER: limiter },
  );

/** Sends views 100 at a time. */
async function views(count: number, viewOf: (n: number) => Promise<Response>): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    const sent = await Promise.all(
      Array.from({ length: Math.min(100, count - from) }, (_, at) => viewOf(from + at)),
    );
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([204]));
  }
}

const rows = async <T>(sql: string, database = env.DB) => (await database.prepare(sql).all<T>()).results;
const sizeOf = async (database: D1Database) =>
  (await database.prepare('UPDATE pageview_ip_mark SET last_id = 0 WHERE one = 2').run()).meta.size_after;
const purge = () =>
  purgeAnalytics({
    analytics: createPurgeStore(env.DB),
    ipRetentionDays: 30,
    now: () => clock,
  });

const label = (n: number) => `${n}-${'a'.repeat(57)}`;
/** The longest path, referrer, host, address and visitor that the route accepts, different in each view. */
const longest = (n: number) =>
  view(
    {
      path: `/${n}/`.padEnd(1_024, '漢'),
      referrer: `https://${label(n)}.${label(n)}.${label(n)}.example/`.padEnd(4_096, 'b'),
    },
    { 'user-agent': `browser ${n}`.padEnd(400, 'c'), 'cf-connecting-ip': `2001:db8:1111:${n}::9` },
  );

it('stores at most 2.5 KB per view for new names and 1 KB for further ones, with any input', async () => {
  const empty = await sizeOf(env.DB);
  await views(NEW_NAMES_A_DAY, longest);
  const full = await sizeOf(env.DB);
  expect((full - empty) / NEW_NAMES_A_DAY).toBeLessThan(2_500);
  await views(NEW_NAMES_A_DAY, (n) => longest(n + NEW_NAMES_A_DAY));
  expect(((await sizeOf(env.DB)) - full) / NEW_NAMES_A_DAY).toBeLessThan(1_000);
});

it('adds at most 1,000 paths and 1,000 referrers a day and counts every view', async () => {
  await view({ path: '/known', referrer: 'https://known.example/' });
  const made = (n: number) => view({ path: `/made-up/${n}`, referrer: `https://made-up-${n}.example/` });
  await views(NEW_NAMES_A_DAY + 100, made);
  await view({ path: '/known', referrer: 'https://known.example/' });
  const total = NEW_NAMES_A_DAY + 102;
  const names = `SELECT kind, count(*) AS names, sum(count) AS views FROM pageview_sources GROUP BY kind ORDER BY kind`;
  expect(await rows(names)).toEqual([
    { kind: 'path', names: NEW_NAMES_A_DAY + 1, views: total },
    { kind: 'referrer', names: NEW_NAMES_A_DAY + 1, views: total },
  ]);
  const stats = async () => (await app.request('/api/analytics/stats', {}, env)).json<Stats>();
  const { totals, by_path, by_referrer } = await stats();
  expect(totals.pageviews).toBe(total);
  expect(by_path.slice(0, 2)).toEqual([
    { path: 'other', count: 101 },
    { path: '/known', count: 2 },
  ]);
  expect(by_referrer.slice(0, 2)).toEqual([
    { host: 'other', count: 101 },
    { host: 'known.example', count: 2 },
  ]);

  clock += DAY;
  for (const _ of [1, 2, 3]) await view({ path: '/next-day' });
  expect((await stats()).by_path[1]).toEqual({ path: '/next-day', count: 3 });
  clock -= DAY;
  await view({ path: '/late' });
  expect(await rows("SELECT count FROM pageview_sources WHERE value = '/late'")).toEqual([{ count: 1 }]);
  expect(await rows("SELECT day, count FROM pageview_new_sources WHERE kind = 'path'")).toEqual([
    { day: '2026-11-21', count: 2 },
  ]);
});

it('counts at most 1,000,000 visitors a day and every one of their views', async () => {
  await view({ path: '/' });
  await env.DB.prepare("UPDATE pageview_periods SET visitors = 999998 WHERE period = 'day 2026-11-20'").run();
  for (let n = 0; n < 5; n++) await view({ path: '/' }, { 'user-agent': `browser ${n}` });
  expect(
    await rows("SELECT pageviews, visitors FROM pageview_periods WHERE period = 'day 2026-11-20'"),
  ).toEqual([{ pageviews: 6, visitors: 1_000_000 }]);
  expect(await rows('SELECT count(*) AS n FROM pageview_visitors')).toEqual([{ n: 2 }]);
});

it('deletes views after 90 days except the newest 50, and keeps their sums', async () => {
  await views(60, (n) => view({ path: `/${n}` }));
  clock += 90 * DAY;
  expect(await purge()).toMatchObject({ deleted: 0 });
  clock += 1;
  expect(await purge()).toMatchObject({ deleted: 10 });
  expect(await purge()).toMatchObject({ deleted: 0 });
  await view({ path: '/new' });
  expect(await rows('SELECT min(id) AS first, max(id) AS last, count(*) AS n FROM pageviews')).toEqual([
    { first: 11, last: 61, n: 51 },
  ]);
  expect(await rows("SELECT pageviews FROM pageview_periods WHERE period = 'total'")).toEqual([
    { pageviews: 61 },
  ]);
  expect(await rows("SELECT sum(count) AS n FROM pageview_sources WHERE kind = 'path'")).toEqual([{ n: 61 }]);
  expect(await rows('SELECT path FROM pageviews WHERE ip IS NOT NULL')).toEqual([{ path: '/new' }]);
});

it('deletes the oldest views beyond 1,000,000, at most 50,000 in a run', async () => {
  await env.DB.prepare(
    `INSERT INTO pageviews (id, at_ms, path, referrer, ip) WITH RECURSIVE n(i) AS
     (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70000) SELECT i, ${NOON}, '/', '', NULL FROM n
     UNION ALL SELECT 1060000, ${NOON}, '/', '', NULL`,
  ).run();
  expect(await purge()).toMatchObject({ deleted: 50_000 });
  expect(await purge()).toMatchObject({ deleted: 10_000 });
  expect(await purge()).toMatchObject({ deleted: 0 });
  expect(await rows('SELECT min(id) AS first, count(*) AS n FROM pageviews')).toEqual([
    { first: 60_001, n: 10_001 },
  ]);
});

it('writes page views to ANALYTICS_DB where it is bound, and to DB where it is not', async () => {
  await migrate(second);
  const logged = async () =>
    Promise.all([env.DB, second].map((database) => rows('SELECT path FROM pageviews', database)));
  const apart = await appOn({ ...env, ANALYTICS_DB: second } as Env);
  expect((await view({ path: '/apart' }, {}, apart)).status).toBe(204);
  expect(await logged()).toEqual([[], [{ path: '/apart' }]]);
  expect((await view({ path: '/shared' })).status).toBe(204);
  expect(await logged()).toEqual([[{ path: '/shared' }], [{ path: '/apart' }]]);
  const stats = await apart.request('/api/analytics/stats', {}, env);
  expect(await stats.json()).toMatchObject({ by_path: [{ path: '/apart', count: 1 }] });
});

it('purges DB as well as ANALYTICS_DB, and DB even while the other is full', async () => {
  await migrate(second);
  const old = "INSERT INTO pageviews (at_ms, path, referrer, ip) VALUES (1, '/', '', '203.0.113.9')";
  const purgesOn = async (database: D1Database) =>
    (await scheduledDeps({ ...env, ANALYTICS_DB: database } as Env)).everyMinute.filter(
      ({ name }) => name === 'purge_analytics',
    );
  const kept = async () =>
    Promise.all([env.DB, second].map((database) => rows('SELECT ip FROM pageviews', database)));
  for (const database of [env.DB, second]) await database.prepare(old).run();
  for (const { run } of await purgesOn(second)) await run();
  expect(await kept()).toEqual([[{ ip: null }], [{ ip: null }]]);
  await env.DB.prepare(old).run();
  const ended = await Promise.allSettled((await purgesOn(FULL_DATABASE)).map(({ run }) => run()));
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect((await kept())[0]).toEqual([{ ip: null }, { ip: null }]);
});
