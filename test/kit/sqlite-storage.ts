import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { SqlRow, Storage } from '../../src/custody/kernel/ports.ts';

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
  const { db } = disk;
  /** Each statement text is prepared once, as on the platform. */
  const prepared = new Map<string, StatementSync>();
  let depth = 0;
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
      const statement = prepared.get(query) ?? db.prepare(query);
      prepared.set(query, statement);
      return statement.all(...params) as SqlRow[];
    },
    transaction(work) {
      check();
      const name = `s${depth++}`;
      db.exec(`SAVEPOINT ${name}`);
      try {
        const result = work();
        db.exec(`RELEASE ${name}`);
        return result;
      } catch (error) {
        db.exec(`ROLLBACK TO ${name}`);
        db.exec(`RELEASE ${name}`);
        throw error;
      } finally {
        depth--;
      }
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
