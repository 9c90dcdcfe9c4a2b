/**
 * Reads that the cron does anew each minute, so that every isolate lives on what is in KV and asks no upstream itself.
 * @module
 */
import type { CachePolicy } from './cached.ts';

/** A minute and the time that a cron tick may take; then an isolate helps itself, in the background at first. */
export const warm = (staleMs: number): CachePolicy => ({ freshMs: 75_000, revalidateMs: 45_000, staleMs });

/** The same with whatever is known read anew; the last good value still stands in while the source fails. */
export const refreshing = (policy: CachePolicy, refresh: boolean): CachePolicy =>
  refresh ? { ...policy, freshMs: 0, revalidateMs: 0 } : policy;
