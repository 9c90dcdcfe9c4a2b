import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AsryStore } from '../../../src/custody/asry/asry-store.ts';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import { decodeOperation } from '../../../src/custody/kernel/operation.ts';
import type { SqlRow, Storage } from '../../../src/custody/kernel/ports.ts';
import { Retries } from '../../../src/custody/kernel/retries.ts';
import { RequestStore } from '../../../src/custody/payments/request-store.ts';
import { TreasuryStore } from '../../../src/custody/payments/treasury-store.ts';
import { Tokens } from '../../../src/custody/tokens/token-store.ts';
import { openStorage, STORAGE_VERSION } from '../../../src/custody/versioned-store.ts';
import { createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { land } from '../../kit/fake-chain.ts';
import { createKernel } from '../../kit/kernel.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

/** A storage as a release left it in the middle of a simulated day: its layout, and rows in every table. */
type Snapshot = {
  readonly version: number;
  readonly statements: readonly string[];
  readonly tables: readonly { readonly table: string; readonly rows: readonly SqlRow[] }[];
};

const SNAPSHOTS = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.json'))
  .map((name): Snapshot => JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')));

function storageOf({ statements, tables }: Snapshot) {
  const storage = createSqliteStorage();
  for (const statement of statements) storage.exec(statement);
  for (const { table, rows } of tables)
    for (const row of rows) {
      const columns = Object.keys(row);
      const places = columns.map(() => '?').join(', ');
      const values = columns.map((column) => row[column] ?? null);
      storage.exec(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`, ...values);
    }
  return storage;
}

/** Every table and index that the modules create. */
function openModules(storage: Storage): void {
  const journal = new Journal(storage);
  new RequestStore(storage);
  new TreasuryStore(storage);
  new Tokens({ journal, storage, now: Date.now });
  new AsryStore(storage);
  new Retries(storage, Date.now, () => undefined);
}

const upgrade = (storage: Storage): void => openModules(openStorage(storage, () => undefined).storage);

const layoutOf = ({ exec }: Storage): string[] =>
  exec('SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name').map(
    ({ type, name, sql }) => `${type} ${name}: ${String(sql).replaceAll(/\s+/g, ' ')}`,
  );

const versionOf = ({ exec }: Storage) =>
  exec("SELECT value FROM meta WHERE key = 'storage_version'")[0]?.value;

const contentsOf = (storage: Storage, { tables }: Snapshot) =>
  tables.map(({ table }) => ({
    table,
    rows: storage
      .exec(`SELECT * FROM ${table}`)
      .filter(({ key }) => table !== 'meta' || key !== 'storage_version'),
  }));

it('marks an empty storage with the current version', () => {
  const storage = createSqliteStorage();
  upgrade(storage);
  expect(versionOf(storage)).toBe(String(STORAGE_VERSION));
});

it('a snapshot of the storage exists for every earlier version', () => {
  const versions = SNAPSHOTS.map(({ version }) => version).sort();
  expect(versions).toEqual(Array.from({ length: STORAGE_VERSION - 1 }, (_none, at) => at + 1));
});

describe.each(SNAPSHOTS.map((snapshot) => [snapshot.version, snapshot] as const))(
  'a storage of version %i',
  (_version, snapshot) => {
    it('the snapshot of an earlier version has rows in every table and open operations of several kinds', () => {
      expect(snapshot.tables.filter(({ rows }) => rows.length === 0)).toEqual([]);
      const operations = snapshot.tables.find(({ table }) => table === 'operations')?.rows ?? [];
      const open = operations.filter(({ due_at }) => due_at !== null);
      expect(new Set(open.map(({ kind }) => kind)).size).toBeGreaterThan(1);
    });

    it('a storage of an earlier version gets the layout of a new storage and keeps every row', () => {
      const storage = storageOf(snapshot);
      const before = contentsOf(storage, snapshot);
      upgrade(storage);
      const fresh = createSqliteStorage();
      upgrade(fresh);
      expect(layoutOf(storage)).toEqual(layoutOf(fresh));
      expect(contentsOf(storage, snapshot)).toEqual(before);
      expect(versionOf(storage)).toBe(String(STORAGE_VERSION));
    });

    it('upgrades storage of an earlier version once', () => {
      const storage = storageOf(snapshot);
      upgrade(storage);
      const before = contentsOf(storage, snapshot);
      upgrade(storage);
      expect(contentsOf(storage, snapshot)).toEqual(before);
    });

    it('after an upgrade, open operations keep their signed bytes and send no others', async () => {
      const storage = storageOf(snapshot);
      const wires = storage
        .exec("SELECT row FROM operations WHERE json_extract(row, '$.state') = 'signed'")
        .map(({ row }) => decodeOperation(String(row)).signing?.wire);
      upgrade(storage);
      const w = createKernel({}, {}, storage);
      w.clock.now = Number(storage.exec('SELECT MAX(due_at) AS at FROM operations')[0]?.at);
      await w.executor.driveDue(100);
      expect(w.chain.reads.views).toBe(wires.length);
      expect(w.chain.sent.toSorted()).toEqual(wires.toSorted());
      expect(w.order).not.toContain('sign');
    });
  },
);

it('an upgrade from the earlier layout of version 1 drops its old column and keeps its rows', () => {
  const storage = createSqliteStorage();
  upgrade(storage);
  new TreasuryStore(storage).record(
    { signature: 'one', slot: 5n, blockTime: null, lamports: 7n, payer: null },
    null,
  );
  storage.exec('ALTER TABLE treasury_payments ADD COLUMN walk INTEGER NOT NULL DEFAULT 3');
  storage.exec("DELETE FROM meta WHERE key = 'storage_version'");
  upgrade(storage);
  expect(storage.exec("SELECT name FROM pragma_table_info('treasury_payments')")).not.toContainEqual({
    name: 'walk',
  });
  expect(storage.exec('SELECT slot, lamports FROM treasury_payments')).toEqual([{ slot: 5, lamports: '7' }]);
});

describe('a storage of a newer version', () => {
  async function rolledBack() {
    const w = createCustodianWorld();
    await w.custody.createSwap(keyed('a'));
    w.journal.setMeta('storage_version', String(STORAGE_VERSION + 1));
    w.chain.sent.length = 0;
    return w;
  }

  it('storage of a newer version causes no signature and no send, and is not changed', async () => {
    const w = await rolledBack();
    const rows = () => w.storage.exec('SELECT * FROM operations');
    const before = rows();
    const custody = w.start();
    land(w.chain);
    w.clock.now += 60_000;
    await custody.alarm();
    await custody.wake();
    const answer = await custody.createSwap(keyed('b'));
    expect(answer).toMatchObject({
      type: 'refused',
      refusal: { code: 'SWAPS_PAUSED', details: { reason: 'storage_newer' } },
    });
    expect(rows()).toEqual(before);
    expect(w.chain.sent).toEqual([]);
    expect(w.signatures()).toBe(1);
  });

  it('a storage of a newer version is reported as frozen, with an alarm, and refuses operator commands with the reason', async () => {
    const w = await rolledBack();
    const custody = w.start();
    expect(w.logged).toContain('storage_newer');
    expect(await custody.report()).toMatchObject({ frozen: 'storage_newer' });
    expect(await custody.signingState()).toMatchObject({ frozen: 'storage_newer' });
    const answer = await custody.ops({ name: 'reconcile' });
    expect(answer).toMatchObject({ ok: false });
    expect(answer.message).toContain(`version ${STORAGE_VERSION + 1}`);
  });

  it('an older release still returns a swap from storage of a newer version', async () => {
    const w = await rolledBack();
    expect(await w.start().findSwap('signature-1')).toMatchObject({ signature: 'signature-1' });
  });

  it('operations in newer storage continue at the stored alarm once the newer release runs again', async () => {
    const w = await rolledBack();
    await w.start().alarm();
    expect(w.storage.alarm).not.toBeNull();
    w.journal.setMeta('storage_version', String(STORAGE_VERSION));
    land(w.chain);
    w.clock.now = w.storage.alarm ?? 0;
    await w.start().alarm();
    expect(w.journal.get('swap:key-a')?.state).toBe('settling');
  });

  it.each(['3.5', 'two', '-1'])(
    'a stored version that is not a positive integer is treated as newer: %s',
    async (version) => {
      const w = await rolledBack();
      w.journal.setMeta('storage_version', version);
      expect(await w.start().report()).toMatchObject({ frozen: 'storage_newer' });
    },
  );
});
