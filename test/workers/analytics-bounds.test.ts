import { expect, it } from 'vitest';
import {
  billed,
  DAY,
  HOUR,
  inStorage,
  moveClock,
  NOON,
  pageViewService,
  purge,
  rows,
} from './page-views-kit.ts';

const { settings, view, views, stats } = pageViewService();

const NEW_NAMES_A_DAY = 1_000;
/** Time between purges with nothing more to delete. */
const IDLE = 60_000;
/** The state of a day on which all but this number of new paths and referrers have been added. */
const fillNames = (left: number) =>
  inStorage(({ sql }) => sql.exec('UPDATE new_names SET count = ?', NEW_NAMES_A_DAY - left));
const size = () => inStorage(({ sql }) => sql.databaseSize);

const label = (n: number) => `${n}-${'a'.repeat(57)}`;
/** The longest path, referrer, host, address and visitor that the route accepts, different in each view. */
const longest = (n: number) =>
  view(
    {
      path: `/${n}/`.padEnd(1_024, '漢'),
      referrer: `https://${label(n)}.${label(n)}.${label(n)}.example/`.padEnd(4_096, 'b'),
    },
    {
      'user-agent': `Mozilla/5.0 (browser ${n})`.padEnd(400, ' c'),
      'cf-connecting-ip': `2001:db8:1111:${n}::9`,
    },
  );

it('stores at most 2.5 KB for a view whose path and referrer are added to the lists, and 1 KB for others', async () => {
  settings.isLimited = false;
  const count = 300;
  const empty = await size();
  await views(count, longest);
  const full = await size();
  expect((full - empty) / count).toBeLessThan(2_500);
  await fillNames(0);
  await views(count, (n) => longest(n + count));
  expect(((await size()) - full) / count).toBeLessThan(1_000);
});

it('adds at most 1,000 paths and 1,000 referrers a day and counts every view', async () => {
  settings.isLimited = false;
  const known = () => view({ path: '/known', referrer: 'https://known.example/' });
  await known();
  await fillNames(20);
  await views(121, (n) => view({ path: `/made-up/${n}`, referrer: `https://made-up-${n}.example/` }));
  await known();
  const total = 123;
  const names = `SELECT kind, count(*) AS names, sum(count) AS views FROM names GROUP BY kind ORDER BY kind`;
  expect(await rows(names)).toEqual([
    { kind: 'path', names: 22, views: total },
    { kind: 'referrer', names: 22, views: total },
  ]);
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

  moveClock(DAY);
  await views(3, () => view({ path: '/next-day' }));
  expect((await stats()).by_path[1]).toEqual({ path: '/next-day', count: 3 });
  expect(await rows("SELECT day, count FROM new_names WHERE kind = 'path'")).toEqual([
    { day: '2100-11-21', count: 1 },
  ]);
});

it('counts at most 1,000,000 visitors a day and every one of their views', async () => {
  await view({ path: '/' });
  await inStorage(({ sql }) =>
    sql.exec("UPDATE periods SET visitors = 999998 WHERE period = 'day 2100-11-20'"),
  );
  await views(5, (n) => view({ path: '/' }, { 'user-agent': `Mozilla/5.0 (browser ${n})` }));
  expect(await rows("SELECT pageviews, visitors FROM periods WHERE period = 'day 2100-11-20'")).toEqual([
    { pageviews: 6, visitors: 1_000_000 },
  ]);
  await view({ path: '/' }, { 'user-agent': 'Mozilla/5.0 (one more)' });
  expect(await rows("SELECT visitors FROM periods WHERE period = 'day 2100-11-20'")).toEqual([
    { visitors: 1_000_000 },
  ]);
  expect(await rows('SELECT count(*) AS n FROM visitors')).toEqual([{ n: 3 }]);
});

it('deletes addresses when their retention time is over, but not earlier', async () => {
  await view({ path: '/old' });
  moveClock(10 * DAY);
  await view({ path: '/new' });
  moveClock(20 * DAY);
  const kept = async () =>
    (await rows<{ path: string }>('SELECT path FROM views WHERE ip IS NOT NULL')).map(({ path }) => path);
  await purge();
  expect(await kept()).toEqual(['/old', '/new']);
  moveClock(1);
  await purge();
  expect(await kept()).toEqual(['/new']);
  expect((await stats()).recent.map(({ ip }) => ip)).toEqual(['203.0.113.0/24', null]);
  moveClock(10 * DAY);
  await view({ path: '/newest' });
  expect(await purge()).toBe(IDLE);
  expect(await kept()).toEqual(['/newest']);
});

