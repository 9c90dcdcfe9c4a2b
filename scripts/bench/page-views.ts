/**
 * Page views on the deployed Worker: the cost of statistics over BENCH_VIEWS (10,000,000) logged views
 * compared with 10,000, and views written per second, by requests and by the queue's consumer, compared with
 * inserts of one row. Needs about 2 GB in the temporary folder.
 */
import type { D1Database } from '@cloudflare/workers-types';
import { openClient } from './client.ts';
import { median, type Row, roundsWithin } from './row.ts';
import { ownBundle, sluiceBundle, startRuntime } from './runtime.ts';

const SMALL = 10_000;
const LARGE = Number(process.env.BENCH_VIEWS ?? 10_000_000);
const CHUNK = 500_000;
const ROUNDS = 40;
const STATS_ROUNDS = 400;
const ROUND_MS = 500;
/** Messages of a batch, one batch at a time. */
const BATCH = 100;
const QUEUE_ROUNDS = 10;
/** Longest time of all rounds of a row; a busy machine measures fewer. */
const MAX_ROW_MS = 60_000;
/** Deliveries of a batch that D1 did not accept; each one writes only what is not counted yet. */
const MAX_DELIVERIES = 5;
const CONNECTIONS = 16;
const SPREAD_MS = 90 * 86_400_000;

/**
 * Views spread over 90 days, 5,000 paths and 500 referring hosts, a few of them much more frequent.
 */
async function fill(db: D1Database, views: number): Promise<void> {
  const now = Date.now();
  for (let from = 0; from < views; from += CHUNK) {
    const to = Math.min(from + CHUNK, views);
    await db
      .prepare(
        `INSERT INTO pageviews (at_ms, path, referrer, ip)
         WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
         SELECT ?3 - ?4 + CAST(i * (?4 * 1.0 / ?5) AS INTEGER), '/page/' || (abs(random()) % (1 + abs(random()) % 5000)),
           'https://site' || (abs(random()) % (1 + abs(random()) % 500)) || '.example/', '203.0.113.' || (i % 256) FROM n`,
      )
      .bind(from, to, now, SPREAD_MS, views)
      .run();
    for (const sql of COUNTERS) await db.prepare(sql).bind(from, to).run();
  }
}

/** The counters as if each view of one chunk had been added: a statement over all views outlasts its connection. */
const CHUNK_ROWS = 'FROM pageviews WHERE id > ?1 AND id <= ?2';
const periods = (period: string) =>
  `INSERT INTO pageview_periods (period, pageviews, visitors, bots)
   SELECT ${period}, count(*), count(*) / 3, 0 ${CHUNK_ROWS} GROUP BY 1
   ON CONFLICT (period) DO UPDATE SET pageviews = pageviews + excluded.pageviews, visitors = visitors + excluded.visitors`;
const sources = (kind: string, source: string) =>
  `INSERT INTO pageview_sources SELECT '${kind}', ${source}, count(*) ${CHUNK_ROWS} GROUP BY 2
   ON CONFLICT (kind, value) DO UPDATE SET count = count + excluded.count`;
const COUNTERS = [
  periods("'total'"),
  periods("'day ' || strftime('%Y-%m-%d', at_ms / 1000, 'unixepoch')"),
  periods("'hour ' || strftime('%Y-%m-%dT%H', at_ms / 1000, 'unixepoch')"),
  sources('path', 'path'),
  sources('referrer', 'substr(referrer, 9, length(referrer) - 9)'),
];

const start = async (views: number) => {
  const runtime = await startRuntime({ sluice: sluiceBundle(), limit: await ownBundle('limit') });
  const db = await runtime.database();
  await db
    .prepare('CREATE TABLE bench_rows (id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, path TEXT NOT NULL)')
    .run();
  await fill(db, views);
  return { ...runtime, db };
};

