import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createAnalyticsStore } from '../../src/features/analytics/analytics-store.ts';
import type { Stats } from '../../src/features/analytics/get-stats.ts';
import { createPurgeStore, purgeAnalytics } from '../../src/features/analytics/purge-store.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = Date.parse('2026-11-20T12:00:00.000Z');

const NOTHING_PURGED = { salts: 0, messages: 0, visitors: 0, views: 0, deleted: 0 };

const ignore = (): void => undefined;

let clock: number;
let rowsRead: number;
let limiterKeys: string[];
let ipRetentionDays: number;

/** D1 that adds up the rows that the statistics read. */
const metered: D1Database = {
  prepare(sql: string) {
    const statement = env.DB.prepare(sql);
    const bind = statement.bind.bind(statement);
    return Object.assign(statement, {
      bind(...values: unknown[]) {
        const bound = bind(...values);
        const all = bound.all.bind(bound);
        return Object.assign(bound, {
          async all() {
            const result = await all();
            rowsRead += result.meta.rows_read;
            return result;
          },
        });
      },
    });
  },
  batch: (statements: D1PreparedStatement[]) => env.DB.batch(statements),
  withSession: () => metered as Partial<D1Database> as D1DatabaseSession,
} as Partial<D1Database> as D1Database;

const limiter = {
  async limit({ key }: { key: string }) {
    limiterKeys.push(key);
    return { success: limiterKeys.filter((one) => one === key).length <= 600 };
  },
};

let app: ReturnType<typeof createApp>;
beforeEach(async () => {
  clock = NOON;
  rowsRead = 0;
  limiterKeys = [];
  ipRetentionDays = 30;
  const deps = { ...(await apiDeps(env)), log: () => undefined };
  const analytics = createAnalyticsStore(metered, ignore);
  app = createApp(() => ({
    ...deps,
    analytics: { analytics, ipRetentionDays, siteHost: 'sluice.test', now: () => clock },
  }));
});

const view = (body: unknown, headers: Record<string, string> = {}) =>
  app.request(
    '/api/analytics/pageview',
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'cf-connecting-ip': '203.0.113.9', ...headers },
      body: JSON.stringify(body),
    },
    { ...env, LIMITER: limiter },
  );

async function stats(): Promise<Stats> {
  const response = await app.request('/api/analytics/stats', {}, env);
  expect(response.status).toBe(200);
  return response.json();
}

const rows = async <T>(sql: string) => (await env.DB.prepare(sql).all<T>()).results;
const purge = () =>
  purgeAnalytics({ analytics: createPurgeStore(env.DB), ipRetentionDays, now: () => clock });

it('a page view is 204 without a body, and is logged with its time and address', async () => {
  const response = await view({ path: '/reserves', referrer: 'https://example.com/a?q=1' });
  expect([response.status, await response.text()]).toEqual([204, '']);
  expect(await rows('SELECT at_ms, path, referrer, ip FROM pageviews')).toEqual([
    { at_ms: NOON, path: '/reserves', referrer: 'https://example.com/a', ip: '203.0.113.9' },
  ]);
});

