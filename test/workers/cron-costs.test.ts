/** What one cold run of the cron reads in D1, at a size that the service may reach. */
import { env } from 'cloudflare:workers';
import { base58 } from '@scure/base';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runScheduled } from '../../src/wiring/scheduled.ts';
import { limitedD1 } from '../kit/platform/d1.ts';
import { invoke } from '../kit/platform/invocation.ts';
import { createUpstreams, useSettings } from './custodian-upstreams.ts';

const OPERATIONS = 50_000;

const database = env.DB;
const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)';
let read = 0;
const note = ({ meta }: D1Result): void => {
  read += meta.rows_read;
};

// The custodian reads through the same binding.
useSettings({
  ABSR_MINT_ADDRESS: base58.encode(new Uint8Array(32).fill(9)),
  DB: limitedD1(database, note),
});

beforeAll(async () => {
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
