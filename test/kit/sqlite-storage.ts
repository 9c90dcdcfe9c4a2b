import { DatabaseSync } from 'node:sqlite';
import type { Storage } from '../../src/custody/kernel/ports.ts';
import { openSql } from './sql.ts';

export type SqliteStorage = Storage & {
  /** The alarm that is set, in Unix milliseconds. */
  alarm: number | null;
  /** Number of times that a caller waited for the disk. */
  syncs: number;
  /** From now on every use throws, as in an instance that was replaced. */
  replaced: boolean;
  /** The same rows and alarm for the next instance. This one is replaced. */
  successor(): SqliteStorage;
};

/** One object's durable state, which outlives its instances. */
type Disk = { readonly db: DatabaseSync; alarm: number | null };

/** The Storage port over SQLite in memory; every write is durable at once. */
export function createSqliteStorage(
  disk: Disk = { db: new DatabaseSync(':memory:'), alarm: null },
): SqliteStorage {
  const sql = openSql(disk.db);
  function check(): void {
    if (self.replaced) throw new Error('this instance was replaced');
  }
  const self: SqliteStorage = {
    get alarm() {
      return disk.alarm;
    },
    set alarm(at) {
      disk.alarm = at;
    },
    syncs: 0,
    replaced: false,
    exec(query, ...params) {
      check();
      return sql.all(query, params);
    },
    transaction(work) {
      check();
      return sql.transaction(work);
    },
    async sync() {
      check();
      self.syncs++;
    },
    async setAlarm(at) {
      check();
      disk.alarm = at;
    },
    successor() {
      self.replaced = true;
      return createSqliteStorage(disk);
    },
  };
  return self;
}
