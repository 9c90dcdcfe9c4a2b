import { env } from 'cloudflare:workers';
import { base58 } from '@scure/base';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import page from '../../docs/scale.md?raw';
import { createApp } from '../../src/app.ts';
import { buildProofMessage } from '../../src/chain/bitcoin/proof-message.ts';
import { lamports, sats } from '../../src/core/amount.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { limitedD1 } from '../kit/platform/d1.ts';

/**
 * The costs of one request. Rows are those that D1 bills, from the `meta` of its results. `json` is the text
 * that the Worker parses and writes, in characters: it represents processor time and is the same on every
 * machine.
 */
type Cost = Record<
  | 'statements'
  | 'read'
  | 'written'
  | 'kv'
  | 'custodian'
  | 'pageViews'
  | 'limiter'
  | 'upstream'
  | 'subrequests'
  | 'json',
  number
>;
const NOTHING: Cost = {
  statements: 0,
  read: 0,
  written: 0,
  kv: 0,
  custodian: 0,
  pageViews: 0,
  limiter: 0,
  upstream: 0,
  subrequests: 0,
  json: 0,
};

const WORDS: Readonly<Record<keyof Cost, string>> = {
  statements: 'D1',
  read: 'read',
  written: 'written',
  kv: 'KV',
  custodian: 'custodian',
  pageViews: 'page-view object',
  limiter: 'limiter',
  upstream: 'upstream',
  subrequests: 'sub',
  json: 'KB JSON',
};

let cost: Cost = { ...NOTHING };

const count = ({ meta }: D1Result, index: number): void => {
  // A batch is one call.
  if (index === 0) cost.subrequests += 1;
  cost.statements += 1;
  cost.read += meta.rows_read;
  cost.written += meta.rows_written;
};

const DB = limitedD1(env.DB, count);

/** Counts each call of a method. */
const counting = <T extends object>(target: T, key: 'kv' | 'pageViews' | 'limiter'): T =>
  new Proxy(target, {
    get: (_, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        cost[key] += 1;
        // The platform does not count the rate limiter.
        if (key !== 'limiter') cost.subrequests += 1;
        return Reflect.apply(member, target, args);
      };
    },
  });

/** A custodian without rows that D1 lacks. */
const emptyCustodian = (): DurableObjectStub<never> =>
  new Proxy({} as DurableObjectStub<never>, {
    get: (_, verb) => async () => {
      cost.custodian += 1;
      cost.subrequests += 1;
      if (verb === 'signingState') return { frozen: null, watchOnly: true };
      return verb === 'listAsryEpochs' || verb === 'listMints' ? [] : null;
    },
  });

const proofMessage = buildProofMessage({
  service: 'sluice.test',
  bitcoinAddress: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  solanaAddress: base58.encode(new Uint8Array(32).fill(8)),
  reserveSats: sats(1n),
  solanaLamports: lamports(1n),
  absr: null,
  bitcoinTip: { height: 900_000, hash: 'a'.repeat(64) },
  solanaTip: { slot: 1n, blockhash: base58.encode(new Uint8Array(32).fill(9)) },
  time: '2026-01-01T00:00:01.000Z',
  previousProof: null,
});

const RESERVE = base58.encode(new Uint8Array(32).fill(7));
const MINT = base58.encode(new Uint8Array(32).fill(9));
const signature = (last: number): string => base58.encode(new Uint8Array(64).fill(5).with(63, last));
const FINISHED = signature(1);
const UNKNOWN = signature(0);
const COMPLETED = crypto.randomUUID();
/** A completed invoice, in the form of the custodian's mirror. */
const INVOICE = {
  id: COMPLETED,
  kind: 'token',
  status: 'completed',
  detail: 'completed',
  reason: null,
  subject: { decimals: 9 },
  feeLamports: '10000001',
  receivedLamports: '10000001',
  reference: MINT,
  createdAt: '2026-11-22T00:00:00.000Z',
  expiresAt: '2026-11-22T00:30:00.000Z',
  paidAt: '2026-11-22T00:01:00.000Z',
  completedAt: '2026-11-22T00:02:00.000Z',
  paymentSignature: signature(2),
  tokenId: 101,
  mintAddress: MINT,
  refunds: [],
};

const bindings = (): Env =>
  ({
    ...env,
    DB,
    KV: counting(env.KV, 'kv'),
    LIMITER: counting(env.LIMITER, 'limiter'),
    CUSTODIAN: { ...env.CUSTODIAN, getByName: emptyCustodian },
    PAGE_VIEWS: { getByName: (name: string) => counting(env.PAGE_VIEWS.getByName(name), 'pageViews') },
    TREASURY_SOLANA_ADDRESS: MINT,
    PUBLIC_BASE_URL: 'https://sluice.test',
    RESERVE_SOLANA_ADDRESS: RESERVE,
    RESERVE_BTC_ADDRESS: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    ASRY_MINT_ADDRESS: MINT,
    ABSR_MINT_ADDRESS: MINT,
  }) as unknown as Env;

const ROWS = 1_000;
const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)';

