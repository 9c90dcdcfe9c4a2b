/**
 * Computes due times of stored work that stay correct when the clock is set back. All times are Unix milliseconds.
 * @module
 */

/**
 * When stored work is due, in Unix milliseconds. A time further ahead than the longest wait was stored before the clock
 * was set back; that work is due now.
 *
 * @param at      the stored time
 * @param longest the longest wait that is ever stored, in milliseconds
 */
export const dueTime = (at: number, longest: number, now: number): number => (at > now + longest ? now : at);

/** Whether stored work is due; see {@link dueTime}. */
export const isTimeOver = (at: number, longest: number, now: number): boolean =>
  dueTime(at, longest, now) <= now;

/** The clocks of two machines of the service differ by less than this. */
const MAX_SKEW_MS = 5_000;

/**
 * Whether a time was stored while the clock was ahead. A value stored then is treated as absent: otherwise it would
 * stay new until the clock has caught up.
 */
export const isAhead = (at: number, now: number): boolean => at > now + MAX_SKEW_MS;
