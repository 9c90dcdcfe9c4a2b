import { expect, it } from 'vitest';
import { getStats } from '../../src/features/analytics/get-stats.ts';
import type { Counters } from '../../src/features/analytics/page-views-store.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const view = (at: number, path: string) => {
  return { t: new Date(NOON + at).toISOString(), path, referrer: '', ip: null };
};

const ONE: Counters = {
  periods: [
    { period: 'total', pageviews: 10, visitors: 0, bots: 1 },
    { period: 'day 2026-11-20', pageviews: 4, visitors: 3, bots: 1 },
    { period: 'hour 2026-11-20T12', pageviews: 2, visitors: 0, bots: 0 },
  ],
  paths: [
    { value: '/a', count: 6 },
    { value: '/b', count: 4 },
  ],
  referrers: [{ value: 'example.com', count: 2 }],
  recent: [view(3, '/3'), view(1, '/1')],
};
const OTHER: Counters = {
  periods: [
    { period: 'total', pageviews: 5, visitors: 0, bots: 2 },
    { period: 'day 2026-11-20', pageviews: 5, visitors: 1, bots: 2 },
    { period: 'hour 2026-11-20T11', pageviews: 5, visitors: 0, bots: 2 },
  ],
  paths: [
    { value: '/b', count: 3 },
    { value: '/c', count: 2 },
  ],
  referrers: [],
  recent: [view(2, '/2')],
};

it('the statistics add the sums of all page-view objects and merge their lists', async () => {
  const objects = [ONE, OTHER].map((counters) => ({ read: async () => counters }));
  const stats = await getStats({ pageViews: () => objects, now: () => NOON });
  expect(stats.totals).toEqual({ pageviews: 15, last_24h: 7, last_7d: 7, visitors_24h: 4, filtered_bots: 3 });
  expect(stats.by_path).toEqual([
    { path: '/b', count: 7 },
    { path: '/a', count: 6 },
    { path: '/c', count: 2 },
  ]);
  expect(stats.by_referrer).toEqual([{ host: 'example.com', count: 2 }]);
  expect(stats.recent.map(({ path }) => path)).toEqual(['/3', '/2', '/1']);
  expect(stats.series.at(-1)).toEqual({ day: '2026-11-20', pageviews: 9, visitors: 4 });
  expect(stats.series_hourly.slice(-2).map(({ pageviews }) => pageviews)).toEqual([5, 2]);
});

it('the statistics fail if one of the page-view objects cannot be read', async () => {
  const dead = { read: () => Promise.reject(new Error('the object is overloaded')) };
  const read = getStats({ pageViews: () => [{ read: async () => ONE }, dead], now: () => NOON });
  await expect(read).rejects.toMatchObject({ code: 'ANALYTICS_READ_FAILED' });
});
