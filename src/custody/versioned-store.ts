/**
 * Version of the custodian's own storage. Storage without a version number has version 1.
 * @module
 */
import type { Log, Storage } from './kernel/ports.ts';

/**
 * Raise it, with a step below, when an older release could misread the new layout, or miss a row that limits spending.
 * A new table or index that older releases may ignore needs no new version, because each module creates its own at
 * every start.
 */
export const STORAGE_VERSION = 2;

/** The step from each version to the next. A step may find its change already made, because version 1 had two layouts. */
const STEPS: Readonly<Record<number, (exec: Storage['exec']) => void>> = {
  1: (exec) => {
    const columns = exec("SELECT name FROM pragma_table_info('treasury_payments')");
    if (columns.some(({ name }) => name === 'walk')) exec('ALTER TABLE treasury_payments DROP COLUMN walk');
  },
};

export type OpenedStorage = {
  readonly storage: Storage;
  /** Undefined when this release can use the storage, else the reason why it must neither sign nor write. */
  readonly refusal: string | undefined;
};

/**
 * Upgrades a storage to this release's version in one transaction. Storage of a newer version is opened read-only. Its
 * rows may limit spending in a way that this release does not support, so signing could pay twice.
 */
export function openStorage(storage: Storage, log: Log): OpenedStorage {
  const version = versionOf(storage.exec);
  if (version > STORAGE_VERSION) {
    const refusal = `The custodian's storage has version ${version}, but this release supports at most ${STORAGE_VERSION}. Deploy the newer release again.`;
    log({ level: 'alarm', event: 'storage_newer', version, known: STORAGE_VERSION });
    return { storage: readOnly(storage, refusal), refusal };
  }
  if (version < STORAGE_VERSION) {
    storage.transaction(() => {
      const { exec } = storage;
      for (let from = version; from < STORAGE_VERSION; from++) STEPS[from]?.(exec);
      exec('CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)');
      exec(
        `INSERT INTO meta (key, value) VALUES ('storage_version', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
        String(STORAGE_VERSION),
      );
    });
  }
  return { storage, refusal: undefined };
}

function versionOf(exec: Storage['exec']): number {
  if (exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'").length === 0) return 1;
  const stored = exec("SELECT value FROM meta WHERE key = 'storage_version'")[0]?.value ?? '1';
  const version = Number(stored);
  // An unreadable number cannot belong to a release that this one supports.
  return Number.isInteger(version) && version > 0 ? version : Number.POSITIVE_INFINITY;
}

/**
 * @returns the storage with every write refused; alarms still work, so that the newer release can continue.
 */
function readOnly(storage: Storage, refusal: string): Storage {
  return {
    ...storage,
    exec(query, ...params) {
      if (/^\s*SELECT\b/i.test(query)) return storage.exec(query, ...params);
      // The newer release has already created its tables.
      if (/^\s*(CREATE (TABLE|(UNIQUE )?INDEX) IF NOT|DROP INDEX IF) EXISTS\b/i.test(query)) return [];
      throw new Error(refusal);
    },
  };
}