it('stats answer totals, paths, referrer hosts, the last views and both series, and are not stored by caches', async () => {
  await view({ path: '/a', referrer: 'https://example.com/x' });
  clock += 1_000;
  await view({ path: '/b' }, { 'cf-connecting-ip': '2001:db8:1:2::9' });
  const response = await app.request('/api/analytics/stats', {}, env);
  expect(response.headers.get('cache-control')).toBe('no-store');
  const body: Stats = await response.json();
  expect(body).toMatchObject({
    ok: true,
    totals: { pageviews: 2, last_24h: 2, last_7d: 2, visitors_24h: 2, filtered_bots: 0 },
    by_path: [
      { path: '/a', count: 1 },
      { path: '/b', count: 1 },
    ],
    by_referrer: [{ host: 'example.com', count: 1 }],
    recent: [
      { t: '2026-11-20T12:00:01.000Z', path: '/b', referrer: '', ip: '2001:db8:1::/48' },
      { t: '2026-11-20T12:00:00.000Z', path: '/a', referrer: 'https://example.com/x', ip: '203.0.113.0/24' },
    ],
    as_of: '2026-11-20T12:00:01.000Z',
  });
  expect([body.series.length, body.series_hourly.length]).toEqual([30, 48]);
  expect(body.series.at(-1)).toEqual({ day: '2026-11-20', pageviews: 2, visitors: 2 });
  expect(body.series_hourly.at(-1)).toEqual({ hour: '2026-11-20T12:00:00.000Z', pageviews: 2 });
  expect(JSON.stringify(body)).not.toContain('203.0.113.9');
});

it('stats of an empty log are zeros', async () => {
  const body = await stats();
  expect(body.totals).toEqual({ pageviews: 0, last_24h: 0, last_7d: 0, visitors_24h: 0, filtered_bots: 0 });
  expect([body.by_path, body.by_referrer, body.recent]).toEqual([[], [], []]);
  expect(body.series.every(({ pageviews }) => pageviews === 0)).toBe(true);
});

it.each([
  ['an empty referrer', { path: '/', referrer: '' }],
  ['unknown members', { path: '/', title: 'x', constructor: 1, screen: { w: 1, h: 2 } }],
  ['a referrer that is not a web page', { path: '/', referrer: 'android-app://com.example' }],
  ['a path in any script', { path: '/日本語/été/🙂' }],
  ['a referrer in any script', { path: '/', referrer: 'https://bücher.example/é' }],
  ['a path that looks like markup', { path: '/<script>alert(1)</script>' }],
  ['a path that looks like SQL', { path: "/'; DROP TABLE pageviews; --" }],
])('%s is accepted', async (_name, body) => {
  expect((await view(body)).status).toBe(204);
  expect((await stats()).by_path).toEqual([{ path: body.path, count: 1 }]);
});

it.each([
  ['no path', {}],
  ['a number as path', { path: 1 }],
  ['null as path', { path: null }],
  ['an empty path', { path: '' }],
  ['a path without its slash', { path: 'a' }],
  ['another site as path', { path: '//evil.example/x' }],
  ['an address as path', { path: 'https://evil.example/' }],
  ['a control character in the path', { path: '/a\u0000b' }],
  ['a line break in the path', { path: '/a\r\nb' }],
  ['half a character in the path', { path: '/\ud800' }],
  ['10 KB of path', { path: `/${'a'.repeat(10_240)}` }],
  ['10 KB of referrer', { path: '/', referrer: `https://example.com/${'a'.repeat(10_240)}` }],
  ['a control character in the referrer', { path: '/', referrer: 'https://example.com/\u0007' }],
  ['a number as referrer', { path: '/', referrer: 5 }],
  ['an array', ['/']],
  ['null', null],
  ['text', '/'],
])('%s is 400 and nothing is logged', async (_name, body) => {
  const response = await view(body);
  const problem = await response.json<{ error_code: string; error: string }>();
  expect([response.status, problem.error_code]).toEqual([400, 'INVALID_INPUT']);
  expect(problem.error).not.toBe('');
  expect(await rows('SELECT * FROM pageviews')).toEqual([]);
});

it('200 views at once are all logged and all counted', async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      view(
        { path: `/p${n % 7}`, referrer: `https://r${n % 3}.example/` },
        { 'cf-connecting-ip': `10.0.0.${n}` },
      ),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
  expect(await rows('SELECT count(*) AS n FROM pageviews')).toEqual([{ n: 200 }]);
  const { totals, by_path, by_referrer } = await stats();
  expect([totals.pageviews, totals.visitors_24h]).toEqual([200, 200]);
  expect(by_path.reduce((sum, { count }) => sum + count, 0)).toBe(200);
  expect(by_referrer.reduce((sum, { count }) => sum + count, 0)).toBe(200);
});

