import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { getStats } from '../../src/features/analytics/get-stats.ts';
import {
  BACKUP_TABLES,
  dayOf,
  hourOf,
  PAGE_VIEW_OBJECTS,
  PageViewStore,
  type Row,
  type View,
} from '../../src/features/analytics/page-views-store.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import rowsOfGroups from '../fixtures/page-view-rows.json';
import {
  billed,
  HOUR,
  holdGroups,
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
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const counted = () => rows("SELECT pageviews, bots FROM periods WHERE period = 'total'");

it('writes a group of views at once when it has 100, including crawlers', async () => {
  const add = vi.spyOn(PageViewStore.prototype, 'add');
  const crawler = { 'user-agent': 'Googlebot/2.1' };
  const { arrived, write } = holdGroups();
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
  expect(sizes).toEqual([100, 100, 20]);
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

it('responds to a view only after its transaction is committed', async () => {
  let isDone = false;
  const sent = view({ path: '/' }).then(() => {
    isDone = true;
  });
  while ((await counted()).length === 0) {
    expect(isDone).toBe(false);
    await sleep(20);
  }
  await sent;
});

it('rejects every view of a group that cannot be written, and still writes the next group', async () => {
  const logged = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  await inStorage(({ sql }) =>
    sql.exec("CREATE TRIGGER full BEFORE INSERT ON periods BEGIN SELECT RAISE(ABORT, 'disk is full'); END"),
  );
  const { arrived, write } = holdGroups();
  const sent = Promise.all([1, 2, 3].map((n) => view({ path: `/${n}` })));
  await arrived(3);
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
    await views(2, (m) => view({ path: `/${n}` }, { 'user-agent': `browser ${m}` }));
    await evictDurableObject(object());
  }
  const { totals, by_path } = await stats();
  expect(totals).toMatchObject({ pageviews: 6, visitors_24h: 2 });
  expect(by_path.map(({ count }) => count)).toEqual([2, 2, 2]);
  await evictDurableObject(object());
  expect(await inStorage((storage) => storage.getAlarm())).not.toBeNull();
});

it('acknowledges no view of a group that is lost with the object', async () => {
  await view({ path: '/kept' });
  const { arrived } = holdGroups();
  const waiting = Promise.all([view({ path: '/lost' }), view({ path: '/lost' })]);
  await arrived(2);
  await abortAllDurableObjects();
  const answers = await waiting;
  expect(answers.map(({ status }) => status)).toEqual([500, 500]);
  expect(await answers[0]?.json()).toMatchObject({ error_code: 'ANALYTICS_WRITE_FAILED' });
  expect(await rows('SELECT path FROM views')).toEqual([{ path: '/kept' }]);
});

it('reads the sums again after each change, and not otherwise', async () => {
  const read = vi.spyOn(PageViewStore.prototype, 'read');
  const recent = async () => (await stats()).recent.map(({ path, ip }) => [path, ip]);
  await view({ path: '/a' });
  for (let time = 0; time < 3; time++) expect(await recent()).toEqual([['/a', '203.0.113.0/24']]);
  expect(read).toHaveBeenCalledTimes(1);
  await view({ path: '/b' });
  expect(await recent()).toHaveLength(2);
  await object().restore('views', [{ id: 2, at_ms: NOON, path: '/restored', referrer: '', ip: null }]);
  expect(await recent()).toEqual([
    ['/restored', null],
    ['/a', '203.0.113.0/24'],
  ]);
  moveClock(30 * 24 * HOUR + 1);
  await purge();
  expect((await recent())[1]).toEqual(['/a', null]);
  moveClock(HOUR);
  expect((await stats()).series_hourly[0]).toMatchObject({ hour: '2100-12-18T14:00:00.000Z' });
});

it.each([1, 100])('a group of %i views writes as many rows as docs/scale.md states', async (count) => {
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

const arbitraryView = fc.record({
  path: fc.oneof(
    fc.constantFrom('/', '/a', '/b', '/c'),
    fc.nat(2_000).map((n) => `/made-up/${n}`),
  ),
  referrerHost: fc.constantFrom(undefined, 'a.example', 'b.example'),
  visitor: fc.nat(30).map(String),
});
const arbitraryGroup = fc.record({
  hour: fc.nat(60),
  bots: fc.nat(3),
  views: fc.array(arbitraryView, { maxLength: 40 }),
});
/** New paths that the first day may still add: few, so that most runs pass the bound. */
const ROOM = 20;

/** The sums that the groups must leave, in the order in which they are written. */
function model(
  groups: readonly {
    hour: number;
    bots: number;
    views: readonly Pick<View, 'path' | 'referrerHost' | 'visitor'>[];
  }[],
) {
  const periods = new Map<string, { pageviews: number; bots: number; visitors: Set<string> }>();
  const names = new Map<string, number>();
  const newPaths = new Map<string, number>();
  const add = (name: string) => names.set(name, (names.get(name) ?? 0) + 1);
  for (const { hour, bots, views } of groups) {
    const at = NOON + hour * HOUR;
    const day = dayOf(at);
    for (const period of ['total', `day ${day}`, `hour ${hourOf(at)}`]) {
      const sums = periods.get(period) ?? { pageviews: 0, bots: 0, visitors: new Set() };
      const counted = period.startsWith('day') ? views.map(({ visitor }) => visitor) : [];
      periods.set(period, {
        pageviews: sums.pageviews + views.length,
        bots: sums.bots + bots,
        visitors: new Set([...sums.visitors, ...counted]),
      });
    }
    for (const { path, referrerHost } of views) {
      const added = newPaths.get(day) ?? 0;
      const limit = day === dayOf(NOON) ? ROOM : 1_000;
      if (!names.has(`path ${path}`) && added < limit) newPaths.set(day, added + 1);
      add(names.has(`path ${path}`) || added < limit ? `path ${path}` : 'path other');
      if (referrerHost) add(`referrer ${referrerHost}`);
    }
  }
  const rows = [...periods].map(([period, { visitors, ...sums }]) => [
    period,
    { ...sums, visitors: visitors.size },
  ]);
  return { periods: Object.fromEntries(rows) as object, names: Object.fromEntries(names) };
}

it('the store counts the same as a simple model, for any groups of views', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryGroup, { maxLength: 12 }), async (unordered) => {
      const groups = unordered.toSorted((a, b) => a.hour - b.hour);
      await runInDurableObject(env.PAGE_VIEWS.getByName(crypto.randomUUID()), (_instance, { storage }) => {
        const store = new PageViewStore(storage);
        const read = <T extends Row>(query: string) => storage.sql.exec<T>(query).toArray();
        read(`INSERT INTO new_names VALUES ('path', '${dayOf(NOON)}', ${1_000 - ROOM})`);
        for (const { hour, bots, views } of groups) {
          const at = NOON + hour * HOUR;
          store.add({ hour: hourOf(at), bots, views: views.map((one) => ({ ...viewOf(one), at })) });
        }
        const periods = read<{ period: string; pageviews: number; visitors: number; bots: number }>(
          'SELECT period, pageviews, bots, visitors FROM periods',
        );
        const names = read<{ name: string; count: number }>(
          "SELECT kind || ' ' || value AS name, count FROM names",
        );
        expect({
          periods: Object.fromEntries(periods.map(({ period, ...sums }) => [period, sums])),
          names: Object.fromEntries(names.map(({ name, count }) => [name, count])),
        }).toEqual(model(groups));
        const logged = groups.flatMap(({ views }) => views.map(({ path }) => path));
        expect(read<{ path: string }>('SELECT path FROM views ORDER BY id').map(({ path }) => path)).toEqual(
          logged,
        );
      });
    }),
    { numRuns: 40 },
  );
});

