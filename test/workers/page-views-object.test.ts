import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { hourOf, PageViewStore, type View } from '../../src/features/analytics/page-views-store.ts';
import rowsOfGroups from '../fixtures/page-view-rows.json';
import {
  billed,
  HOUR,
  holdCommits,
  inStorage,
  moveClock,
  NOON,
  object,
  pageViewService,
  purge,
  rows,
} from './page-views-kit.ts';

const { view, views, stats } = pageViewService();

const viewOf = (change: Partial<View> = {}): View => ({
  path: '/',
  referrer: '',
  referrerHost: undefined,
  ip: '203.0.113.9',
  visitor: 'a'.repeat(64),
  ...change,
});
const counted = () => rows("SELECT pageviews, bots FROM periods WHERE period = 'total'");

it('commits the first view after a pause at once, then waiting views (with crawlers) in batches of 100', async () => {
  const add = vi.spyOn(PageViewStore.prototype, 'add');
  const crawler = { 'user-agent': 'Googlebot/2.1' };
  const { arrived, write } = holdCommits();
  const sent = views(220, (n) => view({ path: '/' }, n % 2 ? crawler : {}));
  await arrived(220);
  await write();
  await sent;
  const sizes = add.mock.calls.map(
    ([
      {
        views: { length },
        bots,
      },
    ]) => length + bots,
  );
  expect(sizes).toEqual([1, 100, 100, 19]);
  expect(await counted()).toEqual([{ pageviews: 110, bots: 110 }]);
});

it('writes the views of two hours in one transaction for each hour', async () => {
  moveClock(HOUR - 1);
  await runInDurableObject(object(), async (instance) => {
    const last = instance.add(viewOf({ path: '/last' }));
    moveClock(1);
    await Promise.all([last, instance.add(viewOf({ path: '/first' }))]);
  });
  expect(await rows("SELECT period, pageviews FROM periods WHERE period LIKE 'hour %'")).toEqual([
    { period: 'hour 2100-11-20T12', pageviews: 1 },
    { period: 'hour 2100-11-20T13', pageviews: 1 },
  ]);
  expect(await rows('SELECT at_ms AS at, path FROM views ORDER BY id')).toEqual([
    { at: NOON + HOUR - 1, path: '/last' },
    { at: NOON + HOUR, path: '/first' },
  ]);
});

it('refuses every view of a commit that the storage refuses, and still commits later views', async () => {
  const logged = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  await inStorage(({ sql }) =>
    sql.exec("CREATE TRIGGER full BEFORE INSERT ON periods BEGIN SELECT RAISE(ABORT, 'disk is full'); END"),
  );
  const { arrived, write } = holdCommits();
  expect((await view({ path: '/0' })).status).toBe(500);
  logged.mockClear();
  const sent = Promise.all([1, 2, 3].map((n) => view({ path: `/${n}` })));
  await arrived(4);
  await write();
  const refused = await sent;
  vi.useRealTimers();
  expect(refused.map(({ status }) => status)).toEqual([500, 500, 500]);
  const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)) as { event?: string });
  expect(lines.filter(({ event }) => event === 'page_views_not_written')).toEqual([
    { level: 'error', event: 'page_views_not_written', views: 3, reason: expect.stringContaining('full') },
  ]);
  await inStorage(({ sql }) => sql.exec('DROP TRIGGER full'));
  expect((await view({ path: '/4' })).status).toBe(204);
  expect(await rows('SELECT path FROM views')).toEqual([{ path: '/4' }]);
});

it('an eviction of the object loses no acknowledged view', async () => {
  for (let n = 0; n < 3; n++) {
    await views(2, (m) => view({ path: `/${n}` }, { 'user-agent': `Mozilla/5.0 (browser ${m})` }));
    await evictDurableObject(object());
  }
  const { totals, by_path } = await stats();
  expect(totals).toMatchObject({ pageviews: 6, visitors_24h: 2 });
  expect(by_path.map(({ count }) => count)).toEqual([2, 2, 2]);
  await evictDurableObject(object());
  expect(await inStorage((storage) => storage.getAlarm())).not.toBeNull();
});

it('never acknowledges a waiting view that is lost with the object', async () => {
  const { arrived } = holdCommits();
  await view({ path: '/kept' });
  const waiting = Promise.all([view({ path: '/lost' }), view({ path: '/lost' })]);
  await arrived(3);
  await abortAllDurableObjects();
  const answers = await waiting;
  expect(answers.map(({ status }) => status)).toEqual([500, 500]);
  expect(await answers[0]?.json()).toMatchObject({ error_code: 'ANALYTICS_WRITE_FAILED' });
  expect(await rows('SELECT path FROM views')).toEqual([{ path: '/kept' }]);
});

it('reads the sums again after each change, and at no other time', async () => {
  const read = vi.spyOn(PageViewStore.prototype, 'read');
  const recent = async () => (await stats()).recent.map(({ path, ip }) => [path, ip]);
  await view({ path: '/a' });
  for (let time = 0; time < 3; time++) expect(await recent()).toEqual([['/a', '203.0.113.0/24']]);
  expect(read).toHaveBeenCalledTimes(1);
  await view({ path: '/b' });
  expect(await recent()).toHaveLength(2);
  moveClock(30 * 24 * HOUR + 1);
  await purge();
  expect(await recent()).toEqual([
    ['/b', null],
    ['/a', null],
  ]);
  moveClock(HOUR);
  expect((await stats()).series_hourly[0]).toMatchObject({ hour: '2100-12-18T14:00:00.000Z' });
});

it.each([1, 100])('a group of %i views writes as many rows as docs/run/scale.md counts', async (count) => {
  const group = (visitor: string) => ({
    hour: hourOf(NOON),
    bots: 0,
    views: Array.from({ length: count }, (_, n) => ({
      at: NOON,
      ...viewOf({ path: `/${n % 10}`, referrerHost: `r${n % 5}.example`, visitor: `${visitor} ${n}` }),
    })),
  });
  await billed((store) => store.add(group('known')));
  const known = await billed((store) => store.add(group('known')));
  const fresh = await billed((store) => store.add(group('new')));
  expect(rowsOfGroups).toContainEqual({ views: count, known: known.written, new: fresh.written });
});
