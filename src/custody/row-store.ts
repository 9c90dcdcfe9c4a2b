/**
 * Tables whose column `row` contains the row as JSON. The other columns are only for conditions and sorting.
 * @module
 */
import { stringifyJson } from '../core/json.ts';
import type { Columns, SqlValue, Storage } from './kernel/ports.ts';
import type { Debt } from './operator-api.ts';

export class RowStore<T> {
  readonly #exec: Storage['exec'];
  readonly #table: string;
  readonly #decode: (text: string) => T;

  constructor(exec: Storage['exec'], table: string, decode: (text: string) => T) {
    this.#exec = exec;
    this.#table = table;
    this.#decode = decode;
  }

  /** @param clauses the SQL after `FROM table`: joins, condition, order and limit */
  all(clauses: string, ...params: SqlValue[]): T[] {
    const table = this.#table;
    return this.#exec(`SELECT ${table}.row FROM ${table} ${clauses}`, ...params).map(({ row }) =>
      this.#decode(String(row)),
    );
  }

  first(clauses: string, ...params: SqlValue[]): T | undefined {
    return this.all(clauses, ...params)[0];
  }

  /** Rows whose key follows `key`, sorted by key. @param column name of the key column, which holds text */
  after(column: string, key: string, limit: number): T[] {
    return this.all(`WHERE ${column} > ? ORDER BY ${column} LIMIT ?`, key, limit);
  }

  /** Inserts a row, or replaces the one with its key. */
  put(key: Columns, others: Columns, row: T): void {
    const columns = { ...key, ...others, row: stringifyJson(row) };
    const names = Object.keys(columns);
    const changes = names.filter((name) => !(name in key)).map((name) => `${name} = excluded.${name}`);
    this.#exec(
      `INSERT INTO ${this.#table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
       ON CONFLICT (${Object.keys(key).join(', ')}) DO UPDATE SET ${changes.join(', ')}`,
      ...Object.values(columns),
    );
  }
}

/** The number in the column `n` of a query's only row; undefined if it is null. */
export function numberOf(exec: Storage['exec'], query: string, ...params: SqlValue[]): number | undefined {
  const value = exec(query, ...params)[0]?.n;
  return value === null || value === undefined ? undefined : Number(value);
}

const DEBT_EXAMPLES = 5;
/** A sum of atoms can exceed 64 bits, so the database sums billions and remainders separately. */
const BILLION = 1_000_000_000;

/**
 * Counts and sums debts in the database, because strangers can cause any number of small debts.
 * @param owed a query that selects `id`, `reason`, `atoms`, `since` (Unix milliseconds, or null if unknown), `awaits`
 * (1 if only a command pays it) and `place`, which orders the examples
 */
export function debtOf(exec: Storage['exec'], name: Debt['name'], owed: string, ...params: SqlValue[]): Debt {
  const [sum] = exec(
    `SELECT COUNT(*) AS count, SUM(awaits) AS waiting, MIN(since) AS oldest,
       SUM(atoms / ${BILLION}) AS billions, SUM(atoms % ${BILLION}) AS rest FROM (${owed})`,
    ...params,
  );
  const examples = exec(
    `SELECT id, reason FROM (${owed}) WHERE awaits ORDER BY place LIMIT ${DEBT_EXAMPLES}`,
    ...params,
  );
  return {
    name,
    count: Number(sum?.count),
    atoms: BigInt(sum?.billions ?? 0) * BigInt(BILLION) + BigInt(sum?.rest ?? 0),
    oldestMs: sum?.oldest == null ? null : Number(sum.oldest),
    awaitOperator: Number(sum?.waiting ?? 0),
    examples: examples.map(({ id, reason }) => ({ id: String(id), reason: String(reason) })),
  };
}
