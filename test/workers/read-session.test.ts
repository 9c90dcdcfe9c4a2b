import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { base58 } from '@scure/base';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import worker from '../../src/worker.ts';
import { OPEN_GATE } from '../kit/flood-gate.ts';
import { freshStorageForEachTest, migrate } from './fresh-storage.ts';

freshStorageForEachTest();

const second = Reflect.get(env, 'SECOND_DB') as D1Database;
const UNCONSTRAINED = 'first-unconstrained';

type Opened = { readonly from: string; readonly queries: string[] };
let opened: Opened[];
let onPrimary: string[];
/** The failure of reads that must reach the primary. */
let primaryIs: 'up' | 'down' | 'silent';

beforeEach(async () => {
  opened = [];
  onPrimary = [];
  primaryIs = 'up';
  await migrate(second);
});

const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();

/** The statement of a replica, whose results name the replica. */
function fromReplica(statement: D1PreparedStatement): D1PreparedStatement {
  const replica = new Proxy(statement, {
    get(target, name) {
      if (name === 'bind') return (...values: unknown[]) => fromReplica(target.bind(...values));
      if (name !== 'all') return Reflect.get(target, name).bind(target);
      return async () => {
        const result = await target.all();
        return { ...result, meta: { ...result.meta, served_by_primary: false } };
      };
    },
  });
  originals.set(replica, statement);
  return replica;
}

const unavailable = (how: 'down' | 'silent') => ({
  run: () =>
    how === 'silent' ? new Promise(() => undefined) : Promise.reject(new Error('D1_ERROR: unavailable')),
});

/** The database with one replica, which has only the rows of SECOND_DB and serves what needs no bookmark. */
const DB = {
  prepare(query: string) {
    onPrimary.push(query);
    return env.DB.prepare(query);
  },
  withSession(from = UNCONSTRAINED) {
    const session: Opened = { from, queries: [] };
    opened.push(session);
    const real = (from === UNCONSTRAINED ? second : env.DB).withSession();
    return {
      prepare(query: string) {
        session.queries.push(query);
        if (from === 'first-primary' && primaryIs !== 'up') return unavailable(primaryIs);
        return from === UNCONSTRAINED ? fromReplica(real.prepare(query)) : real.prepare(query);
      },
      batch: (statements: D1PreparedStatement[]) =>
        real.batch(statements.map((statement) => originals.get(statement) ?? statement)),
      getBookmark: () => real.getBookmark(),
    };
  },
} as Partial<D1Database> as D1Database;

const MINT = base58.encode(new Uint8Array(32).fill(9));
const SIGNATURE = base58.encode(new Uint8Array(64).fill(5));
const swap = {
  signature: SIGNATURE,
  status: 'waiting',
  detail: 'signed',
  reason: null,
  amountLamports: 500_000_000n,
  expectedSats: 120_000n,
  minimumSats: 119_000n,
  btcSats: null,
  btcTxid: null,
  route: 'near-intents',
};
const ANSWERS: Readonly<Record<string, unknown>> = {
  createSwap: { type: 'created', replayed: false, swap },
  probeNodes: [],
};
const custodian = new Proxy({}, { get: (_, verb) => async () => ANSWERS[String(verb)] ?? null });
const bindings = {
  ...env,
  DB,
  CUSTODIAN: { ...env.CUSTODIAN, getByName: () => custodian },
  ...OPEN_GATE,
  PUBLIC_BASE_URL: 'https://sluice.test',
  RESERVE_SOLANA_ADDRESS: base58.encode(new Uint8Array(32).fill(7)),
  RESERVE_BTC_ADDRESS: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
} as unknown as Env;

async function request(path: string, init: RequestInit<IncomingRequestCfProperties> = {}): Promise<Response> {
  const context = createExecutionContext();
  const response = await worker.fetch(
    new Request<unknown, IncomingRequestCfProperties>(`https://sluice.test${path}`, init),
    bindings,
    context,
  );
  await waitOnExecutionContext(context);
  return response;
}
const create = (body: object) =>
  request('/api/swap/create', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
    body: JSON.stringify({ amountSol: 0.5, ...body }),
  });
