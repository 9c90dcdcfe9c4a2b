/**
 * Reads that the cron repeats each minute, so that isolates are served from KV and do not contact an
 * upstream.
 * @module
 */
import type { CachePolicy } from './cached.ts';

/**
 * One minute plus the time of a cron tick; after that an isolate reads the source itself, at first in the
 * background.
 */
export const prewarmed = (staleMs: number): CachePolicy => ({
  freshMs: 75_000,
  revalidateMs: 45_000,
  staleMs,
});

/** True: read again. A time in Unix ms: read again if the value is from before it. */
export type Refresh = boolean | number;

/**
 * The same policy with a refresh. The last good value is still served, marked stale, while the source fails.
 */
export const refreshing = (policy: CachePolicy, refresh: Refresh): CachePolicy =>
  typeof refresh === 'number'
    ? { ...policy, notBefore: refresh }
    : refresh
      ? { ...policy, freshMs: 0, revalidateMs: 0 }
      : policy;