it('restores the public figures from a backup; a second restore changes nothing', async () => {
  await views(30, (n) =>
    view(
      { path: `/${n % 4}`, referrer: `https://r${n % 3}.example/` },
      { 'user-agent': n % 5 ? `${n}` : 'bot' },
    ),
  );
  const read = (name: string) =>
    getStats({ pageViews: () => [env.PAGE_VIEWS.getByName(name)], now: () => Date.now() });
  const before = await read('0');
  const restored = env.PAGE_VIEWS.getByName('restored');
  for (let time = 0; time < 2; time++)
    for (const [table, { length }] of BACKUP_TABLES)
      for (let key: (string | number)[] = []; ; ) {
        const page = await object().rowsAfter(table, key, 7);
        await restored.restore(table, [...page]);
        const last = page.at(-1);
        if (page.length < 7 || !last) break;
        key = Object.values(last).slice(0, length) as (string | number)[];
      }
  expect(before.totals.pageviews).toBe(24);
  expect(await read('restored')).toEqual(before);
  await restored.add(viewOf());
  expect((await read('restored')).totals.pageviews).toBe(25);
});

it('only the operator can export or restore, and only the tables of a backup', async () => {
  const bindings = { ...env, OPS_SECRET: 'a'.repeat(64) };
  const deps = await apiDeps(bindings);
  const app = createApp(() => ({ ...deps, log: () => undefined }));
  const ask = async (body: object, secret = bindings.OPS_SECRET) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
    const response = await app.request(
      '/api/ops',
      { method: 'POST', headers, body: JSON.stringify(body) },
      env,
    );
    return { status: response.status, body: await response.json() };
  };
  const period = { period: 'total', pageviews: 7, visitors: 0, bots: 1 };
  const restore = { name: 'restore-page-views', object: 0, table: 'periods', rows: [period] };
  const read = { name: 'export-page-views', object: 0, table: 'periods', after: [] };
  for (const body of [restore, read]) expect((await ask(body, 'b'.repeat(64))).status).toBe(401);
  expect(await ask(restore)).toMatchObject({ status: 200, body: { ok: true } });
  expect(await ask(read)).toMatchObject({ status: 200, body: { ok: true, rows: [period] } });
  expect(await ask({ ...read, after: ['total'] })).toMatchObject({ body: { ok: true, rows: [] } });
  for (const change of [{ table: 'salts' }, { object: PAGE_VIEW_OBJECTS }, { object: -1 }])
    for (const body of [restore, read])
      expect(await ask({ ...body, ...change })).toMatchObject({
        status: 400,
        body: { error_code: 'INVALID_INPUT' },
      });
});
