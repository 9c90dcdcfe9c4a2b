/** What one cold run of the cron reads in D1, at a size that the service may reach. */
import { env } from 'cloudflare:workers';
import { base58 } from '@scure/base';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runScheduled } from '../../src/wiring/scheduled.ts';
import { limitedD1 } from '../kit/platform/d1.ts';
import { invoke } from '../kit/platform/invocation.ts';
import { createUpstreams, RESERVE, RESERVE_SECRET } from './custodian-upstreams.ts';

const OPERATIONS = 50_000;

const database = env.DB;
const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)';
let read = 0;
const note = ({ meta }: D1Result): void => {
  read += meta.rows_read;
};

const SETTINGS = {
  RESERVE_SOLANA_ADDRESS: RESERVE,
  SOLANA_PRIVATE_KEY: RESERVE_SECRET,
  RESERVE_BTC_ADDRESS: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  ABSR_MINT_ADDRESS: base58.encode(new Uint8Array(32).fill(9)),
  PUBLIC_BASE_URL: 'https://sluice.test',
  SOLANA_RPC_URL: 'https://rpc1.test,https://rpc2.test',
  SOLANA_READ_RPC_URL: 'https://rpc-read.test',
  ESPLORA_API_URLS: 'https://esplora1.test,https://esplora2.test',
};

beforeAll(async () => {
  for (const [name, value] of Object.entries(SETTINGS)) Reflect.set(env, name, value);
  // The custodian reads through the same binding.
  Reflect.set(env, 'DB', limitedD1(database, note));
  vi.stubGlobal('fetch', createUpstreams().fetch);
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const at = new Date(Date.now() - 3_600_000).toISOString();
  await env.DB.prepare(
    `INSERT INTO operations (id, seq, revision, kind, status, detail, signature, amount_lamports, landed_slot, block_time,
       expected_sats, btc_sats, btc_txid, created_at, updated_at, journal)
     ${numbers} SELECT 'swap:' || i, i, i, 'swap', 'finished', 'x', 'swap' || i, '500000000', i, i, '120000', '120000',
       printf('%064d', i), ?2, ?2, '{"dueAt":null}' FROM n`,
  )
    .bind(OPERATIONS, at)
    .run();
});
afterAll(() => {
  Reflect.set(env, 'DB', database);
  for (const name of Object.keys(SETTINGS)) Reflect.deleteProperty(env, name);
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it.each(['* * * * *', '5 0 * * *'])(
  'a cold run of the cron %s reads fewer than 500 rows of D1 with 50,000 stored operations',
  async (cron) => {
    read = 0;
    // A new environment for each run, so that its caches are empty.
    await invoke(() => runScheduled(cron, { ...env }));
    expect(read).toBeGreaterThan(0);
  },
);
