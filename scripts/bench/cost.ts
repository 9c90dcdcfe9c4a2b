/**
 * Processor time of the runtime per request, D1 and the other bindings included, on warm isolates. Cloudflare
 * bills the Worker's share of it only, so the figures are an upper bound.
 */
import { workerCpuMs } from '../../test/e2e/load-memory.ts';
import { openClient } from './client.ts';
import { median, micros, type Row } from './row.ts';
import { ownBundle, sluiceBundle, startRuntime } from './runtime.ts';

const ROUNDS = 3;
const ROUND_MS = 700;
const CONNECTIONS = 8;

/** Routes of the table in docs/scale.md that no upstream and no custodian serves. */
const READS = [
  '/api/health',
  '/api/exchanges/transactions',
  '/api/arbitrage/transactions',
  '/api/tokens/7',
  '/api/listings/search?q=abc',
  '/api/proof/history',
  '/api/analytics/stats',
];
const PAGE_VIEW = '/api/analytics/pageview';

export async function cost(): Promise<Row[]> {
  const runtime = await startRuntime({ sluice: sluiceBundle(), limit: await ownBundle('limit') });
  const client = openClient(CONNECTIONS);
  async function microsOf(url: string, body?: () => string): Promise<number> {
    const [cpu, began] = [workerCpuMs(), performance.now()];
    const rate = await client.rate(url, ROUND_MS, body);
    return ((workerCpuMs() - cpu) * 1_000_000) / (rate * (performance.now() - began));
  }
  try {
    const limit = `${runtime.url('limit')}/same/none`;
    const rows: Row[] = [];
    for (const path of [...READS, PAGE_VIEW]) {
      const isView = path === PAGE_VIEW;
      const body = isView ? () => '{"path":"/page/1"}' : undefined;
      const pairs: { ours: number; limit: number }[] = [];
      for (let round = -1; round < ROUNDS; round += 1) {
        const pair = {
          ours: await microsOf(`${runtime.url('sluice')}${path}`, body),
          limit: await microsOf(limit),
        };
        if (round >= 0) pairs.push(pair);
      }
      rows.push({
        what: `processor time of ${isView ? 'POST' : 'GET'} ${path}`,
        ours: micros(median(pairs.map(({ ours }) => ours))),
        limit: `bare route, Hono’s own middleware, ${micros(median(pairs.map((pair) => pair.limit)))}`,
        ratio: median(pairs.map((pair) => pair.ours / pair.limit)),
        aim: null,
      });
    }
    return rows;
  } finally {
    client.close();
    await runtime.stop();
  }
}
