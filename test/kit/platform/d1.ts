/**
 * D1 with the limits of a statement: 100 parameters and 100 KB.
 * @see https://developers.cloudflare.com/d1/platform/limits/
 * @module
 */
import { subrequest } from './invocation.ts';

const MAX_PARAMETERS = 100;
const MAX_STATEMENT_BYTES = 100_000;

/** @param index of the result in its batch */
type Note = (result: D1Result, index: number) => void;

const originals = new WeakMap<object, D1PreparedStatement>();

/** `first()` returns no `meta`, so it calls `all()` here. */
function limitedStatement(statement: D1PreparedStatement, note: Note): D1PreparedStatement {
  const all = async <T>(): Promise<D1Result<T>> => {
    const result = await subrequest(() => statement.all<T>());
    note(result, 0);
    return result;
  };
  const limited = {
    bind(...values: unknown[]) {
      if (values.length > MAX_PARAMETERS) throw new Error('D1_ERROR: too many SQL variables: SQLITE_ERROR');
      return limitedStatement(statement.bind(...values), note);
    },
    all,
    run: all,
    async first(column?: string) {
      const [row] = (await all<Record<string, unknown>>()).results;
      return row === undefined ? null : column === undefined ? row : row[column];
    },
  } as Partial<D1PreparedStatement> as D1PreparedStatement;
  originals.set(limited, statement);
  return limited;
}

const queries = (
  db: Pick<D1Database, 'prepare' | 'batch'>,
  note: Note,
): Pick<D1Database, 'prepare' | 'batch'> => ({
  prepare(query) {
    if (new TextEncoder().encode(query).length > MAX_STATEMENT_BYTES)
      throw new Error('D1_ERROR: statement too long: SQLITE_TOOBIG');
    return limitedStatement(db.prepare(query), note);
  },
  async batch<T>(statements: D1PreparedStatement[]) {
    const results = await subrequest(() => db.batch<T>(statements.map((one) => originals.get(one) ?? one)));
    for (const [index, result] of results.entries()) note(result, index);
    return results;
  },
});

/** @param note gets each result, with the rows that D1 bills */
export function limitedD1(db: D1Database, note: Note = () => undefined): D1Database {
  return {
    ...queries(db, note),
    withSession(constraint?: string) {
      const session = db.withSession(constraint);
      return { ...queries(session, note), getBookmark: () => session.getBookmark() };
    },
  } as Partial<D1Database> as D1Database;
}
