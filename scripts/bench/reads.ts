/**
 * Every GET of the service, first and warm, compared with a Hono route that makes as many calls of the same
 * backends and has Hono's own middleware for the same headers. The calls of one request are counted.
 */

import { startWorld } from '../../test/world/world.ts';
import { openClient } from './client.ts';
import type { Backend, Calls } from './counting-worker.ts';
import { everyRead } from './every-read.ts';
import { median, type Row, roundsWithin } from './row.ts';
import { ownBundle, sluiceBundle, startRuntime } from './runtime.ts';

const ROUNDS = 7;
const ROUND_MS = 120;
const MAX_ROUTE_MS = 10_000;
/** The backends that the bare Worker can call as well. */
const BARE = ['d1', 'kv', 'do', 'limiter'] as const;
const NAMES: Readonly<Record<Backend, string>> = {
  d1: 'D1',
  kv: 'KV',
  custodian: 'custodian',
  pageViews: 'page-view object',
  limiter: 'limiter',
  assets: 'assets',
  upstream: 'upstream',
};
type Counts = Partial<Record<Backend, number>>;

/** Parts of the routes to measure; null for all routes. */
const ONLY = process.env.BENCH_ROUTES?.split(',') ?? null;

interface Figure {
  readonly route: string;
  readonly status: number;
  readonly counts: Counts;
  readonly bytes: number;
  readonly coldMs: number;
  readonly ours: number;
  readonly ratio: number | null;
}

/** Backend calls of the third of three requests, which may be served from an isolate's memory. */
async function countsOf(counting: string, path: string): Promise<Counts> {
  const counts: Counts = {};
  for (let request = 0; request < 3; request += 1) {
    const response = await fetch(`${counting}${path}`, {
      headers: { 'cf-connecting-ip': '10.77.0.1' },
      redirect: 'manual',
    });
    await response.text();
    if (request < 2) continue;
    const { calls } = JSON.parse(response.headers.get('x-calls') ?? '') as Calls;
    for (const { backend } of calls) counts[backend] = (counts[backend] ?? 0) + 1;
  }
  return counts;
}

/** The bare route that makes the same calls and sends as many bytes. */
function bareRoute(counts: Counts, bytes: number): string {
  const { d1, kv, limiter, custodian = 0, pageViews = 0 } = counts;
  const same = { d1, kv, limiter, do: custodian + pageViews };
  const calls = BARE.filter((name) => (same[name] ?? 0) > 0).map((name) => `${name}=${same[name]}`);
  return `/same/calls?${[...calls, `bytes=${bytes}`].join('&')}`;
}

export async function reads(): Promise<Row[]> {
  const world = await startWorld({ cron: false });
  // Only the world's upstreams are needed: the measured Worker runs without its edge and proxy.
  await world.worker.kill();
  const runtime = await startRuntime(
    {
      sluice: sluiceBundle(),
      counting: await ownBundle('counting'),
      limit: await ownBundle('limit'),
    },
    world.bindings,
  );
  const client = openClient(8);
  try {
    const [ours, limit, counting] = [runtime.url('sluice'), runtime.url('limit'), runtime.url('counting')];
    const figures: Figure[] = [];
    const all = await everyRead(ours, await runtime.database(), world.bindings.POOL_ADDRESSES);
    for (const { route, path } of all) {
      if (ONLY !== null && !ONLY.some((part) => route.includes(part))) continue;
      const began = performance.now();
      const status = await client.get(`${ours}${path}`);
      const coldMs = performance.now() - began;
      const counts = await countsOf(counting, path);
      const whole = await fetch(`${ours}${path}`, { redirect: 'manual' });
      const bytes = (await whole.arrayBuffer()).byteLength;
      const bareUrl = `${limit}${bareRoute(counts, bytes)}`;
      const pairs = await roundsWithin(ROUNDS, MAX_ROUTE_MS, async () => ({
        ours: await client.rate(`${ours}${path}`, ROUND_MS),
        limit: await client.rate(bareUrl, ROUND_MS),
      }));
      const rate = median(pairs.map((pair) => pair.ours));
      // The bare Worker calls no upstream and renders no page of the site.
      const isComparable = (counts.upstream ?? 0) === 0 && (counts.assets ?? 0) === 0;
      const ratio = isComparable ? median(pairs.map((pair) => pair.ours / pair.limit)) : null;
      figures.push({ route, status, counts, bytes, coldMs, ours: rate, ratio });
    }
    return figures.map(rowOf);
  } finally {
    client.close();
    await runtime.stop();
    await world.stop();
  }
}

const rowOf = ({ route, status, counts, bytes, coldMs, ours, ratio }: Figure): Row => {
  const touched = Object.entries(counts).map(([name, calls]) => `${calls} ${NAMES[name as Backend]}`);
  return {
    what: `GET ${route}${status === 200 ? '' : ` (${status})`}`,
    ours: `${ours.toFixed(0)}/s, first ${coldMs.toFixed(0)} ms`,
    limit: `${(bytes / 1_000).toFixed(1)} KB with ${touched.join(', ') || 'no backend'}`,
    ratio,
    aim: { least: 0.7 },
  };
};
