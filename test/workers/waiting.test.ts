/** 500 requests that wait for one swap, over HTTP in the Workers runtime on D1. */
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { createApp, type Deps } from '../../src/app.ts';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { createSwapStore } from '../../src/features/swap/swap-store.ts';
import { Cache } from '../../src/http/cached.ts';
import { createWaiting } from '../../src/http/wait.ts';

const WAITERS = 500;
const SIGNATURE = encodeBase58(new Uint8Array(64).fill(7));

afterEach(() => vi.unstubAllGlobals());

it('500 waiting requests get the finished swap with shared reads and no upstream call', async () => {
  const upstream = vi.fn(async () => new Response(null, { status: 500 }));
  vi.stubGlobal('fetch', upstream);
  const findSwap = vi.fn();
  let reads = 0;
  let polls = 0;
  const swaps = createSwapStore(env.DB);
  const swap = {
    now: Date.now,
    requireSwaps: () => undefined,
    custody: { findSwap },
    swaps: {
      ...swaps,
      bySignature: (signature: string) => {
        reads++;
        return swaps.bySignature(signature);
      },
    },
    waiting: createWaiting({
      memory: new Cache({ now: Date.now, defer: () => undefined }),
      now: Date.now,
      sleep: (ms) => {
        polls++;
        return new Promise((resolve) => setTimeout(resolve, ms));
      },
    }),
  };
  const app = createApp(() => ({ log: () => undefined, swap }) as unknown as Deps);
  await env.DB.prepare(
    `INSERT INTO operations (id, seq, revision, kind, status, detail, signature, amount_lamports, created_at, updated_at, journal)
     VALUES ('swap:a', 1, 1, 'swap', 'waiting', 'landed', ?, '500000000', 'x', 'x', '{}')`,
  )
    .bind(SIGNATURE)
    .run();
  const started = Date.now();
  const calls = Array.from({ length: WAITERS }, async () =>
    app.request(`/api/swap/status/${SIGNATURE}`, { headers: { prefer: 'wait=55' } }, env),
  );
  await vi.waitUntil(() => polls >= 3 * WAITERS, { timeout: 60_000 });
  await env.DB.prepare("UPDATE operations SET status = 'finished', btc_sats = '60000'").run();
  const responses = await Promise.all(calls);
  const elapsed = Date.now() - started;
  for (const response of responses) {
    expect(response.headers.get('preference-applied')).toBe('wait=55');
    expect(await response.json()).toMatchObject({ status: 'finished', btcSats: 60_000 });
  }
  expect(upstream).not.toHaveBeenCalled();
  expect(findSwap).not.toHaveBeenCalled();
  // One read a second, and one each for the beginning and the end.
  expect(reads).toBeLessThanOrEqual(elapsed / 1_000 + 2);
});

it('a swap is final only if the custodian no longer watches it', async () => {
  const insert = env.DB.prepare(
    `INSERT INTO operations (id, seq, revision, kind, status, detail, signature, amount_lamports, created_at, updated_at, journal)
     VALUES ('swap:' || ?1, ?2, 1, 'swap', ?3, 'x', ?1, '1', 'x', 'x', ?4)`,
  );
  await env.DB.batch([
    insert.bind('s1', 101, 'waiting', '{"dueAt":null}'),
    insert.bind('s2', 102, 'finished', '{"dueAt":null}'),
    insert.bind('s3', 103, 'failed', '{"dueAt":1790000000000}'),
    insert.bind('s4', 104, 'failed', '{"dueAt":null}'),
  ]);
  const { bySignature } = createSwapStore(env.DB);
  const rows = await Promise.all(['s1', 's2', 's3', 's4'].map(bySignature));
  expect(rows.map((row) => row?.final)).toEqual([false, true, false, true]);
});
