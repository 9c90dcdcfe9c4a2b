/**
 * Page views on the deployed Worker. The cost of statistics over BENCH_VIEWS (10,000,000) views is compared with the
 * cost over 10,000. Views written per second are compared with a route that makes the same calls: the limiter, and one
 * Durable Object that writes a row.
 */
import { openClient } from './client.ts';
import { median, type Row, roundsWithin } from './row.ts';
import { ownBundle, startRuntime } from './runtime.ts';

const SMALL = 10_000;
const LARGE = Number(process.env.BENCH_VIEWS ?? 10_000_000);
/** Maximum rows of the log, regardless of the number of views. */
const LOG_ROWS = 1_000_000;
const ROUNDS = 10;
const STATS_ROUNDS = 400;
const ROUND_MS = 1_000;
/** Longest total time for the rounds of a row; a busy machine completes fewer rounds. */
const MAX_ROW_MS = 60_000;
/**
 * The service writes views in groups, and each view waits for its group. The rate therefore needs many callers at
 * once.
 */
const CONNECTIONS = 250;
const SPREAD_MS = 29 * 86_400_000;

/** Views over 29 days, 5,000 paths and 500 referring hosts, a few of them much more frequent. */
function fillOf(views: number): string[] {
  const first = Math.max(0, views - LOG_ROWS);
  const at = `(${Date.now() - SPREAD_MS} + CAST(i * (${SPREAD_MS}.0 / ${views}) AS INTEGER))`;
  const numbers = (from: number, to: number) =>
    `WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${to})`;
  const name = (prefix: string, most: number) =>
    `'${prefix}' || (abs(random()) % (1 + abs(random()) % ${most}))`;
  const period = (text: string) =>
    `INSERT INTO periods ${numbers(0, views)} SELECT ${text}, count(*), count(*) / 3, 0 FROM n GROUP BY 1`;
  const names = (kind: string, text: string) =>
    `INSERT INTO names ${numbers(0, views)} SELECT '${kind}', ${text}, count(*) FROM n GROUP BY 2`;
  return [
    `INSERT INTO views (id, at_ms, path, referrer, ip) ${numbers(first, views)}
     SELECT i + 1, ${at}, ${name('/page/', 5_000)}, 'https://site1.example/', '203.0.113.' || (i % 256) FROM n`,
    period("'total'"),
    period(`'day ' || strftime('%Y-%m-%d', ${at} / 1000, 'unixepoch')`),
    period(`'hour ' || strftime('%Y-%m-%dT%H', ${at} / 1000, 'unixepoch')`),
    names('path', name('/page/', 5_000)),
    names('referrer', name('site', 500)),
  ];
}

async function start(views: number) {
  const runtime = await startRuntime({
    'page-views': await ownBundle('page-views'),
    limit: await ownBundle('limit'),
  });
  const origin = runtime.url('page-views');
  async function query(sql: string): Promise<unknown> {
    const response = await fetch(origin, { method: 'PUT', body: sql });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return response.json();
  }
  for (const sql of fillOf(views)) await query(sql);
  return { ...runtime, origin, query };
}

export async function pageViews(): Promise<Row[]> {
  const [small, large] = [await start(SMALL), await start(LARGE)];
  const client = openClient(CONNECTIONS);
  try {
    let views = 0;
    const body = () => JSON.stringify({ path: `/page/${views++ % 50}`, referrer: 'https://site1.example/' });
    const statsMs = async (runtime: typeof small): Promise<number> => {
      const began = performance.now();
      const status = await client.get(`${runtime.origin}/api/analytics/stats`);
      if (status !== 200) throw new Error(`statistics: ${status}`);
      return performance.now() - began;
    };
    const times = await roundsWithin(STATS_ROUNDS, MAX_ROW_MS, async () => {
      const [ours, limit] = [await statsMs(large), await statsMs(small)];
      return { ours, limit, ratio: ours / limit };
    });

    const pairs = await roundsWithin(ROUNDS, MAX_ROW_MS, async () => ({
      view: await client.rate(`${large.origin}/api/analytics/pageview`, ROUND_MS, body),
      same: await client.rate(`${large.url('limit')}/same/page-view`, ROUND_MS, body),
    }));
    const [counts] = (await large.query(
      "SELECT (SELECT max(id) FROM views) AS logged, (SELECT pageviews FROM periods WHERE period = 'total') AS counted",
    )) as { logged: number; counted: number }[];
    if (counts?.logged !== counts?.counted)
      throw new Error(`${counts?.logged} views are logged, ${counts?.counted} counted`);

    const stats = (of: 'ours' | 'limit') => `${median(times.map((pair) => pair[of])).toFixed(2)} ms`;
    const rate = (of: 'view' | 'same') => median(pairs.map((pair) => pair[of])).toFixed(0);
    return [
      {
        what: `page views: statistics over ${LARGE.toLocaleString('en')}`,
        ours: stats('ours'),
        limit: `over ${SMALL.toLocaleString('en')}, ${stats('limit')}`,
        ratio: median(times.map(({ ratio }) => ratio)),
        target: { most: 1.2 },
      },
      {
        what: `page views written by ${CONNECTIONS.toLocaleString('en')} callers, with ${LARGE.toLocaleString('en')} counted`,
        ours: `${rate('view')}/s`,
        limit: `a route with the same calls, ${rate('same')}/s`,
        ratio: median(pairs.map(({ view, same }) => view / same)),
        target: { least: 0.6 },
      },
    ];
  } finally {
    client.close();
    await Promise.all([small.stop(), large.stop()]);
  }
}
