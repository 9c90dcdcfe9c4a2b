/**
 * Reads tables whose column `row` contains the row as JSON. Their other columns exist for conditions and order.
 * @module
 */
import type { SqlValue, Storage } from './kernel/ports.ts';

export class RowStore<T> {
  readonly #exec: Storage['exec'];
  readonly #table: string;
  readonly #decode: (text: string) => T;

  constructor(exec: Storage['exec'], table: string, decode: (text: string) => T) {
    this.#exec = exec;
    this.#table = table;
    this.#decode = decode;
  }

  /** @param clauses what follows `FROM table`: joins, condition, order and limit */
  all(clauses: string, ...params: SqlValue[]): T[] {
    const table = this.#table;
    return this.#exec(`SELECT ${table}.row FROM ${table} ${clauses}`, ...params).map(({ row }) =>
      this.#decode(String(row)),
    );
  }

  first(clauses: string, ...params: SqlValue[]): T | undefined {
    return this.all(clauses, ...params)[0];
  }
}

/** The number in the column `n` of a query's only row; undefined if it is null. */
export function numberOf(exec: Storage['exec'], query: string, ...params: SqlValue[]): number | undefined {
  const value = exec(query, ...params)[0]?.n;
  return value === null || value === undefined ? undefined : Number(value);
}
