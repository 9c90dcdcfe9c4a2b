/**
 * Computes due times of stored work, which stay correct when the clock goes back. All times are Unix milliseconds.
 * @module
 */

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

/**
 * When the next of the stored rows is due, in Unix milliseconds; undefined without rows. The latest time is needed too:
 * if it is too far ahead, its row is due now.
 * @param times `first` and `last`: the earliest and the latest stored time, null without rows
 */
export function firstDue(
  times: Readonly<Record<string, string | number | null>> | undefined,
  longest: number,
  now: number,
): number | undefined {
  if (times?.first === null || times?.first === undefined) return undefined;
  return Math.min(dueTime(Number(times.first), longest, now), dueTime(Number(times.last), longest, now));
}
