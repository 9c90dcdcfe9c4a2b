/**
 * The agenda: one table with all waiting work and its due times. An entry is written in the storage transaction of the
 * row that waits, so work is never forgotten. Failures are stored too, because the platform evicts an idle object
 * within seconds. A counter in memory would never reach the number of failures that alerts the operator.
 * @module
 */

import { DAY_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import { keepNewest } from '../../core/keep-newest.ts';
import type { FailingWork } from '../operator-api.ts';
import type { Log, SqlRow, Storage } from './ports.ts';

/** The first and the maximum wait, in milliseconds. */
export type Backoff = { readonly first: number; readonly most: number };

/** Milliseconds until the next try after this many failures. The wait doubles with each failure. */
export const backoff = (failures: number, { first, most }: Backoff): number =>
  Math.min(first * 2 ** Math.min(Math.max(failures - 1, 0), 30), most);

const WAITS: Backoff = { first: 2_000, most: 6 * 60_000 };
/** The operator is alerted after this many consecutive failures of the same work. */
export const ALARM_FAILURES = 3;
const MOST_REASONS = 100;

/** A short reason for the operator's report, and further facts for the log. */
type FailureFacts = { readonly reason: string } & Readonly<Record<string, unknown>>;

/** What is logged for a thrown error: its reason and the first 200 characters. */
export const failureFacts = (error: unknown): FailureFacts => ({
  reason: failureReason(error),
  error: String(error).slice(0, 200),
});

/** `alarm` for failure number `ALARM_FAILURES` in a row, `warn` for every other one. */
export const levelOf = (failures: number): 'alarm' | 'warn' =>
  failures === ALARM_FAILURES ? 'alarm' : 'warn';

/**
 * `due_at` is null while the cron or an operation, not the timer, continues the work. `set_at` is when `due_at` was
 * set. `looks` is the number of an operation's checks since its state changed.
 */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS agenda (
    name TEXT NOT NULL,
    id TEXT NOT NULL,
    due_at INTEGER,
    set_at INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    looks INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (name, id)
  )`,
  'CREATE INDEX IF NOT EXISTS agenda_due_by_name ON agenda (name, due_at) WHERE due_at IS NOT NULL',
  'CREATE INDEX IF NOT EXISTS agenda_failing ON agenda (tries) WHERE tries > 0',
  'CREATE INDEX IF NOT EXISTS agenda_set_by_name ON agenda (name, set_at) WHERE due_at IS NOT NULL',
] as const;

export const OPERATION = 'operation';

/** Agenda name of alerts that are sent at most once in an interval. The timer is never set for them. */
const AGAIN = 'again';

export function openAgenda({ exec }: Pick<Storage, 'exec'>): void {
  for (const statement of SCHEMA) exec(statement);
}

/** Sets when work is due and clears its failures; null deletes the entry. Call inside the transaction of its row. */
export function planWork(
  exec: Storage['exec'],
  {
    name,
    id,
    dueAt,
    looks = 0,
  }: { readonly name: string; readonly id: string; readonly dueAt: number | null; readonly looks?: number },
  now: number,
): void {
  if (dueAt === null) {
    exec('DELETE FROM agenda WHERE name = ? AND id = ?', name, id);
    return;
  }
  exec(
    `INSERT INTO agenda (name, id, due_at, set_at, looks) VALUES (?, ?, ?, ?, ?) ON CONFLICT (name, id)
     DO UPDATE SET due_at = excluded.due_at, set_at = excluded.set_at, looks = excluded.looks, tries = 0`,
    name,
    id,
    Math.ceil(dueAt),
    Math.floor(now),
    looks,
  );
}

export class Agenda {
  readonly #exec: Storage['exec'];
  readonly #now: () => number;
  readonly #log: Log;
  readonly #reasons = new Map<string, string>();

  constructor(storage: Pick<Storage, 'exec'>, now: () => number, log: Log) {
    openAgenda(storage);
    this.#exec = storage.exec;
    this.#now = now;
    this.#log = log;
  }

  plan(name: string, id: string, dueAt: number | null, looks = 0): void {
    planWork(this.#exec, { name, id, dueAt, looks }, this.#now());
  }

  /** Removes the due time and keeps the counts, because other work must end first. */
  suspend(name: string, id: string): void {
    this.#exec('UPDATE agenda SET due_at = NULL WHERE name = ? AND id = ?', name, id);
  }

  /**
   * Ids of due work, the longest overdue first. An entry whose `set_at` is in the future is also due, because the clock
   * was set back. Each half of the query reads its own index and at most `limit` rows.
   */
  due(name: string, limit: number): string[] {
    const due = (condition: string, order: string): string[] =>
      this.#exec(
        `SELECT id FROM agenda WHERE name = ? AND due_at IS NOT NULL AND ${condition} ORDER BY ${order}, rowid LIMIT ?`,
        name,
        Math.floor(this.#now()),
        limit,
      ).map(({ id }) => String(id));
    return [...new Set([...due('due_at <= ?', 'due_at'), ...due('set_at > ?', 'set_at')])].slice(0, limit);
  }

  /** Unix milliseconds at which planned work is due; undefined when it is not planned. */
  dueAt(name: string, id: string): number | undefined {
    const row = this.#row(name, id);
    if (row?.due_at === null || row?.due_at === undefined) return undefined;
    return Number(row.set_at) > this.#now() ? this.#now() : Number(row.due_at);
  }

  count(name: string): number {
    const query = 'SELECT COUNT(*) AS n FROM agenda WHERE name = ? AND due_at IS NOT NULL';
    return Number(this.#exec(query, name)[0]?.n ?? 0);
  }

  ids(name: string): string[] {
    return this.#exec('SELECT id FROM agenda WHERE name = ?', name).map(({ id }) => String(id));
  }

  isFailing(name: string, id: string): boolean {
    return Number(this.#row(name, id)?.tries ?? 0) > 0;
  }

  isDue(name: string, id: string): boolean {
    const at = this.dueAt(name, id);
    return at !== undefined && at <= this.#now();
  }

  /**
   * True at most once in `everyMs` for each `what`. The time is stored, so an eviction does not repeat the work.
   * Entries that were due more than a day ago are deleted. Work without an entry is due.
   */
  isDueAgain(what: string, everyMs: number): boolean {
    if ((this.dueAt(AGAIN, what) ?? 0) > this.#now()) return false;
    this.#exec('DELETE FROM agenda WHERE name = ? AND due_at < ?', AGAIN, Math.floor(this.#now()) - DAY_MS);
    this.plan(AGAIN, what, this.#now() + everyMs);
    return true;
  }

  /** The names for which {@link isDueAgain} was last true within `ms` milliseconds of now, before or after. */
  happenedWithin(ms: number): string[] {
    const now = this.#now();
    return this.#exec(
      'SELECT id FROM agenda WHERE name = ? AND due_at IS NOT NULL AND set_at BETWEEN ? AND ? ORDER BY id',
      AGAIN,
      now - ms,
      now + ms,
    ).map(({ id }) => String(id));
  }

  /** Unix milliseconds when the next work of these names is due, for the timer. Undefined if none is planned. */
  next(names: readonly string[]): number | undefined {
    const ofName = 'FROM agenda WHERE name = names.value AND due_at IS NOT NULL';
    const [row] = this.#exec(
      `SELECT MIN((SELECT MIN(due_at) ${ofName})) AS first, MAX((SELECT MAX(set_at) ${ofName})) AS set_at
       FROM json_each(?) AS names`,
      JSON.stringify(names),
    );
    if (row?.first === null || row?.first === undefined) return undefined;
    return Number(row.set_at) > this.#now() ? this.#now() : Number(row.first);
  }

  /**
   * Plans the next check of work that is not possible yet. A postponement is not a failure. The wait grows with each
   * check.
   * @returns how often the work was postponed since it was last planned
   */
  postpone(name: string, id: string, waits: Backoff): number {
    const tries = Number(this.#row(name, id)?.tries ?? 0);
    const looks = this.looks(name, id) + 1;
    this.plan(name, id, this.#now() + backoff(looks, waits), looks);
    this.#exec('UPDATE agenda SET tries = ? WHERE name = ? AND id = ?', tries, name, id);
    return looks;
  }

  /** How often work has been postponed since it was last planned. */
  looks(name: string, id: string): number {
    return Number(this.#row(name, id)?.looks ?? 0);
  }

  /** Counts and logs a failure. Plans the next try, unless the cron repeats the work. Returns consecutive failures. */
  failed(name: string, id: string, facts: FailureFacts, isCron = false): number {
    const tries = Number(this.#row(name, id)?.tries ?? 0) + 1;
    this.#exec(
      `INSERT INTO agenda (name, id, due_at, set_at, tries) VALUES (?, ?, ?, ?, ?) ON CONFLICT (name, id)
       DO UPDATE SET due_at = excluded.due_at, set_at = excluded.set_at, tries = excluded.tries`,
      name,
      id,
      isCron ? null : Math.ceil(this.#now() + backoff(tries, WAITS)),
      Math.floor(this.#now()),
      tries,
    );
    keepNewest(this.#reasons, `${name} ${id}`, facts.reason, MOST_REASONS);
    this.#log({ level: levelOf(tries), event: 'work_failed', work: name, id, ...facts });
    return tries;
  }

  /**
   * Work that keeps failing: one entry of each name in turn, so that many entries of one name do not hide other names.
   */
  failing(limit: number): FailingWork[] {
    return this.#exec(
      `SELECT name, id, tries, row_number() OVER (PARTITION BY name ORDER BY tries DESC, id) AS turn
       FROM agenda WHERE tries >= ? ORDER BY turn, tries DESC, name LIMIT ?`,
      ALARM_FAILURES,
      limit,
    ).map(({ name, id, tries }) => ({
      work: String(name),
      id: String(id),
      failures: Number(tries),
      reason: this.#reasons.get(`${name} ${id}`) ?? null,
    }));
  }

  #row(name: string, id: string): SqlRow | undefined {
    return this.#exec(
      'SELECT due_at, set_at, tries, looks FROM agenda WHERE name = ? AND id = ?',
      name,
      id,
    )[0];
  }
}
