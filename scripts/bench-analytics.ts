/**
 * Page views under load, on the Worker as it is deployed, in workerd with Miniflare's D1 and rate limiter:
 *   1. stats at 10,000 logged views and at BENCH_VIEWS (10,000,000), asked in turns; the goal is a ratio of 1.2 at most
 *   2. page-view writes, limiter included, and raw one-row inserts of the same request, in turns; the goal is a ratio
 *      of 0.5 at least
 * Needs about 2 GB of disk in the temporary folder for the full number.
 * @module
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import { unstable_getMiniflareWorkerOptions, unstable_readConfig, unstable_splitSqlQuery } from 'wrangler';

const ROOT = join(import.meta.dirname, '..');
const SMALL = 10_000;
const LARGE = Number(process.env.BENCH_VIEWS ?? 10_000_000);
const CHUNK = 500_000;
const STATS_READS = 400;
const ROUNDS = 40;
const ROUND_MS = 500;
const CONNECTIONS = 16;

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

function bundle(): string {
  const wrangler = createRequire(import.meta.url).resolve('wrangler');
  const script = join(ROOT, 'scripts/bench-analytics-worker.ts');
  execFileSync(
    process.execPath,
    [
      '--no-warnings',
      wrangler,
      'deploy',
      script,
      '--dry-run',
      '--minify',
      '--outdir',
      join(folder, 'bundle'),
    ],
    {
      cwd: ROOT,
      stdio: 'ignore',
      env: {
        ...process.env,
        WRANGLER_SEND_METRICS: 'false',
        CLOUDFLARE_CF_FETCH_ENABLED: 'false',
        WRANGLER_LOG_PATH: join(folder, 'logs'),
      },
    },
  );
  return join(folder, 'bundle/bench-analytics-worker.js');
}

async function startWorker(bundlePath: string, name: string) {
  const { workerOptions } = unstable_getMiniflareWorkerOptions(
    unstable_readConfig({ config: join(ROOT, 'wrangler.toml') }),
  );
  const { modulesRules: _rules, ...fromConfig } = workerOptions;
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: '127.0.0.1',
      port: 0,
      cf: false,
      log: new Log(LogLevel.NONE),
      defaultPersistRoot: join(folder, name),
      handleStructuredLogs: () => undefined,
      workers: [
        {
          ...fromConfig,
          name: 'sluice',
          modulesRoot: join(folder, 'bundle'),
          modules: [{ type: 'ESModule', path: bundlePath, contents: readFileSync(bundlePath, 'utf8') }],
        },
      ],
    }),
  );
  const { origin } = await miniflare.ready;
  const db = await miniflare.getD1Database('DB');
  const schema = `${readFileSync(join(ROOT, 'schema.sql'), 'utf8')}
    CREATE TABLE bench_rows (id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, path TEXT NOT NULL);`;
  await db.batch(unstable_splitSqlQuery(schema).map((statement) => db.prepare(statement)));
  return { origin, db, stop: () => miniflare.dispose() };
}

type Worker = Awaited<ReturnType<typeof startWorker>>;

const SPREAD_MS = 90 * 86_400_000;

/** Views spread over 90 days, 5,000 paths and 500 referring hosts, a few of them much more frequent. */
async function fill({ db }: Worker, views: number): Promise<void> {
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
  }
  // The counters as adding each view would have left them.
  const period = (label: string, format: string) =>
    `INSERT INTO pageview_periods (period, pageviews, visitors, bots)
     SELECT '${label}' || strftime('${format}', at_ms / 1000, 'unixepoch'), count(*), count(*) / 3, 0 FROM pageviews GROUP BY 1`;
  for (const sql of [
    "INSERT INTO pageview_periods SELECT 'total', count(*), 0, 0 FROM pageviews",
    period('day ', '%Y-%m-%d'),
    period('hour ', '%Y-%m-%dT%H'),
    "INSERT INTO pageview_sources SELECT 'path', path, count(*) FROM pageviews GROUP BY path",
    `INSERT INTO pageview_sources SELECT 'referrer', substr(referrer, 9, length(referrer) - 9), count(*)
     FROM pageviews GROUP BY referrer`,
  ])
    await db.prepare(sql).run();
}

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