it('the counters are the sums of the log, over days, paths and hosts', async () => {
  for (let n = 0; n < 60; n++) {
    clock = NOON + n * 5 * HOUR;
    await view({ path: `/p${(n * n) % 11}`, referrer: n % 4 ? `https://r${n % 5}.example/` : '' });
  }
  const sums = async (sql: string) =>
    Object.fromEntries((await rows<{ k: string; n: number }>(sql)).map(({ k, n }) => [k, n]));
  expect(await sums("SELECT value AS k, count AS n FROM pageview_sources WHERE kind = 'path'")).toEqual(
    await sums('SELECT path AS k, count(*) AS n FROM pageviews GROUP BY path'),
  );
  expect(
    await sums(
      "SELECT 'https://' || value || '/' AS k, count AS n FROM pageview_sources WHERE kind = 'referrer'",
    ),
  ).toEqual(
    await sums("SELECT referrer AS k, count(*) AS n FROM pageviews WHERE referrer <> '' GROUP BY referrer"),
  );
  const period = (format: string) =>
    sums(
      `SELECT strftime('${format}', at_ms / 1000, 'unixepoch') AS k, count(*) AS n FROM pageviews GROUP BY 1`,
    );
  expect(
    await sums(
      "SELECT substr(period, 5) AS k, pageviews AS n FROM pageview_periods WHERE period LIKE 'day %'",
    ),
  ).toEqual(await period('%Y-%m-%d'));
  expect(
    await sums(
      "SELECT substr(period, 6) AS k, pageviews AS n FROM pageview_periods WHERE period LIKE 'hour %'",
    ),
  ).toEqual(await period('%Y-%m-%dT%H'));
  expect((await stats()).totals.pageviews).toBe(60);
});

it('the last 24 hours and 7 days end with the running hour', async () => {
  for (const hoursAgo of [0, 23, 24, 167, 168]) {
    clock = NOON - hoursAgo * HOUR;
    await view({ path: '/' });
  }
  clock = NOON + 59 * 60_000;
  expect((await stats()).totals).toMatchObject({ pageviews: 5, last_24h: 2, last_7d: 4 });
});

it('a visitor counts once a day, by network and browser', async () => {
  const firefox = { 'user-agent': 'Firefox' };
  for (const headers of [firefox, firefox, { 'user-agent': 'Safari' }]) await view({ path: '/' }, headers);
  expect((await stats()).totals.visitors_24h).toBe(2);
  clock += 12 * HOUR;
  expect((await stats()).totals.visitors_24h).toBe(0);
  await view({ path: '/' }, firefox);
  const { totals, series } = await stats();
  expect(totals.visitors_24h).toBe(1);
  expect(series.slice(-2).map(({ visitors }) => visitors)).toEqual([2, 1]);
});

