/**
 * Every GET of the service, first and warm, compared with a Hono route that makes as many calls of the same
 * backends and has Hono's own middleware for the same headers. The calls of one request are counted.
 */

import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { routeRequests } from '../../test/e2e/route-requests.ts';
import { startWorld } from '../../test/world/world.ts';
import { openClient } from './client.ts';
import type { Counts } from './counting-worker.ts';
import { median, type Row } from './row.ts';
import { ownBundle, sluiceBundle, startRuntime } from './runtime.ts';

type D1 = Awaited<ReturnType<Awaited<ReturnType<typeof startRuntime>>['database']>>;

const ROUNDS = 7;
const ROUND_MS = 120;
/** The backends that the bare Worker can call as well. */
const BARE = ['d1', 'kv', 'do', 'limiter'] as const;
const NAMES: Readonly<Record<keyof Counts, string>> = {
  d1: 'D1',
  kv: 'KV',
  do: 'Durable Object',
  limiter: 'limiter',
  assets: 'assets',
  upstream: 'upstream',
};

/** Parts of the routes to measure; null for all routes and the middleware. */
const ONLY = process.env.BENCH_ROUTES?.split(',') ?? null;

const SIGNATURES = { finished: 7, waiting: 8, unknown: 9 } as const;
type SwapState = keyof typeof SIGNATURES;
const signatureOf = (state: SwapState): string => encodeBase58(new Uint8Array(64).fill(SIGNATURES[state]));

/** A finished and a waiting swap, in the form of the custodian's mirror. */
const OPERATIONS = `INSERT INTO operations (id, seq, revision, kind, status, detail, signature, amount_lamports, landed_slot,
    block_time, expected_sats, btc_sats, btc_txid, created_at, updated_at, journal)
  VALUES ('swap:' || ?1, ?2, 1, 'swap', ?1, 'x', ?3, '500000000', 1, 1763769600, '120000', '120000', printf('%064d', ?2),
    '2026-11-22T00:00:00.000Z', '2026-11-22T00:00:00.000Z', ?4)`;
const TOKENS = 100;
const mintOf = (id: number): string => encodeBase58(new Uint8Array(32).fill(id));
const TOKEN = `INSERT INTO tokens (id, revision, token_id, mint_address, creator_address, name, symbol, listed_at, created_at, journal)
  VALUES (CAST(?1 AS TEXT), 1, ?1, ?2, ?2, 'bench token ' || ?1, 'bt' || ?1, '2026-11-22T00:00:00.000Z', '2026-11-22T00:00:00.000Z',
    json_object('tokenId', ?1, 'mint', ?2, 'name', 'Bench Token ' || ?1, 'symbol', 'BT' || ?1, 'decimals', 6, 'supply', '1000000',
      'uri', 'https://bench.example/' || ?1, 'requestId', ?2, 'program', 'token', 'createdAt', 1763769600000, 'listedAt', 1763769600000))`;
/** The day's proof again for each of the 60 hours before this year. */
const PROOFS = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
  INSERT INTO proofs (id, revision, hash, created_at, journal)
  SELECT strftime('%Y-%m-%dT%H:00:00.000Z', '2026-01-01', '-' || i || ' hours'), 1, 'bench ' || i, created_at, journal
  FROM n, (SELECT created_at, journal FROM proofs LIMIT 1)`;
const CLAIM = {
  claim: {
    signature: signatureOf('finished'),
    asset: 'USDC',
    sender: mintOf(1),
    slot: '1',
    blockTime: 1_763_769_600,
    credited: '5000000',
    feeBps: 0,
    fee: '0',
    net: '5000000',
    epoch: 0,
    entitlement: '1000',
    left: '0',
    claimedAt: 1_763_769_600_000,
  },
  payouts: [],
};

async function addRows(db: D1): Promise<void> {
  const operation = db.prepare(OPERATIONS);
  const token = db.prepare(TOKEN);
  await db.batch([
    operation.bind('finished', 1_001, signatureOf('finished'), '{"dueAt":null}'),
    operation.bind('waiting', 1_002, signatureOf('waiting'), '{"dueAt":1}'),
    ...Array.from({ length: TOKENS }, (_, at) => token.bind(at + 1, mintOf(at + 1))),
    db.prepare(PROOFS),
    db
      .prepare('INSERT INTO asry_claims (id, revision, epoch, created_at, journal) VALUES (?, 1, 0, ?, ?)')
      .bind(CLAIM.claim.signature, '2026-11-22T00:00:00.000Z', JSON.stringify(CLAIM)),
  ]);
}

const EXCHANGE = {
  from: 'sol',
  to: 'btc',
  amount: 0.8,
  payoutAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
};

/** Creates what a route returns. @param body by default, the example of the API document */
async function made(origin: string, route: string, member: string, body?: object): Promise<string> {
  const request = routeRequests().find((one) => one.method === 'POST' && one.route === route);
  if (!request) throw new Error(`no POST ${route}`);
  const response = await fetch(`${origin}${request.path}`, {
    ...request.init,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`POST ${route}: ${response.status} ${JSON.stringify(answer)}`);
  return String(answer[member]);
}

const addView = (origin: string, n: number): Promise<Response> =>
  fetch(`${origin}/api/analytics/pageview`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ path: `/page/${n % 40}`, referrer: `https://site${n % 20}.example/` }),
  });

