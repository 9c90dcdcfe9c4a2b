/**
 * Every GET of the service, first and warm, compared with a Hono route that makes as many calls of the same
 * backends and has Hono's own middleware for the same headers. The calls are those of test/e2e/route-costs.test.ts.
 */
import { startWorld } from '../../test/world/world.ts';
import { type Cost, costText, routeCosts } from '../scale-page.ts';
import { openClient } from './client.ts';
import { everyRead } from './every-read.ts';
import { median, type Row, roundsWithin } from './row.ts';
import { ownBundle, sluiceBundle, startRuntime } from './runtime.ts';

const ROUNDS = 7;
const ROUND_MS = 120;
const MAX_ROUTE_MS = 10_000;

/** The bare route that makes the same calls, reads as many rows and sends as many bytes. */
function bareRoute({ d1, read = 0, kv, limiter, custodian = 0, pageViews = 0 }: Cost, bytes: number): string {
  const same = { d1, kv, limiter, do: custodian + pageViews };
  const calls = Object.entries(same).flatMap(([name, count]) => (count ? [`${name}=${count}`] : []));
  return `/same/calls?${[...calls, `read=${Math.ceil(read / (d1 || 1))}`, `bytes=${bytes}`].join('&')}`;
}

export async function reads(): Promise<Row[]> {
  const world = await startWorld({ cron: false });
  // Only the world's upstreams are needed: the measured Worker runs without its edge and proxy.
  await world.worker.kill();
  const bundles = { sluice: sluiceBundle(), limit: await ownBundle('limit') };
  const runtime = await startRuntime(bundles, world.bindings);
  const client = openClient(8);
  try {
    const [ours, limit] = [runtime.url('sluice'), runtime.url('limit')];
    const costs = new Map(routeCosts().reads.map(({ route, warm }) => [route, warm]));
    const rows: Row[] = [];
    const all = await everyRead(ours, await runtime.database(), world.bindings.POOL_ADDRESSES);
    for (const { route, path } of all) {
      const cost = costs.get(`GET ${route}`);
      if (!cost) throw new Error(`the costs of ${route} are not recorded`);
      const began = performance.now();
      const status = await client.get(`${ours}${path}`);
      const coldMs = performance.now() - began;
      const whole = await fetch(`${ours}${path}`, { redirect: 'manual' });
      const bytes = (await whole.arrayBuffer()).byteLength;
      const bareUrl = `${limit}${bareRoute(cost, bytes)}`;
      const pairs = await roundsWithin(ROUNDS, MAX_ROUTE_MS, async () => ({
        ours: await client.rate(`${ours}${path}`, ROUND_MS),
        limit: await client.rate(bareUrl, ROUND_MS),
      }));
      const rate = median(pairs.map((pair) => pair.ours));
      // The bare Worker calls no upstream and renders no page of the site.
      const isComparable = !cost.upstream && !cost.assets;
      const ratio = isComparable ? median(pairs.map((pair) => pair.ours / pair.limit)) : null;
      rows.push({
        what: `GET ${route}${status === 200 ? '' : ` (${status})`}`,
        ours: `${rate.toFixed(0)}/s, first ${coldMs.toFixed(0)} ms`,
        limit: `${(bytes / 1_000).toFixed(1)} KB with ${costText(cost)}`,
        ratio,
        aim: { least: 0.7 },
      });
    }
    return rows;
  } finally {
    client.close();
    await runtime.stop();
    await world.stop();
  }
}