it('crawlers are counted separately and not logged', async () => {
  await view({ path: '/' }, { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' });
  await view({ path: '/' }, { 'user-agent': 'Mozilla/5.0 Firefox/130.0' });
  const { totals, by_path, recent } = await stats();
  expect(totals).toMatchObject({ pageviews: 1, visitors_24h: 1, filtered_bots: 1 });
  expect([by_path, recent.length]).toEqual([[{ path: '/', count: 1 }], 1]);
});

it('the site itself does not count as a referrer', async () => {
  await view({ path: '/b', referrer: 'https://sluice.test/a' });
  const { by_referrer, recent } = await stats();
  expect([by_referrer, recent[0]?.referrer]).toEqual([[], 'https://sluice.test/a']);
});

it('lists hold the 100 most viewed and the last 50', async () => {
  await env.DB.prepare(
    `INSERT INTO pageview_sources WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
     SELECT 'path', '/p' || i, i FROM n`,
  ).run();
  for (let n = 0; n < 55; n++) await view({ path: '/last' }, { 'cf-connecting-ip': `10.0.0.${n}` });
  const { by_path, recent } = await stats();
  expect(by_path.length).toBe(100);
  expect(by_path[0]).toEqual({ path: '/p150', count: 150 });
  expect(by_path.at(-1)?.count).toBe(52);
  expect(recent.length).toBe(50);
});

it('stats read as many rows at 200,000 views as at 2,000', async () => {
  /** Views over 60 days, 400 paths and 200 hosts, with the counters that they leave. */
  const fill = async (from: number, to: number) => {
    const period = (label: string, format: string) =>
      `INSERT INTO pageview_periods SELECT '${label}' || strftime('${format}', at_ms / 1000, 'unixepoch'), count(*), 1, 0
       FROM pageviews GROUP BY 1`;
    for (const sql of [
      `INSERT INTO pageviews (at_ms, path, referrer, ip) WITH RECURSIVE n(i) AS
       (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${to})
       SELECT ${NOON} - (i % 1440) * ${HOUR}, '/p' || (i % 400), 'https://r' || (i % 200) || '.example/', NULL FROM n`,
      'DELETE FROM pageview_periods',
      'DELETE FROM pageview_sources',
      "INSERT INTO pageview_periods SELECT 'total', count(*), 0, 0 FROM pageviews",
      period('day ', '%Y-%m-%d'),
      period('hour ', '%Y-%m-%dT%H'),
      "INSERT INTO pageview_sources SELECT 'path', path, count(*) FROM pageviews GROUP BY path",
      "INSERT INTO pageview_sources SELECT 'referrer', referrer, count(*) FROM pageviews GROUP BY referrer",
    ])
      await env.DB.prepare(sql).run();
  };
  const read = async () => {
    rowsRead = 0;
    const { totals } = await stats();
    return { pageviews: totals.pageviews, rowsRead };
  };
  await fill(0, 2_000);
  const small = await read();
  await fill(2_000, 200_000);
  const large = await read();
  expect([small.pageviews, large.pageviews]).toEqual([2_000, 200_000]);
  expect(large.rowsRead).toBe(small.rowsRead);
  // 1 total, 30 days, 168 hours, 100 paths, 100 hosts, 50 views.
  expect(large.rowsRead).toBeGreaterThan(400);
  expect(large.rowsRead).toBeLessThan(600);
});

it('the limit counts by CF-Connecting-IP alone, IPv6 by its /64, and shows when to retry', async () => {
  for (let n = 0; n < 600; n++) limiterKeys.push('pageview:203.0.113.9');
  const refused = await view({ path: '/' }, { 'x-forwarded-for': '198.51.100.1' });
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('60');
  expect(await refused.json()).toMatchObject({ error_code: 'RATE_LIMITED', retryable: true });
  expect((await view({ path: '/' }, { 'cf-connecting-ip': '203.0.113.10' })).status).toBe(204);
  await view({ path: '/' }, { 'cf-connecting-ip': '2001:db8:1:2::1' });
  await view({ path: '/' }, { 'cf-connecting-ip': '2001:db8:1:2:ffff::2' });
  expect(limiterKeys.slice(-2)).toEqual(['pageview:2001:db8:1:2::/64', 'pageview:2001:db8:1:2::/64']);
});

it('a log that cannot be written is 500 ANALYTICS_WRITE_FAILED and counts nothing', async () => {
  await env.DB.prepare('DROP TABLE pageview_sources').run();
  const response = await view({ path: '/' });
  expect(response.status).toBe(500);
  const body = await response.json<{ error_code: string; error: string }>();
  expect(body).toMatchObject({ error_code: 'ANALYTICS_WRITE_FAILED', retryable: true });
  // The id is random and may contain any two digits.
  expect(JSON.stringify({ ...body, request_id: '' })).not.toMatch(/SQL|D1|table/i);
  expect(await rows('SELECT * FROM pageviews')).toEqual([]);
  expect(await rows('SELECT * FROM pageview_periods')).toEqual([]);
  expect(await rows('SELECT * FROM pageview_visitors')).toEqual([]);
});

it('counters that cannot be read are 500 ANALYTICS_READ_FAILED, not zeros', async () => {
  await env.DB.prepare('DROP TABLE pageviews').run();
  const response = await app.request('/api/analytics/stats', {}, env);
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ error_code: 'ANALYTICS_READ_FAILED' });
});

