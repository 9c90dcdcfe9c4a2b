/**
 * Due times that stay right when the clock goes back, and the booking of single rows. A row whose booking
 * throws waits and is reported, so that it does not block other rows.
 * @module
 */
import type { Log, SqlRow } from './ports.ts';

const FIRST_MS = 2_000;
/** Longest wait between two retries of the same work. */
export const RAREST_RETRY_MS = 6 * 60_000;
/** Failures of one row or operation after which the operator is alerted. */
export const ALARM_FAILURES = 3;

/** Milliseconds until the next retry after this number of failures. */
export const retryAfter = (failures: number): number =>
  Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 30), RAREST_RETRY_MS);

/**
 * When stored work is due, in Unix milliseconds. A time further ahead than the longest wait was set before the
 * clock went back; that work is due now.
 *
 * @param at      the stored time
 * @param longest the longest wait that is ever stored, in milliseconds
 */
export const dueTime = (at: number, longest: number, now: number): number => (at > now + longest ? now : at);

/** Whether stored work is due; see {@link dueTime}. */
export const isTimeOver = (at: number, longest: number, now: number): boolean =>
  dueTime(at, longest, now) <= now;

/** The earliest of the times that are known. */
export function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** When the first of stored rows is due. @param times `first` and `last` stored time; null without rows */
export function firstDue(times: SqlRow | undefined, longest: number, now: number): number | undefined {
  if (times?.first === null || times?.first === undefined) return undefined;
  return Math.min(dueTime(Number(times.first), longest, now), dueTime(Number(times.last), longest, now));
}

/** @param p.read the oldest rows that await the booking, at most `limit` */
export function createRowRetries<T>(p: {
  readonly name: string;
  readonly read: (limit: number) => readonly T[];
  readonly idOf: (row: T) => string;
  readonly now: () => number;
  readonly log: Log;
}) {
  const { now, idOf } = p;
  const failing = new Map<string, { readonly failures: number; readonly until: number }>();

  /** Unix milliseconds before which a row is not retried; 0 when it may be booked now. */
  function waitsUntil(row: T): number {
    const until = failing.get(idOf(row))?.until ?? 0;
    return isTimeOver(until, RAREST_RETRY_MS, now()) ? 0 : until;
  }

  return {
    /** Books each row that is due, at most `limit`. */
    run(limit: number, book: (row: T) => void): void {
      const rows = p.read(limit + failing.size).filter((row) => waitsUntil(row) === 0);
      for (const row of rows.slice(0, limit)) {
        const id = idOf(row);
        try {
          book(row);
          failing.delete(id);
        } catch (error) {
          const failures = (failing.get(id)?.failures ?? 0) + 1;
          failing.set(id, { failures, until: now() + retryAfter(failures) });
          const level = failures === ALARM_FAILURES ? 'alarm' : 'warn';
          p.log({
            level,
            event: 'booking_failed',
            booking: p.name,
            row: id,
            error: String(error).slice(0, 200),
          });
        }
      }
    },

    /** When a row is next to be booked, Unix milliseconds; undefined when none waits. */
    nextAt(): number | undefined {
      const waits = p.read(1 + failing.size).map(waitsUntil);
      return waits.length === 0 ? undefined : Math.max(Math.min(...waits), now());
    },
  };
}
