import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { createSwapStore } from '../../src/features/swap/swap-store.ts';

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
