import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { countPageview } from '../../src/features/analytics/count-pageview.ts';
import { getStats, type Stats } from '../../src/features/analytics/get-stats.ts';
import type { StatsBounds } from '../../src/features/analytics/page-views-store.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { eachScene, playSteps } from '../kit/scenes.ts';
import {
  billed,
  HOUR,
  inStorage,
  moveClock,
  NOON,
  pageViewService,
  pageViewVerbs,
  rows,
} from './page-views-kit.ts';

const service = pageViewService();
const { view, views, readStats, stats } = service;

it('a page view returns 204 without a body and is logged with its time and address', async () => {
  const response = await view({ path: '/reserves', referrer: 'https://example.com/a?q=1' });
  expect([response.status, await response.text()]).toEqual([204, '']);
  expect(await rows('SELECT at_ms, path, referrer, ip FROM views')).toEqual([
    { at_ms: NOON, path: '/reserves', referrer: 'https://example.com/a', ip: '203.0.113.9' },
  ]);
});

it('the statistics have totals, paths, referrers, last views, daily and hourly series, and are never cached', async () => {
  await view({ path: '/a', referrer: 'https://example.com/x' });
  moveClock(1_000);
  await view({ path: '/b' }, { 'cf-connecting-ip': '2001:db8:1:2::9' });
  const response = await readStats();
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
      { t: '2100-11-20T12:00:01.000Z', path: '/b', referrer: '', ip: '2001:db8:1::/48' },
      { t: '2100-11-20T12:00:00.000Z', path: '/a', referrer: 'https://example.com/x', ip: '203.0.113.0/24' },
    ],
    as_of: '2100-11-20T12:00:01.000Z',
  });
  expect([body.series.length, body.series_hourly.length]).toEqual([30, 48]);
  expect(body.series.at(-1)).toEqual({ day: '2100-11-20', pageviews: 2, visitors: 2 });
  expect(body.series_hourly.at(-1)).toEqual({ hour: '2100-11-20T12:00:00.000Z', pageviews: 2 });
  expect(JSON.stringify(body)).not.toContain('203.0.113.9');
});

it.each([1, 5])('counts each of 200 views when %d objects share them', async (objects) => {
  const settings = { ...env, PAGE_VIEW_OBJECTS: String(objects) } as Env;
  const { analytics } = await apiDeps(settings);
  const sent = Array.from({ length: 200 }, (_, n) =>
    countPageview(analytics, {
      path: '/',
      referrer: '',
      ip: `198.51.100.${n}`,
      userAgent: 'Mozilla/5.0 Firefox/130.0',
    }),
  );
  await Promise.all(sent);
  expect(analytics.pageViews()).toHaveLength(objects);
  const { totals } = await getStats(analytics);
  expect([totals.pageviews, totals.visitors_24h]).toEqual([200, 200]);
});

it('the statistics of an empty log are zeros', async () => {
  const body = await stats();
  expect(body.totals).toEqual({ pageviews: 0, last_24h: 0, last_7d: 0, visitors_24h: 0, filtered_bots: 0 });
  expect([body.by_path, body.by_referrer, body.recent]).toEqual([[], [], []]);
  expect(body.series.every(({ pageviews }) => pageviews === 0)).toBe(true);
});

eachScene(`
  the last 24 hours and the last 7 days include the current hour
    | wait -168h; view; wait 1h; view; wait 143h; view; wait 1h; view; wait 23h; view; wait 59m; totals = 5, 2, 4, 1, 0
  a visitor counts once a day, by network and browser
    | view / firefox; view / firefox; view / safari; totals = 3, 3, 3, 2, 0; wait 12h; totals = 3, 3, 3, 0, 0;
      view / firefox; totals = 4, 4, 4, 1, 0; last-days = 2, 1
  crawlers are counted separately and not logged
    | view / crawler; view / firefox; totals = 1, 1, 1, 1, 1; paths = / 1; recent = 203.0.113.0/24
  the site itself is not listed as a referrer
    | view /b firefox https://sluice.test/a; referrers = none; recent = https://sluice.test/a 203.0.113.0/24
`)('%s', (_title, steps = '') => playSteps(steps, pageViewVerbs(service)));

it('the statistics list the 100 most viewed paths and the last 50 views', async () => {
  await inStorage(({ sql }) =>
    sql.exec(
      `INSERT INTO names WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
       SELECT 'path', '/p' || i, i FROM n`,
    ),
  );
  await views(55, (n) => view({ path: '/last' }, { 'cf-connecting-ip': `10.0.0.${n}` }));
  const { by_path, recent } = await stats();
  expect(by_path.length).toBe(100);
  expect(by_path[0]).toEqual({ path: '/p150', count: 150 });
  expect(by_path.at(-1)?.count).toBe(52);
  expect(recent.length).toBe(50);
});

it('the statistics of 200,000 views read as many rows as the statistics of 2,000 views', async () => {
  /** Views over 60 days, 400 paths and 200 hosts, with the sums that they leave. */
  const fill = async (from: number, to: number) => {
    const period = (label: string, format: string) =>
      `INSERT INTO periods SELECT '${label}' || strftime('${format}', at_ms / 1000, 'unixepoch'), count(*), 1, 0
       FROM views GROUP BY 1`;
    await inStorage(({ sql }) =>
      sql.exec(
        [
          `INSERT INTO views (at_ms, path, referrer, ip) WITH RECURSIVE n(i) AS
           (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${to})
           SELECT ${NOON} - (i % 1440) * ${HOUR}, '/p' || (i % 400), 'https://r' || (i % 200) || '.example/', NULL FROM n`,
          'DELETE FROM periods',
          'DELETE FROM names',
          "INSERT INTO periods SELECT 'total', count(*), 0, 0 FROM views",
          period('day ', '%Y-%m-%d'),
          period('hour ', '%Y-%m-%dT%H'),
          "INSERT INTO names SELECT 'path', path, count(*) FROM views GROUP BY path",
          "INSERT INTO names SELECT 'referrer', referrer, count(*) FROM views GROUP BY referrer",
        ].join(';'),
      ),
    );
  };
  const read = async () => {
    let pageviews = 0;
    const { read: rowsRead } = await billed(async (store) => {
      const objects = [{ read: async (bounds: StatsBounds) => store.read(bounds) }];
      const { totals } = await getStats({ pageViews: () => objects, now: Date.now });
      pageviews = totals.pageviews;
    });
    return { pageviews, rowsRead };
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

it('returns 500 ANALYTICS_WRITE_FAILED without counting the view when the log cannot be written', async () => {
  await inStorage(({ sql }) => sql.exec('DROP TABLE names'));
  const response = await view({ path: '/' });
  expect(response.status).toBe(500);
  const body = await response.json<{ error_code: string; error: string }>();
  expect(body).toMatchObject({ error_code: 'ANALYTICS_WRITE_FAILED', retryable: true });
  // The id is random and may contain any two digits.
  expect(JSON.stringify({ ...body, request_id: '' })).not.toMatch(/SQL|table/i);
  for (const table of ['views', 'periods', 'visitors', 'salts'])
    expect(await rows(`SELECT * FROM ${table}`)).toEqual([]);
});

it('returns 500 ANALYTICS_READ_FAILED, not zeros, when the sums cannot be read', async () => {
  await inStorage(({ sql }) => sql.exec('DROP TABLE views'));
  const response = await readStats();
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ error_code: 'ANALYTICS_READ_FAILED' });
});
