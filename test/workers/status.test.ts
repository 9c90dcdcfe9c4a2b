import { env, exports } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { createDatabaseStore, TABLES } from '../../src/features/status/database-store.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const store = createDatabaseStore(env.DB);

describe('the database as the status shows it', () => {
  it("the status compares the columns of schema.sql and ignores the platform's own tables", async () => {
    const columns = await store.columns();
    expect(columns).toEqual(expect.arrayContaining(['operations.seq', 'tokens.name', 'mirror_marks.name']));
    expect(columns.filter((column) => /^(sqlite_|_cf_|d1_)/.test(column))).toEqual([]);
  });

  it('lists the newest operations first and does not show their ids', async () => {
    const insert = env.DB.prepare(
      `INSERT INTO operations (id, seq, revision, kind, status, detail, amount_lamports, created_at, updated_at, journal)
       VALUES (?, ?, ?, 'swap', 'waiting', 'sent', '5', '2026-11-20T00:00:00.000Z', '2026-11-20T00:00:01.000Z', '{}')`,
    );
    await env.DB.batch([1, 2, 3].map((seq) => insert.bind(`swap:secret-${seq}`, seq, seq)));
    const rows = await store.latestOperations(2);
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toContain('secret');
    expect(rows[0]).toEqual({
      kind: 'swap',
      status: 'waiting',
      detail: 'sent',
      reason: null,
      signature: null,
      amountLamports: '5',
      createdAt: '2026-11-20T00:00:00.000Z',
      updatedAt: '2026-11-20T00:00:01.000Z',
    });
  });
});

describe('a database without a table', () => {
  const drop = () => env.DB.prepare('DROP TABLE proofs').run();

  it('the list of required tables equals the tables of schema.sql', async () => {
    const { results } = await env.DB.prepare(
      `SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
         AND name NOT LIKE '!_cf!_%' ESCAPE '!' AND name NOT LIKE 'tokens!_text!_%' ESCAPE '!' AND name NOT LIKE 'tokens!_short!_%' ESCAPE '!' AND name <> 'd1_migrations'`,
    ).all<{ name: string }>();
    expect(results.map(({ name }) => name).sort()).toEqual([...TABLES].sort());
  });

  it('a database without a table is not ready, and the response names the missing table', async () => {
    await drop();
    const response = await exports.default.fetch('https://sluice.test/api/ready');
    expect(response.status).toBe(503);
    const { checks } = await response.json<{ checks: { name: string }[] }>();
    expect(checks.find(({ name }) => name === 'database')).toEqual({
      name: 'database',
      ok: false,
      reason: 'table proofs is missing: apply the migrations',
    });
  });

  it('a read of a missing table returns DATABASE_UNAVAILABLE', async () => {
    await drop();
    const response = await exports.default.fetch('https://sluice.test/api/proof/history');
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { error_code: 'DATABASE_UNAVAILABLE', retryable: true },
    ]);
  });
});
