/**
 * Lists from D1, kept in this isolate while their version is unchanged. A read sends the version of the kept
 * rows, and D1 returns rows only if its own version differs. An unchanged list therefore costs one call and
 * no rows, and is as current as a list that is read again.
 * @module
 */
import type { D1Reads } from './read-session.ts';

/** @param params as many as the statement's highest parameter number */
export type ListQuery = { readonly sql: string; readonly params: readonly (string | number)[] };

/**
 * The mark of the custodian's newest batch. D1 writes it in the same transaction as the batch's rows, and no
 * mark is used twice. Empty before the first batch.
 */
export const MIRROR_VERSION = `COALESCE((SELECT revision FROM mirror_marks WHERE name = 'journal'), '')`;

/** The version of rows that must be read again each time. */
const UNVERSIONED = '';
/** Equals no version. */
const NO_VERSION = 'none';
/** Maximum lists per set of tables and isolate; the oldest is evicted first. A list has at most 101 rows. */
const MAX_LISTS = 32;
/** Changes that an operator made by hand appear after this time. */
const MAX_AGE_MS = 60_000;

type Kept = { readonly version: string; readonly until: number; readonly value: unknown };

export type ListStore = ReturnType<typeof createListStore>;

/**
 * @param version SQL expression of text or an integer that differs after every change of the listed tables;
 *   empty text when it is unknown
 */
export function createListStore(db: D1Reads, version: string, now: () => number = Date.now) {
  const kept = new Map<string, Kept>();

  function keep(key: string, entry: Kept): void {
    kept.delete(key);
    kept.set(key, entry);
    const oldest = kept.keys().next().value;
    if (kept.size > MAX_LISTS && oldest !== undefined) kept.delete(oldest);
  }

  return {
    /**
     * The decoded results of the queries, read in one transaction.
     *
     * @param decode depends on the results and the queries only
     * @returns the same object as the last time if nothing has changed since
     */
    async read<Row, T>(
      queries: readonly ListQuery[],
      decode: (results: readonly (readonly Row[])[]) => T,
    ): Promise<T> {
      const key = queries.map(({ sql, params }) => sql + JSON.stringify(params)).join();
      const found = kept.get(key);
      const known = found && found.until > now() ? found : undefined;
      const [versions, ...results] = await db.batch<Row & { version: string }>([
        db.prepare(`SELECT CAST(${version} AS TEXT) AS version`),
        ...queries.map(({ sql, params }) =>
          db
            // With a limit of 0 SQLite does not run the subquery; with -1 all of its rows keep their order.
            .prepare(
              `SELECT * FROM (${sql}) LIMIT CASE WHEN CAST(${version} AS TEXT) = ?${params.length + 1} THEN 0 ELSE -1 END`,
            )
            .bind(...params, known?.version ?? NO_VERSION),
        ),
      ]);
      const current = versions?.results[0]?.version ?? UNVERSIONED;
      if (known && known.version === current) return known.value as T;
      const value = decode(results.map((result) => result.results));
      if (current !== UNVERSIONED) keep(key, { version: current, until: now() + MAX_AGE_MS, value });
      return value;
    },
  };
}
