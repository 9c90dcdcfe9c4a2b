/**
 * One database with a handle for each instance of the custodian; a handle fails once its instance was
 * replaced.
 */
import { DatabaseSync } from 'node:sqlite';
import type { SqlRow, Storage } from '../../../src/custody/kernel/ports.ts';

export type Handle = Storage & { dead: boolean };

export function createDisk() {
  const db = new DatabaseSync(':memory:');
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  let depth = 0;

  const disk = {
    /** The alarm that is set, in Unix milliseconds. */
    alarm: null as number | null,
    handle(): Handle {
      function alive(): void {
        if (self.dead) throw new Error('this instance was replaced');
      }
      const self: Handle = {
        dead: false,
        exec(query, ...params) {
          alive();
          const statement = prepared.get(query) ?? db.prepare(query);
          prepared.set(query, statement);
          return statement.all(...params) as SqlRow[];
        },
        transaction(work) {
          alive();
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
        sync: async () => alive(),
        async setAlarm(at) {
          alive();
          disk.alarm = at;
        },
      };
      return self;
    },
  };
  return disk;
}
