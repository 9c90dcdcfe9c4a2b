/** SQLite in memory, as every model of storage uses it. */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { SqlRow, SqlValue } from '../../src/custody/kernel/ports.ts';

export function openSql(db = new DatabaseSync(':memory:')) {
  const statements = new Map<string, StatementSync>();
  let depth = 0;

  /** Each statement text is prepared once, as on the platform. */
  function prepared(query: string): StatementSync {
    const statement = statements.get(query) ?? db.prepare(query);
    statements.set(query, statement);
    return statement;
  }

  return {
    prepared,
    all: (query: string, params: readonly SqlValue[] = []): SqlRow[] =>
      prepared(query).all(...params) as SqlRow[],

    /** All or nothing; one inside another one fails alone. */
    transaction<T>(work: () => T): T {
      const name = `nested${depth++}`;
      prepared(`SAVEPOINT ${name}`).run();
      try {
        const result = work();
        prepared(`RELEASE ${name}`).run();
        return result;
      } catch (error) {
        prepared(`ROLLBACK TO ${name}`).run();
        prepared(`RELEASE ${name}`).run();
        throw error;
      } finally {
        depth--;
      }
    },
  };
}
