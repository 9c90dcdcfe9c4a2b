import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { readLastChange } from '../../src/features/reserves/reserves-store.ts';
import { limitedD1 } from '../kit/platform/d1.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const NOW = Date.UTC(2026, 10, 20, 13);
const at = (minute: number): string => `2026-11-20T12:${String(minute).padStart(2, '0')}:00.000Z`;
const operation = (seq: number, status: string, minute: number) =>
  env.DB.prepare(
    `INSERT INTO operations (id, seq, revision, kind, status, detail, created_at, updated_at, journal)
     VALUES (?1, ?2, ?2, 'swap', ?3, 'x', ?4, ?4, '{}')`,
  ).bind(`swap:${seq}`, seq, status, at(minute));
const token = (id: number, listedMinute: number | null) =>
  env.DB.prepare(
    `INSERT INTO tokens (id, revision, token_id, mint_address, name, symbol, listed_at, created_at, journal)
     VALUES (?1, 1, ?2, ?1, 'a', 'b', ?3, ?4, '{}')`,
  ).bind(String(id), id, listedMinute === null ? null : at(listedMinute), at(59));

it('the last change is the last ended operation, listing, proof, or payment that bought nothing', async () => {
  expect(await readLastChange(env.DB, NOW)).toBe(0);
  const cases: readonly (readonly [D1PreparedStatement, number])[] = [
    [operation(1, 'finished', 1), 1],
    [operation(2, 'failed', 2), 2],
    // The effect of an operation is complete when it ends.
    [operation(3, 'waiting', 50), 2],
    // Anyone can request a listing without a payment.
    [token(1, null), 2],
    [token(2, 3), 3],
    [
      env.DB.prepare(
        `INSERT INTO refunds (id, revision, status, created_at, journal) VALUES ('a', 1, 'due', ?, '{}')`,
      ).bind(at(4)),
      4,
    ],
    [
      env.DB.prepare(
        `INSERT INTO proofs (id, revision, hash, created_at, journal) VALUES (?1, 1, 'a', ?1, '{}')`,
      ).bind(at(5)),
      5,
    ],
    // An old operation ends after newer ones.
    [
      env.DB.prepare(`UPDATE operations SET status = 'finished', updated_at = ? WHERE seq = 3`).bind(at(51)),
      51,
    ],
    // A clock that was ahead signed it.
    [
      env.DB.prepare(
        `INSERT INTO proofs (id, revision, hash, created_at, journal) VALUES (?1, 2, 'b', ?1, '{}')`,
      ).bind('2026-11-21T12:00:00.000Z'),
      51,
    ],
  ];
  for (const [statement, minute] of cases) {
    await statement.run();
    expect(await readLastChange(env.DB, NOW)).toBe(Date.parse(at(minute)));
  }
});

it('reads a few rows for the last change with 5,000 rows in each table', async () => {
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)';
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO operations (id, seq, revision, kind, status, detail, created_at, updated_at, journal)
       ${numbers} SELECT i, i, i, 'swap', 'finished', 'x', '2026', '2026-' || i, '{}' FROM n`,
    ),
    env.DB.prepare(
      `INSERT INTO refunds (id, revision, status, created_at, journal) ${numbers} SELECT i, 1, 'due', '2026-' || i, '{}' FROM n`,
    ),
    env.DB.prepare(
      `INSERT INTO proofs (id, revision, hash, created_at, journal) ${numbers} SELECT '2026-' || i, 1, i, '2026', '{}' FROM n`,
    ),
  ]);
  let read = 0;
  await readLastChange(
    limitedD1(env.DB, ({ meta }) => {
      read += meta.rows_read;
    }),
    NOW,
  );
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(12);
});