const withBookmark = (bookmark: string) => ({ headers: { 'x-data-bookmark': bookmark } });

const addSwap = (database: D1Database) =>
  database
    .prepare(
      `INSERT INTO operations (id, seq, revision, kind, status, detail, signature, amount_lamports, landed_slot, created_at,
         updated_at, journal) VALUES ('swap:1', 1, 1, 'swap', 'waiting', 'sent', ?, '500000000', 1, ?2, ?2, '{}')`,
    )
    .bind(SIGNATURE, '2026-11-22T00:00:00.000Z')
    .run();
const history = async (init?: RequestInit<IncomingRequestCfProperties>) =>
  (await (await request('/api/exchanges/transactions', init)).json<{ transactions: unknown[] }>())
    .transactions;

beforeAll(() => vi.spyOn(console, 'log').mockImplementation(() => undefined));
afterAll(() => vi.restoreAllMocks());

it("reads lists from a replica, which first catches up with the caller's bookmark", async () => {
  await addSwap(env.DB);
  expect(await history()).toHaveLength(0);
  const bookmark = (await create({})).headers.get('x-data-bookmark') ?? '';
  expect(bookmark).toMatch(/^[0-9a-f]{8}-/);
  opened = [];
  expect(await history(withBookmark(bookmark))).toHaveLength(1);
  expect(opened.map(({ from }) => from)).toEqual([bookmark]);
  expect(onPrimary).toEqual([]);
});

it('a read gets no bookmark and requests none from the primary', async () => {
  const response = await request('/api/exchanges/transactions');
  expect([response.status, response.headers.get('x-data-bookmark')]).toEqual([200, null]);
  expect(opened.map(({ from }) => from)).not.toContain('first-primary');
});

it.each(['down', 'silent'] as const)(
  'returns a created swap without a bookmark when the primary is %s',
  async (how) => {
    primaryIs = how;
    const response = await create({});
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ initiated: true, id: SIGNATURE });
    expect(response.headers.get('x-data-bookmark')).toBeNull();
  },
);

it.each(['first-primary', "x' OR 1", '0000-', 'g000-0001', '', '0'.repeat(201)])(
  'ignores the header %j and reads without a bookmark',
  async (sent) => {
    expect(await history(withBookmark(sent))).toEqual([]);
    expect(opened.map(({ from }) => from)).toEqual([UNCONSTRAINED]);
  },
);

it('reads a value that other requests share in one session, without the bookmark of the caller', async () => {
  expect((await request('/api/status', withBookmark('ffffffff-ffffffff'))).status).toBe(200);
  expect(opened.map(({ from }) => from)).toEqual([UNCONSTRAINED]);
  expect(opened[0]?.queries.length).toBeGreaterThan(1);
});

it('reads a token from the primary if the replica does not have it yet', async () => {
  const journal = JSON.stringify({
    tokenId: 7,
    mint: MINT,
    name: 'Moon Cat',
    symbol: 'MCAT',
    decimals: 6,
    supply: '5',
    uri: `https://sluice.test/api/tokens/${MINT}/metadata.json`,
    program: 'token',
    requestId: crypto.randomUUID(),
    createdAt: 1,
  });
  const at = '2026-11-22T00:00:00.000Z';
  const insert = `INSERT INTO tokens (id, revision, token_id, mint_address, name, symbol, created_at, journal)
    VALUES ('7', 1, 7, ?, 'moon cat', 'mcat', ?, ?)`;
  await env.DB.prepare(insert).bind(MINT, at, journal).run();
  const metadata = () => request(`/api/tokens/${MINT}/metadata.json`);
  expect(await (await metadata()).json()).toMatchObject({ symbol: 'MCAT' });
  expect(onPrimary).toHaveLength(1);
  await second.prepare(insert).bind(MINT, at, journal).run();
  expect((await metadata()).status).toBe(200);
  expect(onPrimary).toHaveLength(1);
});