export async function pageViews(): Promise<Row[]> {
  const [small, large] = [await start(SMALL), await start(LARGE)];
  const client = openClient(CONNECTIONS);
  try {
    let views = 0;
    const body = () => JSON.stringify({ path: `/page/${views++ % 50}`, referrer: 'https://site1.example/' });
    /** Milliseconds for statistics after a new view; without one, the isolate has them in memory. */
    const statsMs = async (runtime: typeof small): Promise<number> => {
      await client.rate(`${runtime.url('sluice')}/api/analytics/pageview`, 1, body);
      const began = performance.now();
      const status = await client.get(`${runtime.url('sluice')}/api/analytics/stats`);
      if (status !== 200) throw new Error(`statistics: ${status}`);
      return performance.now() - began;
    };
    const times = await roundsWithin(STATS_ROUNDS, MAX_ROW_MS, async () => {
      const [ours, limit] = [await statsMs(large), await statsMs(small)];
      return { ours, limit, ratio: ours / limit };
    });

    const pairs = await roundsWithin(ROUNDS, MAX_ROW_MS, async () => ({
      view: await client.rate(`${large.url('sluice')}/api/analytics/pageview`, ROUND_MS, body),
      raw: await client.rate(`${large.url('limit')}/raw-insert`, ROUND_MS, body),
    }));
    const worker = await large.worker('sluice');
    /** One batch, as the queue delivers it. */
    async function consume(): Promise<void> {
      const messages = Array.from({ length: BATCH }, () => {
        const id = (views++).toString(16).padStart(24, '0');
        const view = {
          path: `/page/${views % 50}`,
          referrer: 'https://site1.example/',
          referrerHost: 'site1.example',
          ip: '203.0.113.9',
          visitor: (views % 20_000).toString(16).padStart(32, '0'),
        };
        return { id, timestamp: new Date(), attempts: 1, body: { id, at: Date.now(), view } };
      });
      let acknowledged = 0;
      for (let delivery = 0; delivery < MAX_DELIVERIES && acknowledged !== BATCH; delivery += 1)
        acknowledged = (await worker.queue('sluice-pageviews', messages)).explicitAcks.length;
      if (acknowledged !== BATCH) throw new Error(`${acknowledged} of ${BATCH} views written`);
    }
    const batches = await roundsWithin(QUEUE_ROUNDS, MAX_ROW_MS, async () => {
      const began = performance.now();
      let done = 0;
      for (; performance.now() < began + ROUND_MS; done += BATCH) await consume();
      const queued = (done * 1_000) / (performance.now() - began);
      return { queued, raw: await client.rate(`${large.url('limit')}/raw-insert`, ROUND_MS, body) };
    });
    const counts = await large.db
      .prepare(
        "SELECT (SELECT count(*) FROM pageviews) AS logged, (SELECT pageviews FROM pageview_periods WHERE period = 'total') AS counted",
      )
      .first<{ logged: number; counted: number }>();
    if (counts?.logged !== counts?.counted)
      throw new Error(`${counts?.logged} views are logged, ${counts?.counted} counted`);

    const stats = (of: 'ours' | 'limit') => `${median(times.map((pair) => pair[of])).toFixed(2)} ms`;
    const rate = (of: 'view' | 'raw') => median(pairs.map((pair) => pair[of])).toFixed(0);
    return [
      {
        what: `page views: statistics over ${LARGE.toLocaleString('en')}`,
        ours: stats('ours'),
        limit: `over ${SMALL.toLocaleString('en')}, ${stats('limit')}`,
        ratio: median(times.map(({ ratio }) => ratio)),
        aim: { most: 1.2 },
      },
      {
        what: `page views written, limiter included, with ${LARGE.toLocaleString('en')} logged`,
        ours: `${rate('view')}/s`,
        limit: `inserts of one row, ${rate('raw')}/s`,
        ratio: median(pairs.map(({ view, raw }) => view / raw)),
        aim: { least: 0.5 },
      },
      {
        what: 'page views written by the consumer of the queue',
        ours: `${median(batches.map(({ queued }) => queued)).toFixed(0)}/s`,
        limit: `inserts of one row, ${median(batches.map(({ raw }) => raw)).toFixed(0)}/s`,
        ratio: median(batches.map(({ queued, raw }) => queued / raw)),
        aim: { least: 10 },
      },
    ];
  } finally {
    client.close();
    await Promise.all([small.stop(), large.stop()]);
  }
}
