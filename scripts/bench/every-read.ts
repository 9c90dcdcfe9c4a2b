/** A request for each read of the service, and rows of every kind that they return. */
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { routeRequests } from '../../test/e2e/route-requests.ts';
import type { startRuntime } from './runtime.ts';

type D1 = Awaited<ReturnType<Awaited<ReturnType<typeof startRuntime>>['database']>>;

/** Rows of each kind, enough to reveal a statement without an index. */
const ROWS = 1_000;
const SIGNATURES = { finished: 7, waiting: 8, unknown: 9 } as const;
type SwapState = keyof typeof SIGNATURES;
const signatureOf = (state: SwapState): string => encodeBase58(new Uint8Array(64).fill(SIGNATURES[state]));

/** A finished and a waiting swap, in the form of the custodian's mirror. */
const OPERATIONS = `INSERT INTO operations (id, seq, revision, kind, status, detail, signature, amount_lamports, landed_slot,
    block_time, expected_sats, btc_sats, btc_txid, created_at, updated_at, journal)
  VALUES ('swap:' || ?1, ?2, 1, 'swap', ?1, 'x', ?3, '500000000', 1, 1763769600, '120000', '120000', printf('%064d', ?2),
    '2026-11-22T00:00:00.000Z', '2026-11-22T00:00:00.000Z', ?4)`;
/** Copies of the finished swap. */
const SWAPS = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
  INSERT INTO operations (id, seq, revision, kind, status, detail, signature, amount_lamports, landed_slot, block_time, expected_sats,
    btc_sats, btc_txid, created_at, updated_at, journal)
  SELECT id || i, seq + 10 + i, 1, kind, status, detail, signature || i, amount_lamports, landed_slot + i, block_time, expected_sats,
    btc_sats, btc_txid, created_at, updated_at, journal FROM n, (SELECT * FROM operations WHERE id = 'swap:finished')`;
function mintOf(id: number): string {
  const bytes = new Uint8Array(32).fill(9);
  new DataView(bytes.buffer).setUint32(0, id);
  return encodeBase58(bytes);
}
const TOKEN = `INSERT INTO tokens (id, revision, token_id, mint_address, creator_address, name, symbol, listed_at, created_at, journal)
  VALUES (CAST(?1 AS TEXT), 1, ?1, ?2, ?2, 'bench token ' || ?1, 'bt' || ?1, '2026-11-22T00:00:00.000Z', '2026-11-22T00:00:00.000Z',
    json_object('tokenId', ?1, 'mint', ?2, 'name', 'Bench Token ' || ?1, 'symbol', 'BT' || ?1, 'decimals', 6, 'supply', '1000000',
      'uri', 'https://bench.example/' || ?1, 'requestId', ?2, 'program', 'token', 'createdAt', 1763769600000, 'listedAt', 1763769600000))`;
/** Copies of one proof, one for each hour before 2026. */
const PROOFS = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
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
    creditedAtoms: '5000000',
    feeBps: 0,
    feeAtoms: '0',
    netAtoms: '5000000',
    epoch: 0,
    entitlementAtoms: '1000',
    remainingAtoms: '0',
    claimedAtMs: 1_763_769_600_000,
  },
  payouts: [],
};

async function addRows(db: D1): Promise<void> {
  const operation = db.prepare(OPERATIONS);
  const token = db.prepare(TOKEN);
  await db.batch([
    operation.bind('finished', 1_001, signatureOf('finished'), '{"dueAt":null}'),
    operation.bind('waiting', 1_002, signatureOf('waiting'), '{"dueAt":1}'),
    db.prepare(SWAPS),
    ...Array.from({ length: ROWS }, (_, at) => token.bind(at + 1, mintOf(at + 1))),
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

export type ReadRequest = { readonly route: string; readonly path: string };

/** A request for every GET. It names something that exists, unless the row's name says otherwise. */
export async function everyRead(origin: string, db: D1, poolAddresses = ''): Promise<ReadRequest[]> {
  const pool = /default=(\w+)/.exec(poolAddresses)?.[1] ?? '';
  const all = routeRequests().filter(({ method }) => method === 'GET');
  const invoice = await made(origin, '/api/invoices', 'invoice_id');
  const exchange = await made(origin, '/api/exchange/create', 'id', EXCHANGE);
  await addRows(db);
  await Promise.all(Array.from({ length: 500 }, (_, n) => addView(origin, n)));
  const existing: readonly (readonly [RegExp, string])[] = [
    [/^\/api\/invoices\/:/, `/api/invoices/${invoice}`],
    [/^\/api\/exchange\/status\/:/, `/api/exchange/status/${exchange}`],
    [/^\/api\/tokens\/:[^/]*\/metadata/, `/api/tokens/${mintOf(1)}/metadata.json`],
    [/^\/api\/tokens\/:[^/]*$/, '/api/tokens/1'],
    [/^\/api\/asry\/claims\/:/, `/api/asry/claims/${CLAIM.claim.signature}`],
    [/^\/api\/dex\/pool\/:/, `/api/dex/pool/${pool}`],
  ];
  return all.flatMap(({ route, path }): ReadRequest[] => {
    if (route === '/api/listings/search')
      return [
        { route: `${route}, few hits`, path: `${route}?q=bench token 77` },
        { route: `${route}, many hits`, path: `${route}?q=b` },
      ];
    if (route === '/api/swap/status/:id')
      return (Object.keys(SIGNATURES) as SwapState[]).map((state) => ({
        route: `${route}, ${state}`,
        path: `/api/swap/status/${signatureOf(state)}`,
      }));
    return [{ route, path: existing.find(([pattern]) => pattern.test(route))?.[1] ?? path }];
  });
}
