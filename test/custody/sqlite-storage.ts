import { DatabaseSync } from 'node:sqlite';
import type { SqlRow, Storage } from '../../src/custody/ports.ts';

/** The Storage port over SQLite in memory; every write is durable at once. */
export function createSqliteStorage(): Storage & { alarm: number | null } {
  const db = new DatabaseSync(':memory:');
  let depth = 0;
  return {
    alarm: null,
    exec: (query, ...params) => db.prepare(query).all(...params) as SqlRow[],
    transaction(work) {
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
    sync: async () => undefined,
    async setAlarm(at) {
      this.alarm = at;
    },
  };
}