/** Enough rows to reveal a statement without an index. */
async function fill(): Promise<void> {
  const at = '2026-11-22T00:00:00.000Z';
  const operation = (kind: string) =>
    env.DB.prepare(
      `INSERT INTO operations (id, seq, revision, kind, status, detail, signature, amount_lamports, landed_slot, block_time,
         expected_sats, btc_sats, btc_txid, created_at, updated_at, journal)
       ${numbers} SELECT '${kind}:' || i, i + ?2, 1, '${kind}', 'finished', 'x', '${kind}' || i, '500000000', i, i, '120000', '120000',
         printf('%064d', i), ?3, ?3,
         '{"dueAt":null}' FROM n`,
    );
  await env.DB.batch([
    operation('swap').bind(ROWS, 0, at),
    operation('asry').bind(ROWS, ROWS, at),
    env.DB.prepare(`UPDATE operations SET signature = ? WHERE id = 'swap:1'`).bind(FINISHED),
    env.DB.prepare(
      `INSERT INTO tokens (id, revision, token_id, mint_address, name, symbol, listed_at, created_at, journal)
       ${numbers} SELECT i + 100, 1, i + 100, 'mint' || i, 'abc ' || i, 'abc' || i, ?2, ?2, json_object('tokenId', i + 100, 'mint', 'mint' || i,
         'name', 'abc ' || i, 'symbol', 'ABC' || i, 'decimals', 9, 'supply', '1', 'program', 'token', 'createdAt', 0, 'listedAt', 0) FROM n`,
    ).bind(ROWS, at),
    env.DB.prepare(
      `INSERT INTO proofs (id, revision, hash, created_at, journal)
       ${numbers} SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + i, 'unixepoch'), 1, 'hash' || i, ?2, json_object('message', ?3,
         'timestamp', strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + i, 'unixepoch'), 'hash', 'hash' || i,
         'bitcoin', json_object('scheme', 's', 'signature', 's', 'unprefixed', null),
         'solana', json_object('scheme', 's', 'signature', 's'), 'offline', json('false')) FROM n`,
    ).bind(ROWS, at, proofMessage),
    env.DB.prepare(
      "INSERT INTO invoices (id, revision, status, created_at, journal) VALUES (?, 1, 'completed', ?, ?)",
    ).bind(COMPLETED, at, JSON.stringify({ view: INVOICE })),
  ]);
}

const app = createApp(async (all) => ({ ...(await apiDeps(all)), log: () => undefined }));

beforeAll(async () => {
  // A second request comes within the second for which some answers are reused.
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.stubGlobal('fetch', async () => {
    cost.upstream += 1;
    cost.subrequests += 1;
    throw new TypeError('no network here');
  });
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  await fill();
});
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const view = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"path":"/page/1"}',
};
const REQUESTS: readonly (readonly [
  name: string,
  path: string,
  init?: { method: string; headers: Record<string, string>; body: string },
])[] = [
  ['GET /api/health', '/api/health'],
  ['GET /api/ready', '/api/ready'],
  ['GET /api/swap/status/{id}, final', `/api/swap/status/${FINISHED}`],
  ['GET /api/swap/status/{id}, unknown', `/api/swap/status/${UNKNOWN}`],
  ['GET /api/exchanges/transactions', '/api/exchanges/transactions'],
  ['GET /api/arbitrage/transactions', '/api/arbitrage/transactions'],
  ['GET /api/invoices/{id}, unknown', `/api/invoices/${crypto.randomUUID()}`],
  ['GET /api/invoices/{id}, completed', `/api/invoices/${COMPLETED}`],
  ['GET /api/tokens/{id}, unknown', '/api/tokens/7'],
  ['GET /api/tokens', '/api/tokens'],
  ['GET /api/listings/search', '/api/listings/search?q=abc'],
  ['GET /api/proof/history', '/api/proof/history'],
  ['GET /api/asry/epoch', '/api/asry/epoch'],
  ['GET /api/analytics/stats', '/api/analytics/stats'],
  ['POST /api/analytics/pageview', '/api/analytics/pageview', view],
];

/** The cells of the table in docs/scale.md, by the first of each row. */
const stated = new Map(
  page
    .split('\n')
    .filter((line: string) => /^\| `(GET|POST)\b/.test(line))
    .map((line: string) => {
      const [name = '', ...cells] = line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1);
      return [name.replaceAll('`', ''), cells] as const;
    }),
);

/** As in the table: what was used, or 0. Text is rounded up to 5 KB, because it contains SQL. */
const costText = ({ json, ...used }: Cost): string =>
  Object.entries({ ...used, json: Math.ceil(json / 5_000) * 5 })
    .filter(([, times]) => times > 0)
    .map(([what, times]) => `${times} ${WORDS[what as keyof Cost]}`)
    .join(', ') || '0';

const { parse, stringify } = JSON;
/** Counts the JSON text. Not for a first request, because Vitest loads its modules and uses JSON as well. */
async function countingJson<T>(run: () => Promise<T>): Promise<T> {
  JSON.parse = (text, ...rest) => {
    cost.json += String(text).length;
    return parse(text, ...rest);
  };
  JSON.stringify = ((...args: Parameters<typeof stringify>) => {
    const text: string | undefined = stringify(...args);
    cost.json += text?.length ?? 0;
    return text;
  }) as typeof stringify;
  try {
    return await run();
  } finally {
    Object.assign(JSON, { parse, stringify });
  }
}

it.each(REQUESTS.map(([name, path, init = {}]) => [name, path, init] as const))(
  '%s has the costs of docs/scale.md, at the first and further requests',
  async (name, path, init) => {
    const all = bindings();
    const measure = async (): Promise<string> => {
      cost = { ...NOTHING };
      const response = await app.request(path, init, all);
      const text = await response.text();
      expect(response.status, text).toBeLessThan(500);
      return costText(cost);
    };
    const first = await measure();
    const again = await countingJson(measure);
    expect([first, again]).toEqual(stated.get(name));
  },
);
