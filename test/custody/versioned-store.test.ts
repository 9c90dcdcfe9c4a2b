import { expect, it } from 'vitest';
import { openStorage, STORAGE_VERSION } from '../../src/custody/versioned-store.ts';
import { createCustodianWorld } from '../kit/custodian.ts';
import { eachScene } from '../kit/scenes.ts';
import { createSqliteStorage } from '../kit/sqlite-storage.ts';
import { playCustody } from './custody-scenes.ts';

it('marks new storage once, with the version of this release', () => {
  const storage = createSqliteStorage();
  for (let starts = 0; starts < 2; starts++)
    expect(openStorage(storage, () => undefined).refusal).toBeUndefined();
  expect(storage.exec("SELECT value FROM meta WHERE key = 'storage_version'")).toEqual([
    { value: String(STORAGE_VERSION) },
  ]);
});

const NEWER = STORAGE_VERSION + 1;
/** An operation of a newer release, in the storage that this release now opens. */
const ROLLED_BACK = `swap a; sent; version ${NEWER}; journal; restart`;

eachScene(`
  the custodian neither signs nor sends nor writes over storage of a newer version
    | ${ROLLED_BACK}; land; wait 1m; fire; wake; swap b = SWAPS_PAUSED reason:storage_newer; journal = same; sent = no more; signatures = 1
  storage of a newer version is reported as frozen and raises an alarm, and operator commands are refused with the reason
    | ${ROLLED_BACK}; logged storage_newer = 1; frozen = storage_newer; signing = storage_newer; ops resume = refused; said version ${NEWER} = true
  an older release still returns a swap from storage of a newer version
    | ${ROLLED_BACK}; found signature-1 = waiting
  operations in newer storage continue once the stored timer fires in the newer release
    | ${ROLLED_BACK}; fire; next = soon; version ${STORAGE_VERSION}; land; restart; until a settling
  any stored version other than the version of this release is treated as newer
    | version 1.5; restart; frozen = storage_newer; version two; restart; frozen = storage_newer; version -1; restart; frozen = storage_newer;
      version 01; restart; frozen = storage_newer; version 0; restart; frozen = storage_newer; version ${STORAGE_VERSION}; restart; frozen = null
`)('%s', (_title, steps = '') => {
  const w = createCustodianWorld();
  // What the nodes last showed changes with each read.
  w.chain.memory = () => `${w.clock.now}`;
  let rows = '';
  return playCustody(steps, w, {
    version: (version: string) => w.journal.setMeta('storage_version', version),
    /** The journal against that at the first look. */
    journal() {
      const shown = JSON.stringify(w.storage.exec('SELECT * FROM operations'));
      rows ||= shown;
      return rows === shown ? 'same' : 'changed';
    },
  });
});
