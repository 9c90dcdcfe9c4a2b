import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { purgeUnpaid } from '../../src/features/tokens/unpaid-store.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const NOW = Date.UTC(2026, 10, 25);
const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(NOW - days * DAY_MS).toISOString();

const request = (
  table: 'invoices' | 'listings',
  id: string,
  days: number,
  detail: string,
  status = 'pending',
) =>
  env.DB.prepare(
    `INSERT INTO ${table} (id, revision, ${table === 'listings' ? 'token_id, ' : ''}status, created_at, journal)
     VALUES (?, 1, ${table === 'listings' ? '1, ' : ''}?, ?, json_object('view', json_object('detail', ?)))`,
  ).bind(id, status, daysAgo(days), detail);
const token = (id: number, days: number, listedAt: string | null) =>
  env.DB.prepare(
    `INSERT INTO tokens (id, revision, token_id, mint_address, name, symbol, listed_at, created_at, journal)
     VALUES (?1, 1, ?1, 'mint ' || ?1, 'name', 'symbol', ?2, ?3, '{}')`,
  ).bind(String(id), listedAt, daysAgo(days));

async function ids(table: string): Promise<string[]> {
  const { results } = await env.DB.prepare(`SELECT id FROM ${table} ORDER BY id`).all<{ id: string }>();
  return results.map(({ id }) => id);
}

it('deletes expired unpaid requests after nine days, and unlisted tokens that no listing request names', async () => {
  await env.DB.batch([
    request('invoices', 'old', 9.01, 'expired'),
    request('invoices', 'young', 8.99, 'expired'),
    request('invoices', 'owed', 20, 'refund_due'),
    request('invoices', 'made', 20, 'completed', 'completed'),
    request('listings', 'old', 9.01, 'expired'),
    request('listings', 'owed', 20, 'refund_due'),
    token(1, 20, null),
    token(2, 9.01, null),
    token(3, 8.99, null),
    token(4, 20, daysAgo(20)),
  ]);
  await purgeUnpaid(env.DB, NOW);
  expect(await ids('invoices')).toEqual(['made', 'owed', 'young']);
  expect(await ids('listings')).toEqual(['owed']);
  expect(await ids('tokens')).toEqual(['1', '3', '4']);
});
