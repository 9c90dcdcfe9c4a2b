/**
 * When failed work is tried again. The table `retries` stores the failures, because the platform evicts an idle object
 * within seconds. Counters in memory would never reach the number of failures that raises an alarm.
 * @module
 */
import { isTimeOver } from '../../core/due-time.ts';
import type { Log, Storage } from './ports.ts';

/** The first and the longest wait, in milliseconds. */
export type Backoff = { readonly first: number; readonly most: number };

/** Milliseconds until the next try after this number of failures: the wait doubles with each one. */
export const backoff = (failures: number, { first, most }: Backoff): number =>
  Math.min(first * 2 ** Math.min(Math.max(failures - 1, 0), 30), most);

const WAITS: Backoff = { first: 2_000, most: 6 * 60_000 };
/** Consecutive failures of the same work after which the operator is alerted. */
const ALARM_FAILURES = 3;

/** The level of the log line of a failure: `alarm` once, at `ALARM_FAILURES` in a row, else `warn`. */
export const levelOf = (failures: number): 'alarm' | 'warn' =>
  failures === ALARM_FAILURES ? 'alarm' : 'warn';

const SCHEMA = `CREATE TABLE IF NOT EXISTS retries (
  name TEXT NOT NULL,
  id TEXT NOT NULL,
  failures INTEGER NOT NULL,
  until_at INTEGER NOT NULL,
  PRIMARY KEY (name, id)
)`;

export class Retries {
  readonly #exec: Storage['exec'];
  readonly #now: () => number;
  readonly #log: Log;

  constructor({ exec }: Pick<Storage, 'exec'>, now: () => number, log: Log) {
    exec(SCHEMA);
    this.#exec = exec;
    this.#now = now;
    this.#log = log;
  }

  #row(name: string, id: string) {
    return this.#exec('SELECT failures, until_at FROM retries WHERE name = ? AND id = ?', name, id)[0];
  }

  /** Unix milliseconds before which the work is not tried; undefined when it may run now. */
  waitsUntil(name: string, id: string): number | undefined {
    const row = this.#row(name, id);
    const until = Number(row?.until_at ?? 0);
    return row === undefined || isTimeOver(until, WAITS.most, this.#now()) ? undefined : until;
  }

  /** Number of tasks of this name that failed when they were last tried. */
  count(name: string): number {
    return Number(this.#exec('SELECT COUNT(*) AS n FROM retries WHERE name = ?', name)[0]?.n ?? 0);
  }

  succeeded(name: string, id: string): void {
    this.#exec('DELETE FROM retries WHERE name = ? AND id = ?', name, id);
  }

  /**
   * Records and logs a failure. @param facts of the log line
   * @returns Unix milliseconds of the next try
   */
  failed(name: string, id: string, facts: Readonly<Record<string, unknown>>): number {
    const failures = Number(this.#row(name, id)?.failures ?? 0) + 1;
    const until = Math.ceil(this.#now() + backoff(failures, WAITS));
    this.#exec(
      `INSERT INTO retries (name, id, failures, until_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (name, id) DO UPDATE SET failures = excluded.failures, until_at = excluded.until_at`,
      name,
      id,
      failures,
      until,
    );
    this.#log({ level: levelOf(failures), event: 'work_failed', work: name, id, ...facts });
    return until;
  }

  /** Processes stored rows one by one. A row that throws waits and does not block the others. */
  rows<T>(p: {
    readonly name: string;
    /** The oldest rows that await processing, at most `limit`. */
    readonly read: (limit: number) => readonly T[];
    readonly idOf: (row: T) => string;
  }): RowRetries<T> {
    const { name, read, idOf } = p;
    const due = (row: T): number => this.waitsUntil(name, idOf(row)) ?? 0;
    return {
      run: (limit, book) => {
        const rows = read(limit + this.count(name)).filter((row) => due(row) === 0);
        for (const row of rows.slice(0, limit)) {
          try {
            book(row);
            this.succeeded(name, idOf(row));
          } catch (error) {
            this.failed(name, idOf(row), { error: String(error).slice(0, 200) });
          }
        }
      },
      nextAt: () => {
        const waits = read(1 + this.count(name)).map(due);
        return waits.length === 0 ? undefined : Math.max(Math.min(...waits), this.#now());
      },
    };
  }
}

export type RowRetries<T> = {
  /** Processes each row that is due, at most `limit`. */
  run(limit: number, book: (row: T) => void): void;
  /** When the next row is due, in Unix milliseconds; undefined when none waits. */
  nextAt(): number | undefined;
};
