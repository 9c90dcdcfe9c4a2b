import { env, exports } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { createDatabaseStore, schemaFingerprint, TABLES } from '../../src/features/status/database-store.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const store = createDatabaseStore(env.DB);

describe('the database as the status shows it', () => {
  it('has the columns of schema.sql and none of the platform', async () => {
    const columns = await store.columns();
    expect(columns).toEqual(expect.arrayContaining(['operations.seq', 'tokens.name', 'quote_budget.window']));
    expect(columns.filter((column) => /^(sqlite_|_cf_|d1_)/.test(column))).toEqual([]);
  });

  it('gets a different fingerprint with a further column', async () => {
    const before = schemaFingerprint(await store.columns());
    await env.DB.prepare('ALTER TABLE quote_budget ADD COLUMN more TEXT').run();
    expect(schemaFingerprint(await store.columns())).not.toBe(before);
  });

  it('counts the quotes of the current window only', async () => {
    const now = Date.UTC(2026, 10, 20, 13);
    const window = Math.floor(now / 7_200_000);
    const insert = env.DB.prepare('INSERT INTO quote_budget (window, used) VALUES (?, ?)');
    await env.DB.batch([insert.bind(window - 1, 99), insert.bind(window, 7)]);
    expect(await store.quotesUsed(now)).toBe(7);
    expect(await store.quotesUsed(now + 7_200_000)).toBe(0);
  });

  it('adds up the checks of half an hour and keeps a day of them', async () => {
    const now = Date.UTC(2026, 10, 20, 13, 10);
    const half = 1_800_000;
    await store.recordCheck(now - 49 * half, ['rpc']);
    await store.recordCheck(now - half, []);
    await store.recordCheck(now, ['rpc', 'relay-1']);
    await store.recordCheck(now + 60_000, ['rpc']);
    await store.recordCheck(now + 120_000, []);
    expect(await store.statusPeriods(now)).toEqual([
      { startsAt: '2026-11-20T12:30:00.000Z', checks: 1, failures: [] },
      {
        startsAt: '2026-11-20T13:00:00.000Z',
        checks: 3,
        failures: [
          { name: 'relay-1', checks: 1 },
          { name: 'rpc', checks: 2 },
        ],
      },
    ]);
    const rows = await env.DB.prepare('SELECT count(*) AS count FROM status_periods').first();
    expect(rows).toEqual({ count: 2 });
  });

  it('lists the newest operations first and keeps their natural keys', async () => {
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

  it('names every table of schema.sql', async () => {
    const { results } = await env.DB.prepare(
      `SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
         AND name NOT LIKE '!_cf!_%' ESCAPE '!' AND name NOT LIKE 'tokens!_text!_%' ESCAPE '!' AND name NOT LIKE 'tokens!_short!_%' ESCAPE '!' AND name <> 'd1_migrations'`,
    ).all<{ name: string }>();
    expect(results.map(({ name }) => name).sort()).toEqual([...TABLES].sort());
  });

  it('is not ready, and names the missing table', async () => {
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

  it('refuses a read of that table with DATABASE_UNAVAILABLE', async () => {
    await drop();
    const response = await exports.default.fetch('https://sluice.test/api/proof/history');
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { error_code: 'DATABASE_UNAVAILABLE', retryable: true },
    ]);
  });
});
