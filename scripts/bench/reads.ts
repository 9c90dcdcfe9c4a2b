/**
 * Every GET of the service, first and warm, compared with a Hono route with the same read and with Hono's own
 * middleware for the same headers.
 */

import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { routeRequests } from '../../test/e2e/route-requests.ts';
import { startWorld } from '../../test/world/world.ts';
import { openClient } from './client.ts';
import { median, type Row } from './row.ts';
import { ownBundle, sluiceBundle, startRuntime } from './runtime.ts';

type D1 = Awaited<ReturnType<Awaited<ReturnType<typeof startRuntime>>['database']>>;

type Behind = 'none' | 'large' | 'kv' | 'd1' | 'do' | 'limiter' | 'upstream';

const ROUNDS = 7;
const ROUND_MS = 120;
/**
 * The slowest backend of a warm answer that is not in the isolate's memory. Unknown ids cause an upstream
 * call each time and have no limit to compare with.
 */
const BEHIND: Readonly<Record<string, Behind>> = {
  '/api/openapi.json': 'large',
  '/api/openapi-3.1.json': 'large',
  '/api/swap/min': 'do',
  '/api/swap/estimate': 'limiter',
  '/api/transactions/bitcoin': 'limiter',
  '/api/transactions/solana': 'limiter',
  '/api/tokens/quote': 'limiter',
  '/api/asry/epoch': 'd1',
  '/api/asry/claims/:signature': 'upstream',
  '/api/invoices/:id': 'd1',
  '/api/exchange/min': 'limiter',
  '/api/exchange/estimate': 'limiter',
  '/api/exchange/status/:id': 'limiter',
  '/api/dex/pool/:address': 'upstream',
  '/api/exchanges/transactions': 'd1',
  '/api/arbitrage/transactions': 'd1',
  '/api/analytics/stats': 'd1',
  '/api/listings': 'd1',
  '/api/listings/search': 'd1',
  '/api/tokens': 'd1',
  '/api/tokens/:id': 'd1',
  '/api/tokens/:mint_address/metadata.json': 'd1',
  '/api/proof/history': 'd1',
  '/api/proof/:date': 'd1',
  '/api/ready': 'd1',
  '/api/status': 'd1',
};

const SIGNATURES = { finished: 7, waiting: 8, unknown: 9 } as const;
type SwapState = keyof typeof SIGNATURES;
const signatureOf = (state: SwapState): string => encodeBase58(new Uint8Array(64).fill(SIGNATURES[state]));

/** A finished and a waiting swap, in the form of the custodian's mirror. */
async function addSwaps(db: D1): Promise<void> {
  const insert = db.prepare(
    `INSERT INTO operations (id, seq, revision, kind, status, detail, signature, amount_lamports, created_at, updated_at, journal)
     VALUES ('swap:' || ?1, ?2, 1, 'swap', ?1, 'x', ?3, '500000000', '2026-11-22T00:00:00.000Z', '2026-11-22T00:00:00.000Z', ?4)`,
  );
  await db.batch([
    insert.bind('finished', 1, signatureOf('finished'), '{"dueAt":null}'),
    insert.bind('waiting', 2, signatureOf('waiting'), '{"dueAt":1}'),
  ]);
}

/**
 * Every GET, with three cases for the state of a swap. The isolate answers each from memory after the first
 * read.
 */
const requests = () =>
  routeRequests()
    .filter(({ method }) => method === 'GET')
    .flatMap(({ route, path }) =>
      route === '/api/swap/status/:id'
        ? (Object.keys(SIGNATURES) as SwapState[]).map((state) => ({
            route: `${route}, ${state}`,
            path: `/api/swap/status/${signatureOf(state)}`,
          }))
        : [{ route, path }],
    );

interface Figure {
  readonly route: string;
  readonly behind: Behind;
  readonly status: number;
  readonly coldMs: number;
  readonly ours: number;
  readonly ratio: number;
}

export async function reads(): Promise<Row[]> {
  const world = await startWorld({ cron: false });
  // Only the world's upstreams are needed: the measured Worker runs without its edge and proxy.
  await world.worker.kill();
  const runtime = await startRuntime(
    { sluice: sluiceBundle(), limit: await ownBundle('limit') },
    world.bindings,
  );
  const client = openClient(8);
  try {
    const [ours, limit] = [runtime.url('sluice'), runtime.url('limit')];
    const figures: Figure[] = [];
    let hasSwaps = false;
    for (const { route, path } of requests()) {
      // Not before the custodian has begun: one with an empty journal signs nothing while D1 shows operations.
      if (!hasSwaps && route.startsWith('/api/swap/status/')) {
        await addSwaps(await runtime.database());
        hasSwaps = true;
      }
      const began = performance.now();
      const status = await client.get(`${ours}${path}`);
      const coldMs = performance.now() - began;
      const behind = BEHIND[route.replace(/\{[^}]*\}/g, '')] ?? 'none';
      const pairs: { ours: number; limit: number }[] = [];
      for (let round = -2; round < ROUNDS; round += 1) {
        const pair = {
          ours: await client.rate(`${ours}${path}`, ROUND_MS),
          limit: await client.rate(`${limit}/same/${behind === 'upstream' ? 'none' : behind}`, ROUND_MS),
        };
        if (round >= 0) pairs.push(pair);
      }
      const ratio = median(pairs.map((pair) => pair.ours / pair.limit));
      figures.push({ route, behind, status, coldMs, ours: median(pairs.map((pair) => pair.ours)), ratio });
    }
    const bare: Row[] = [];
    const handler = await client.steady(`${limit}/fetch`, ROUND_MS, ROUNDS);
    for (const [what, path] of [
      ['limit: bare Hono, 60 routes', '/hono/none'],
      ['limit: bare Hono behind its own middleware for the same headers', '/same/none'],
      ['limit: the same with one KV read', '/same/kv'],
      ['limit: the same with one D1 read', '/same/d1'],
      ['limit: the same with one call of a Durable Object', '/same/do'],
      ['limit: the same with one call of the rate limiter', '/same/limiter'],
    ] as const) {
      const rate = await client.steady(`${limit}${path}`, ROUND_MS, ROUNDS);
      bare.push({
        what,
        ours: `${rate.toFixed(0)}/s`,
        limit: `bare fetch handler, ${handler.toFixed(0)}/s`,
        ratio: rate / handler,
        aim: null,
      });
    }
    return [...bare, ...figures.map(rowOf)];
  } finally {
    client.close();
    await runtime.stop();
    await world.stop();
  }
}

const LIMITS: Readonly<Record<Behind, string>> = {
  none: 'bare route, Hono’s own middleware',
  large: 'bare route with as many bytes, Hono’s own middleware',
  kv: 'the same with one KV read',
  d1: 'the same with one D1 read',
  do: 'the same with one Durable Object call',
  limiter: 'the same with one limiter call',
  upstream: 'asked upstream each time',
};

const rowOf = ({ route, behind, status, coldMs, ours, ratio }: Figure): Row => ({
  what: `GET ${route}${status === 200 ? '' : ` (${status})`}`,
  ours: `${ours.toFixed(0)}/s, first ${coldMs.toFixed(0)} ms`,
  limit: LIMITS[behind],
  ratio: behind === 'upstream' ? null : ratio,
  aim: { least: 0.8 },
});
