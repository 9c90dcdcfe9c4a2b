import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { SqlRow, Storage } from '../../src/custody/kernel/ports.ts';

export type SqliteStorage = Storage & {
  /** The alarm that is set, in Unix milliseconds. */
  alarm: number | null;
  /** How often a caller waited for the disk. */
  syncs: number;
  /** From now on every use throws, as in an instance that was replaced. */
  replaced: boolean;
};

/** The Storage port over SQLite in memory; every write is durable at once. */
export function createSqliteStorage(): SqliteStorage {
  const db = new DatabaseSync(':memory:');
  /** Like the platform, which prepares a statement text once. */
  const prepared = new Map<string, StatementSync>();
  let depth = 0;
  const self: SqliteStorage = {
    alarm: null,
    syncs: 0,
    replaced: false,
    exec(query, ...params) {
      if (self.replaced) throw new Error('this instance was replaced');
      const statement = prepared.get(query) ?? db.prepare(query);
      prepared.set(query, statement);
      return statement.all(...params) as SqlRow[];
    },
    transaction(work) {
      if (self.replaced) throw new Error('this instance was replaced');
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
      if (self.replaced) throw new Error('this instance was replaced');
      self.syncs++;
    },
    async setAlarm(at) {
      if (self.replaced) throw new Error('this instance was replaced');
      self.alarm = at;
    },
  };
  return self;
}
