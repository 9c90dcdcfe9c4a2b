/**
 * Reads that the cron does anew each minute, so that every isolate lives on what is in KV and asks no upstream itself.
 * @module
 */
import type { CachePolicy } from './cached.ts';

/** A minute and the time that a cron tick may take; then an isolate helps itself, in the background at first. */
export const prewarmed = (staleMs: number): CachePolicy => ({
  freshMs: 75_000,
  revalidateMs: 45_000,
  staleMs,
});

/** True: read anew. A time in Unix ms: read anew what was read before it. */
export type Refresh = boolean | number;

/** The same policy with a refresh. The last good value is still served, marked stale, while the source fails. */
export const refreshing = (policy: CachePolicy, refresh: Refresh): CachePolicy =>
  typeof refresh === 'number'
    ? { ...policy, notBefore: refresh }
    : refresh
      ? { ...policy, freshMs: 0, revalidateMs: 0 }
      : policy;