it('deletes 5,000 addresses in each step, and takes the next step a second later', async () => {
  await inStorage(({ sql }) =>
    sql.exec(
      `INSERT INTO views (at_ms, path, referrer, ip) WITH RECURSIVE n(i) AS
       (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 12000) SELECT ${NOON}, '/', '', '203.0.113.9' FROM n`,
    ),
  );
  moveClock(31 * DAY);
  const left = async () => (await rows('SELECT count(*) AS n FROM views WHERE ip IS NOT NULL'))[0]?.n;
  expect([await purge(), await left()]).toEqual([1_000, 7_000]);
  expect([await purge(), await left()]).toEqual([1_000, 2_000]);
  expect([await purge(), await left()]).toEqual([IDLE, 0]);
});

it('deletes views after 90 days except the newest 50, and keeps their sums', async () => {
  await views(60, (n) => view({ path: `/${n}` }));
  const logged = () => rows('SELECT min(id) AS first, max(id) AS last, count(*) AS n FROM views');
  moveClock(90 * DAY);
  await purge();
  expect(await logged()).toEqual([{ first: 1, last: 60, n: 60 }]);
  moveClock(1);
  await purge();
  await purge();
  await view({ path: '/new' });
  expect(await logged()).toEqual([{ first: 11, last: 61, n: 51 }]);
  expect(await rows("SELECT pageviews FROM periods WHERE period = 'total'")).toEqual([{ pageviews: 61 }]);
  expect(await rows("SELECT sum(count) AS n FROM names WHERE kind = 'path'")).toEqual([{ n: 61 }]);
  expect(await rows('SELECT path FROM views WHERE ip IS NOT NULL')).toEqual([{ path: '/new' }]);
});

it('deletes the oldest views beyond 1,000,000, with 5,000 in each step', async () => {
  await inStorage(({ sql }) =>
    sql.exec(
      `INSERT INTO views (id, at_ms, path, referrer, ip) WITH RECURSIVE n(i) AS
       (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000) SELECT i, ${NOON}, '/', '', NULL FROM n
       UNION ALL SELECT 1007000, ${NOON}, '/', '', NULL`,
    ),
  );
  const logged = () => rows('SELECT min(id) AS first, count(*) AS n FROM views');
  expect(await purge()).toBe(1_000);
  expect(await logged()).toEqual([{ first: 5_001, n: 4_001 }]);
  expect(await purge()).toBe(IDLE);
  expect(await logged()).toEqual([{ first: 7_001, n: 2_001 }]);
});

it('a purge with nothing to delete reads only a few rows', async () => {
  await inStorage(({ sql }) =>
    sql.exec(
      `INSERT INTO views (at_ms, path, referrer, ip) WITH RECURSIVE n(i) AS
       (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10000) SELECT ${NOON}, '/', '', '203.0.113.9' FROM n`,
    ),
  );
  const { read, written } = await billed((store) => store.purge(NOON));
  expect(written).toBe(0);
  expect(read).toBeLessThan(20);
});

it("deletes the salt and the visitor keys after their day, and keeps the day's visitor count", async () => {
  await view({ path: '/' });
  await purge();
  expect(await rows('SELECT day FROM salts')).toEqual([{ day: '2100-11-20' }]);
  moveClock(12 * HOUR);
  await view({ path: '/' });
  await purge();
  expect(await rows('SELECT day FROM salts')).toEqual([{ day: '2100-11-21' }]);
  expect(await rows('SELECT day FROM visitors')).toEqual([{ day: '2100-11-21' }]);
  expect((await stats()).series.slice(-2).map(({ visitors }) => visitors)).toEqual([1, 1]);
});

it('generates a random salt for each day', async () => {
  await view({ path: '/' });
  await view({ path: '/' });
  moveClock(DAY);
  await view({ path: '/' });
  const salts = (await rows<{ salt: string }>('SELECT salt FROM salts')).map(({ salt }) => salt);
  expect(salts).toEqual([1, 2].map(() => expect.stringMatching(/^[0-9a-f]{64}$/)));
  expect(new Set(salts).size).toBe(2);
  const keys = await rows<{ visitor: string }>('SELECT DISTINCT visitor FROM visitors');
  expect(keys).toHaveLength(2);
});

it('runs a purge again after it has failed', async () => {
  await inStorage(({ sql }) => sql.exec('ALTER TABLE views RENAME TO away'));
  expect(await purge()).toBe(IDLE);
  await inStorage(({ sql }) => sql.exec('ALTER TABLE away RENAME TO views'));
  await view({ path: '/' });
  moveClock(31 * DAY);
  await purge();
  expect(await rows('SELECT ip FROM views')).toEqual([{ ip: null }]);
});
