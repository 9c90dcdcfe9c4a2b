/**
 * Lists from D1, kept in this isolate while their version is unchanged. A read sends the version of the kept
 * rows, and D1 returns rows only if its own version differs. An unchanged list therefore costs one call and
 * no rows, and is as current as a list that is read again.
 * @module
 */
import type { D1Reads } from './read-session.ts';

/** @param params as many as the statement's highest parameter number */
export type ListQuery = {
  readonly sql: string;
  /** Names of its columns, in their order. */
  readonly columns: readonly string[];
  readonly params: readonly (string | number)[];
};

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

type ListOptions = {
  readonly now?: () => number;
  /**
   * Preparing the queries costs more than a further call. The version of a kept list is then read alone first, and
   * the queries follow in a second call if it has changed.
   */
  readonly isCostly?: boolean;
};

/**
 * @param version SQL expression of text or an integer that differs after every change of the listed tables;
 *   empty text when it is unknown
 */
export function createListStore(
  db: D1Reads,
  version: string,
  { now = Date.now, isCostly = false }: ListOptions = {},
) {
  const kept = new Map<string, Kept>();
  const versionText = `CAST(${version} AS TEXT)`;

  /** The query's rows, or none if the version equals the parameter after the query's own. */
  const unlessKnown = ({ sql, params }: ListQuery): string =>
    // With a limit of 0 SQLite does not run the subquery; with -1 all of its rows keep their order.
    `SELECT * FROM (${sql}) LIMIT CASE WHEN ${versionText} = ?${params.length + 1} THEN 0 ELSE -1 END`;

  /** The same after a row with the version. A join would read each row twice. */
  const withVersion = (query: ListQuery): string =>
    `SELECT ${versionText} AS version, ${query.columns.map((name) => `NULL AS ${name}`).join(', ')}
     UNION ALL SELECT NULL, * FROM (${unlessKnown(query)})`;

  function keep(key: string, entry: Kept): void {
    kept.delete(key);
    kept.set(key, entry);
    const oldest = kept.keys().next().value;
    if (kept.size > MAX_LISTS && oldest !== undefined) kept.delete(oldest);
  }

  return {
    /**
     * The decoded results of the queries, read in one transaction. Rows of the first query have a member more.
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
      if (known && isCostly) {
        const { results } = await db.prepare(`SELECT ${versionText} AS version`).all<{ version: string }>();
        if (results[0]?.version === known.version) return known.value as T;
      }
      const statements = queries.map((query, index) =>
        db
          .prepare(index === 0 ? withVersion(query) : unlessKnown(query))
          .bind(...query.params, known?.version ?? NO_VERSION),
      );
      const [first, ...others] = statements;
      // A statement costs less than a batch of one.
      const results =
        first && others.length === 0
          ? [await first.all<Row & { readonly version: string | null }>()]
          : await db.batch<Row & { readonly version: string | null }>(statements);
      const [[versioned, ...listed] = [], ...rest] = results.map(({ results }) => results);
      const current = versioned?.version ?? UNVERSIONED;
      if (known && known.version === current) return known.value as T;
      const value = decode([listed, ...rest]);
      if (current !== UNVERSIONED) keep(key, { version: current, until: now() + MAX_AGE_MS, value });
      return value;
    },
  };
}
