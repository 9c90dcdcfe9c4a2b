import { expect, it } from 'vitest';
import { eachScene, playSteps } from '../kit/scenes.ts';
import {
  billed,
  DAY,
  inStorage,
  moveClock,
  NOON,
  pageViewService,
  pageViewVerbs,
  rows,
} from './page-views-kit.ts';

const service = pageViewService();
const { settings, view, views, stats } = service;

const NEW_NAMES_A_DAY = 1_000;
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

eachScene(`
  at most 1,000,000 visitors of a day are counted, and every one of their views
    | view; visitors-so-far 999998; views 5; day = 6, 1000000; view / more; day = 7, 1000000; visitor-keys = 2100-11-20, 2100-11-20, 2100-11-20
  addresses are deleted when their retention time is over, but not earlier
    | view /old; wait 10d; view /new; wait 20d; purge; with-address = /old, /new; wait 1ms; purge; with-address = /new;
      recent = 203.0.113.0/24, null; wait 10d; view /newest; purge = 60000; with-address = /newest
  a purge deletes 5,000 addresses, and the next one follows a second later
    | fill 12000; wait 31d; purge = 1000; addresses = 7000; purge = 1000; addresses = 2000; purge = 60000; addresses = 0
  views are deleted after 90 days except the newest 50, and their sums stay
    | views 60; wait 90d; purge; log = 1, 60, 60; wait 1ms; purge; purge; view /new; log = 11, 61, 51; with-address = /new;
      counted = 61; totals = 61, 1, 1, 1, 0
  the oldest views beyond 1,000,000 are deleted, 5,000 in each step
    | fill 9001 1007000; purge = 1000; log = 5001, 1007000, 4001; purge = 60000; log = 7001, 1007000, 2001
  the salt and the visitor keys are deleted after their day, and its visitor count stays
    | view; purge; salts = 2100-11-20; wait 12h; view; purge; salts = 2100-11-21; visitor-keys = 2100-11-21; last-days = 1, 1
  a purge runs again after it has failed
    | views-away; purge = 60000; views-back; view; wait 31d; purge; log = 1, 1, 1; addresses = 0
`)('%s', (_title, steps = '') => playSteps(steps, pageViewVerbs(service)));

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
