import { describe, expect, it } from 'vitest';
import { openStorage, STORAGE_VERSION } from '../../src/custody/versioned-store.ts';
import { createCustodianWorld, keyed } from '../kit/custodian.ts';
import { land } from '../kit/fake-chain.ts';
import { createSqliteStorage } from '../kit/sqlite-storage.ts';

it('marks a new storage with the version of this release, once', () => {
  const storage = createSqliteStorage();
  for (let starts = 0; starts < 2; starts++)
    expect(openStorage(storage, () => undefined).refusal).toBeUndefined();
  expect(storage.exec("SELECT value FROM meta WHERE key = 'storage_version'")).toEqual([
    { value: String(STORAGE_VERSION) },
  ]);
});

describe('storage of a newer version', () => {
  async function rolledBack() {
    const w = createCustodianWorld();
    await w.custody.createSwap(keyed('a'));
    w.journal.setMeta('storage_version', String(STORAGE_VERSION + 1));
    w.chain.sent.length = 0;
    return w;
  }

  it('the custodian neither signs nor sends nor writes over storage of a newer version', async () => {
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

  it('storage of a newer version is reported as frozen and raises an alarm, and operator commands are refused with the reason', async () => {
    const w = await rolledBack();
    const custody = w.start();
    expect(w.logged).toContain('storage_newer');
    expect(await custody.report()).toMatchObject({ frozen: 'storage_newer' });
    expect(await custody.signingState()).toMatchObject({ frozen: 'storage_newer' });
    const answer = await custody.ops({ name: 'resume' });
    expect(answer).toMatchObject({ ok: false });
    expect(answer.message).toContain(`version ${STORAGE_VERSION + 1}`);
  });

  it('an older release still returns a swap from storage of a newer version', async () => {
    const w = await rolledBack();
    expect(await w.start().findSwap('signature-1')).toMatchObject({ signature: 'signature-1' });
  });

  it('operations in newer storage continue when the stored timer fires in the newer release', async () => {
    const w = await rolledBack();
    await w.start().alarm();
    expect(w.storage.alarm).not.toBeNull();
    w.journal.setMeta('storage_version', String(STORAGE_VERSION));
    land(w.chain);
    w.clock.now = w.storage.alarm ?? 0;
    await w.start().alarm();
    expect(w.journal.get('swap:key-a')?.state).toBe('settling');
  });

  it.each(['1.5', 'two', '-1', '01', '0'])(
    'any stored version other than that of this release is treated as newer: %s',
    async (version) => {
      const w = await rolledBack();
      w.journal.setMeta('storage_version', version);
      expect(await w.start().report()).toMatchObject({ frozen: 'storage_newer' });
    },
  );
});
