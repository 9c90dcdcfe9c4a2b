/**
 * Every GET of the service, first and warm, compared with a Hono route. That route makes as many calls of the same
 * backends and sends as many bytes. It is measured once with Hono's own middleware for the same headers, once bare. The
 * calls are those of test/e2e/route-costs.test.ts.
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

/** Path of the route that makes the same calls, reads as many rows and sends as many bytes. */
function callsPath({ d1, read = 0, kv, limiter, custodian = 0, pageViews = 0 }: Cost, bytes: number): string {
  const same = { d1, kv, limiter, do: custodian + pageViews };
  const calls = Object.entries(same).flatMap(([name, count]) => (count ? [`${name}=${count}`] : []));
  return `/calls?${[...calls, `read=${Math.ceil(read / (d1 || 1))}`, `bytes=${bytes}`].join('&')}`;
}

/** @param named the routes to measure; absent for all */
export async function reads(named?: readonly string[]): Promise<Row[]> {
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
    for (const { route, path } of all.filter(
      ({ route: name }) => named?.includes(name.split(',')[0] ?? '') ?? true,
    )) {
      const cost = costs.get(`GET ${route}`);
      if (!cost) throw new Error(`the costs of ${route} are not recorded`);
      const began = performance.now();
      const status = await client.get(`${ours}${path}`);
      const coldMs = performance.now() - began;
      const whole = await fetch(`${ours}${path}`, { redirect: 'manual' });
      const bytes = (await whole.arrayBuffer()).byteLength;
      const calls = callsPath(cost, bytes);
      const rounds = await roundsWithin(ROUNDS, MAX_ROUTE_MS, async () => ({
        ours: await client.rate(`${ours}${path}`, ROUND_MS),
        same: await client.rate(`${limit}/same${calls}`, ROUND_MS),
        bare: await client.rate(`${limit}/hono${calls}`, ROUND_MS),
      }));
      const rate = median(rounds.map((round) => round.ours));
      // The compared Worker calls no upstream and renders no page of the site.
      const isComparable = !cost.upstream && !cost.assets;
      const against = (name: 'same' | 'bare') =>
        isComparable ? median(rounds.map((round) => round.ours / round[name])) : null;
      rows.push({
        what: `GET ${route}${status === 200 ? '' : ` (${status})`}`,
        ours: `${rate.toFixed(0)}/s, first ${coldMs.toFixed(0)} ms`,
        limit: `Hono with the same middleware: ${(bytes / 1_000).toFixed(1)} KB, ${costText(cost)}`,
        ratio: against('same'),
        target: { least: 0.7 },
        bare: against('bare'),
      });
    }
    return rows;
  } finally {
    client.close();
    await runtime.stop();
    await world.stop();
  }
}