it('addresses are deleted when their retention time is over, and not earlier', async () => {
  await view({ path: '/old' });
  clock += 10 * DAY;
  await view({ path: '/new' });
  clock += 20 * DAY;
  expect(await purge()).toMatchObject({ views: 0 });
  clock += 1;
  expect(await purge()).toMatchObject({ views: 1 });
  expect(await rows('SELECT path, ip FROM pageviews ORDER BY id')).toEqual([
    { path: '/old', ip: null },
    { path: '/new', ip: '203.0.113.9' },
  ]);
  expect((await stats()).recent.map(({ ip }) => ip)).toEqual(['203.0.113.0/24', null]);
  clock += 10 * DAY;
  await view({ path: '/newest' });
  expect(await purge()).toMatchObject({ views: 1 });
  expect(await rows('SELECT path FROM pageviews WHERE ip IS NOT NULL')).toEqual([{ path: '/newest' }]);
  expect(await purge()).toEqual(NOTHING_PURGED);
});

it('a purge processes a long log in steps and continues where it stopped', async () => {
  await env.DB.prepare(
    `INSERT INTO pageviews (at_ms, path, referrer, ip) WITH RECURSIVE n(i) AS
     (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 60000) SELECT ${NOON}, '/', '', '203.0.113.9' FROM n`,
  ).run();
  clock = NOON + 31 * DAY;
  expect(await purge()).toMatchObject({ views: 50_000 });
  expect(await rows('SELECT count(*) AS n FROM pageviews WHERE ip IS NOT NULL')).toEqual([{ n: 10_000 }]);
  expect(await purge()).toMatchObject({ views: 10_000 });
  expect(await rows('SELECT count(*) AS n FROM pageviews WHERE ip IS NOT NULL')).toEqual([{ n: 0 }]);
});

it('deletes a salt after its day and visitor keys an hour later, and the day keeps its count', async () => {
  await view({ path: '/' });
  expect(await purge()).toEqual(NOTHING_PURGED);
  clock += 12 * HOUR;
  await view({ path: '/' });
  expect(await purge()).toEqual({ ...NOTHING_PURGED, salts: 1 });
  clock += HOUR;
  expect(await purge()).toEqual({ ...NOTHING_PURGED, visitors: 1 });
  expect(await rows('SELECT day FROM pageview_salts')).toEqual([{ day: '2026-11-21' }]);
  expect((await stats()).series.slice(-2).map(({ visitors }) => visitors)).toEqual([1, 1]);
});

it('the salt is random, new each day, and one for all isolates', async () => {
  const [first, second] = [createAnalyticsStore(env.DB, ignore), createAnalyticsStore(env.DB, ignore)];
  expect([await first.salt(NOON, () => 'a'), await second.salt(NOON, () => 'b')]).toEqual(['a', 'a']);
  expect(await second.salt(NOON + DAY, () => 'c')).toBe('c');
  clock += 5 * DAY;
  await view({ path: '/' });
  expect(await rows("SELECT salt FROM pageview_salts WHERE day = '2026-11-25'")).toEqual([
    { salt: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
});

it('with a retention of zero days no address is ever stored', async () => {
  ipRetentionDays = 0;
  await view({ path: '/' });
  expect(await rows('SELECT ip FROM pageviews')).toEqual([{ ip: null }]);
});