function send(url: string, method: string, headers: Record<string, string>, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent, method, headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => {
        text += chunk;
      });
      answer.on('end', () =>
        answer.statusCode === 200 || answer.statusCode === 204
          ? resolve(text)
          : reject(new Error(`${method} ${url}: ${answer.statusCode} ${text}`)),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

async function benchStats(small: Worker, large: Worker): Promise<boolean> {
  const times: Record<string, number[]> = { small: [], large: [] };
  const totals: Record<string, number> = {};
  for (let index = -20; index < STATS_READS; index++) {
    for (const [name, worker] of [
      ['small', small],
      ['large', large],
    ] as const) {
      const started = performance.now();
      const body = JSON.parse(await send(`${worker.origin}/api/analytics/stats`, 'GET', {})) as {
        totals: { pageviews: number };
      };
      // The first reads warm both up.
      if (index >= 0) times[name]?.push(performance.now() - started);
      totals[name] = body.totals.pageviews;
    }
  }
  const [a, b] = [median(times.small ?? []), median(times.large ?? [])];
  console.log(`stats at ${totals.small} views: median ${a.toFixed(2)} ms`);
  console.log(`stats at ${totals.large} views: median ${b.toFixed(2)} ms`);
  console.log(`ratio ${(b / a).toFixed(2)} (goal: at most 1.2)`);
  return b / a <= 1.2;
}

let visitor = 0;
const post = (url: string) => {
  visitor++;
  const body = JSON.stringify({ path: `/page/${visitor % 50}`, referrer: 'https://site1.example/' });
  // Addresses enough for the limiter to let all pass.
  const ip = `10.${(visitor >> 8) & 255}.${visitor & 255}.1`;
  return send(
    url,
    'POST',
    { 'content-type': 'application/json', 'cf-connecting-ip': ip, 'user-agent': 'Mozilla/5.0 bench' },
    body,
  );
};

/** Requests that were answered in a round, a second. */
async function rate(work: () => Promise<unknown>): Promise<number> {
  const until = performance.now() + ROUND_MS;
  let done = 0;
  const lane = async () => {
    for (; performance.now() < until; done++) await work();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  return (done * 1000) / ROUND_MS;
}

async function benchWrites({ origin, db }: Worker): Promise<boolean> {
  const view = () => post(`${origin}/api/analytics/pageview`);
  const raw = () => post(`${origin}/api/raw-insert`);
  await Promise.all([rate(view), rate(raw)]);
  const rates: { view: number; raw: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) rates.push({ view: await rate(view), raw: await rate(raw) });
  console.log(`page views: median ${median(rates.map((pair) => pair.view)).toFixed(0)}/s`);
  console.log(`raw inserts: median ${median(rates.map((pair) => pair.raw)).toFixed(0)}/s`);
  const ratio = median(rates.map(({ view, raw }) => view / raw));
  console.log(`ratio ${ratio.toFixed(2)} (goal: at least 0.5)`);
  const counts = await db
    .prepare(
      "SELECT (SELECT count(*) FROM pageviews) AS logged, (SELECT pageviews FROM pageview_periods WHERE period = 'total') AS counted",
    )
    .first<{ logged: number; counted: number }>();
  console.log(`views logged ${counts?.logged}, counted ${counts?.counted}`);
  return ratio >= 0.5 && counts?.logged === counts?.counted;
}

const path = bundle();
const [small, large] = [await startWorker(path, 'small'), await startWorker(path, 'large')];
const started = performance.now();
await fill(small, SMALL);
await fill(large, LARGE);
console.log(`filled ${LARGE} views in ${((performance.now() - started) / 1000).toFixed(0)} s`);
const results = [await benchStats(small, large), await benchWrites(large)];
await Promise.all([small.stop(), large.stop()]);
agent.destroy();
process.exitCode = results.every(Boolean) ? 0 : 1;
