import { env, exports } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { createDatabaseStore, TABLES } from '../../src/features/status/database-store.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const store = createDatabaseStore(env.DB);

describe('the database as the status shows it', () => {
  it("the status compares the columns of schema.sql and ignores the platform's own tables", async () => {
    const columns = await store.columns();
    expect(columns).toEqual(expect.arrayContaining(['operations.seq', 'tokens.name', 'quote_shares.window']));
    expect(columns.filter((column) => /^(sqlite_|_cf_|d1_)/.test(column))).toEqual([]);
  });

  it('the status counts only the quotes of the current window', async () => {
    const now = Date.UTC(2026, 10, 20, 13);
    const window = Math.floor(now / 7_200_000);
    const insert = env.DB.prepare("INSERT INTO quote_shares (window, client, used) VALUES (?, '*', ?)");
    await env.DB.batch([insert.bind(window - 1, 99), insert.bind(window, 7)]);
    expect(await store.quotesUsed(now)).toBe(7);
    expect(await store.quotesUsed(now + 7_200_000)).toBe(0);
  });

  const NOW = Date.UTC(2026, 10, 20, 13, 10);
  const MINUTE = 60_000;
  const DAY = 86_400_000;

  it('keeps half-hourly sums of the checks for one day and daily sums for 90 days', async () => {
    const half = 1_800_000;
    for (const [at, ...failed] of [
      [NOW - 91 * DAY, 'rpc'],
      [NOW - 49 * half, 'rpc'],
      [NOW - half],
      [NOW, 'rpc', 'relay-1'],
      [NOW + MINUTE, 'rpc'],
      [NOW + 2 * MINUTE],
    ] as const)
      await store.recordCheck(at, Object.fromEntries(failed.map((name) => [name, 'Payments waited.'])));
    expect(await store.halfHours(NOW)).toEqual([
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
    expect(await store.days(NOW)).toEqual([
      { startsAt: '2026-11-19T00:00:00.000Z', checks: 1, failures: [{ name: 'rpc', checks: 1 }] },
      {
        startsAt: '2026-11-20T00:00:00.000Z',
        checks: 4,
        failures: [
          { name: 'relay-1', checks: 1 },
          { name: 'rpc', checks: 2 },
        ],
      },
    ]);
    const rows = await env.DB.prepare('SELECT count(*) AS count FROM status_periods').first();
    expect(rows).toEqual({ count: 4 });
  });

  it('records an incident with its end, and ignores a single failed check', async () => {
    const slow = { rpc: 'Payments may have waited.' };
    const checks = [slow, { ...slow, kraken: 'Payments may have waited.' }, slow, {}, {}, slow, {}];
    for (const [minute, failed] of checks.entries()) await store.recordCheck(NOW + minute * MINUTE, failed);
    expect(await store.incidents(NOW + 7 * MINUTE)).toEqual([
      {
        part: 'rpc',
        effect: 'Payments may have waited.',
        from: '2026-11-20T13:10:00.000Z',
        to: '2026-11-20T13:13:00.000Z',
      },
    ]);
  });

  it('shows an incident after its second failed check', async () => {
    const failed = { custody: 'Payouts waited.' };
    await store.recordCheck(NOW, failed);
    expect(await store.incidents(NOW + 1_000)).toEqual([]);
    await store.recordCheck(NOW + MINUTE, failed);
    await store.recordCheck(NOW + 2 * MINUTE, failed);
    expect(await store.incidents(NOW + 2 * MINUTE)).toMatchObject([{ part: 'custody', to: null }]);
  });

  it('records minutes without any check as an incident, and deletes incidents after 90 days', async () => {
    await store.recordCheck(NOW, {});
    await store.recordCheck(NOW + 10 * MINUTE, {});
    expect(await store.incidents(NOW + 10 * MINUTE)).toEqual([
      {
        part: 'checks',
        effect: 'No check ran: the scheduled work or the database was down.',
        from: '2026-11-20T13:10:00.000Z',
        to: '2026-11-20T13:20:00.000Z',
      },
    ]);
    await store.recordCheck(NOW + 92 * DAY, {});
    const kept = await store.incidents(NOW + 92 * DAY);
    expect(kept.map(({ from }) => from)).toEqual(['2026-11-20T13:20:00.000Z']);
  });

  it('serves the incidents as an Atom feed with escaped texts', async () => {
    const failed = { '<rpc>': 'Payments & lists waited.' };
    for (const minute of [0, 1, 2, 3])
      await store.recordCheck(NOW + minute * MINUTE, minute < 3 ? failed : {});
    const response = await exports.default.fetch('https://sluice.test/status.atom');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/atom+xml']);
    const text = await response.text();
    expect(text).toMatch(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n<feed /);
    expect(text).toContain('<title>&lt;rpc&gt;: over</title>');
    expect(text).toContain('Payments &amp; lists waited. From 2026-11-20T13:10:00.000Z');
    expect(text).toContain('<updated>2026-11-20T13:13:00.000Z</updated>');
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