type Request = { readonly route: string; readonly path: string };

/** Every GET, for something that exists unless the row's name says otherwise. */
async function requests(origin: string, db: D1, pool: string): Promise<Request[]> {
  const all = routeRequests().filter(({ method }) => method === 'GET');
  const invoice = await made(origin, '/api/invoices', 'invoice_id');
  const exchange = await made(origin, '/api/exchange/create', 'id', EXCHANGE);
  const proof = await fetch(`${origin}/api/proof`);
  const { timestamp } = (await proof.json()) as { timestamp?: string };
  if (!proof.ok || !timestamp) throw new Error(`GET /api/proof: ${proof.status}`);
  await addRows(db);
  await Promise.all(Array.from({ length: 500 }, (_, n) => addView(origin, n)));
  const existing: readonly (readonly [RegExp, string])[] = [
    [/^\/api\/invoices\/:/, `/api/invoices/${invoice}`],
    [/^\/api\/exchange\/status\/:/, `/api/exchange/status/${exchange}`],
    [/^\/api\/proof\/:/, `/api/proof/${timestamp.slice(0, 10)}`],
    [/^\/api\/tokens\/:[^/]*\/metadata/, `/api/tokens/${mintOf(1)}/metadata.json`],
    [/^\/api\/tokens\/:[^/]*$/, '/api/tokens/1'],
    [/^\/api\/asry\/claims\/:/, `/api/asry/claims/${CLAIM.claim.signature}`],
    [/^\/api\/dex\/pool\/:/, `/api/dex/pool/${pool}`],
    [/^\/api\/listings\/search/, '/api/listings/search?q=bench'],
  ];
  const requests = all.flatMap(({ route, path }): Request[] => {
    if (route === '/api/swap/status/:id')
      return (Object.keys(SIGNATURES) as SwapState[]).map((state) => ({
        route: `${route}, ${state}`,
        path: `/api/swap/status/${signatureOf(state)}`,
      }));
    return [{ route, path: existing.find(([pattern]) => pattern.test(route))?.[1] ?? path }];
  });
  return requests.filter(({ route }) => ONLY === null || ONLY.some((part) => route.includes(part)));
}

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
  const headers = { 'cf-connecting-ip': '10.77.0.1' };
  for (let request = 0; request < 3; request += 1) {
    await (await fetch(`${counting}/counts`)).text();
    await (await fetch(`${counting}${path}`, { headers, redirect: 'manual' })).text();
  }
  return (await (await fetch(`${counting}/counts`)).json()) as Counts;
}

/** The bare route that makes the same calls and sends as many bytes. */
function bareRoute(counts: Counts, bytes: number): string {
  const calls = BARE.filter((name) => (counts[name] ?? 0) > 0).map((name) => `${name}=${counts[name]}`);
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
    const pool = /default=(\w+)/.exec(world.bindings.POOL_ADDRESSES ?? '')?.[1] ?? '';
    const figures: Figure[] = [];
    for (const { route, path } of await requests(ours, await runtime.database(), pool)) {
      const began = performance.now();
      const status = await client.get(`${ours}${path}`);
      const coldMs = performance.now() - began;
      const counts = await countsOf(counting, path);
      const whole = await fetch(`${ours}${path}`, { redirect: 'manual' });
      const bytes = (await whole.arrayBuffer()).byteLength;
      const bareUrl = `${limit}${bareRoute(counts, bytes)}`;
      const pairs: { ours: number; limit: number }[] = [];
      for (let round = -2; round < ROUNDS; round += 1) {
        const pair = {
          ours: await client.rate(`${ours}${path}`, ROUND_MS),
          limit: await client.rate(bareUrl, ROUND_MS),
        };
        if (round >= 0) pairs.push(pair);
      }
      const rate = median(pairs.map((pair) => pair.ours));
      const isComparable = (counts.upstream ?? 0) === 0;
      const ratio = isComparable ? median(pairs.map((pair) => pair.ours / pair.limit)) : null;
      figures.push({ route, status, counts, bytes, coldMs, ours: rate, ratio });
    }
    if (ONLY !== null) return figures.map(rowOf);
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

const rowOf = ({ route, status, counts, bytes, coldMs, ours, ratio }: Figure): Row => {
  const touched = Object.entries(counts).map(([name, calls]) => `${calls} ${NAMES[name as keyof Counts]}`);
  return {
    what: `GET ${route}${status === 200 ? '' : ` (${status})`}`,
    ours: `${ours.toFixed(0)}/s, first ${coldMs.toFixed(0)} ms`,
    limit: `${(bytes / 1_000).toFixed(1)} KB with ${touched.join(', ') || 'no backend'}`,
    ratio,
    aim: { least: 0.7 },
  };
};
