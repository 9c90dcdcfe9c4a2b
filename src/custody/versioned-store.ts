/**
 * Version of the custodian's own storage.
 * @module
 */
import type { Log, Storage } from './kernel/ports.ts';

/**
 * Raise it if an older release could misread the new layout, or miss a row that limits spending. A new table or index
 * that older releases may ignore needs no new version, because each module creates its own at every start.
 */
export const STORAGE_VERSION = 1;

export type OpenedStorage = {
  readonly storage: Storage;
  /** The reason why this release must neither sign nor write; undefined if it can use the storage. */
  readonly refusal: string | undefined;
};

/**
 * Marks new storage with this release's version. Storage of any other version is opened read-only. Its rows may limit
 * spending in a way that this release does not know, so signing could pay twice.
 */
export function openStorage(storage: Storage, log: Log): OpenedStorage {
  const version = versionOf(storage.exec);
  if (version === undefined) {
    storage.transaction(() => {
      storage.exec('CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)');
      storage.exec("INSERT INTO meta (key, value) VALUES ('storage_version', ?)", String(STORAGE_VERSION));
    });
  } else if (version !== String(STORAGE_VERSION)) {
    const refusal = `The custodian's storage has version ${version}, but this release supports version ${STORAGE_VERSION}. Deploy the newer release again.`;
    log({ level: 'alarm', event: 'storage_newer', version, known: STORAGE_VERSION });
    return { storage: readOnly(storage, refusal), refusal };
  }
  return { storage, refusal: undefined };
}

function versionOf(exec: Storage['exec']): string | undefined {
  if (exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'").length === 0)
    return undefined;
  const value = exec("SELECT value FROM meta WHERE key = 'storage_version'")[0]?.value;
  return value === undefined ? undefined : String(value);
}

/** The storage with every write refused. The timer still works, so that the newer release can continue. */
function readOnly(storage: Storage, refusal: string): Storage {
  return {
    ...storage,
    exec(query, ...params) {
      if (/^\s*SELECT\b/i.test(query)) return storage.exec(query, ...params);
      // The newer release has already created the tables.
      if (/^\s*CREATE (TABLE|(UNIQUE )?INDEX) IF NOT EXISTS\b/i.test(query)) return [];
      throw new Error(refusal);
    },
  };
}
