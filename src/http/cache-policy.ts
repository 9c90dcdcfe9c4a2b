/**
 * How old a cached value may be, and whether it is shared with other isolates through KV.
 * @module
 */

export type CachePolicy = {
  /** Milliseconds for which a value is served without contacting the upstream. */
  readonly freshMs: number;
  /** Milliseconds after `freshMs` in which the value is still served at once while a refresh runs. */
  readonly revalidateMs: number;
  /** Maximum age of a value that is served, marked stale, while the upstream fails or does not respond in time. */
  readonly staleMs: number;
  /** True if the service's own operations change the value. It is then read again after each change of an operation. */
  readonly changedByOperations?: boolean;
  /** Unix ms. A value read before this time is read again, regardless of its age. */
  readonly notBefore?: number;
  /**
   * How KV is used; if absent, the value is kept in memory only. Requests read from KV. Only the cron writes, because
   * KV accepts one write a second for each key.
   */
  readonly kv?: 'read' | 'write';
};

/** Maximum delay of a value in KV: a copy in a location can be a minute old, and the cron writes every minute. */
const KV_AND_CRON_MS = 120_000;
/** Maximum duration of one cron run. */
const RUN_MS = 30_000;

/**
 * A value that the cron reads for all isolates. If the cron has not read it, an isolate reads the source itself, at
 * first in the background.
 * @param everyMs age in milliseconds at which the cron reads the value again; 0 for every run
 */
export const prewarmed = (staleMs: number, everyMs = 0): CachePolicy => ({
  freshMs: everyMs + KV_AND_CRON_MS + RUN_MS,
  revalidateMs: 45_000,
  staleMs,
  kv: 'read',
});

/** The policy of the cron: values older than `notBefore` are read again and written to KV. */
export const owned = (policy: CachePolicy, notBefore = Number.POSITIVE_INFINITY): CachePolicy => ({
  ...policy,
  notBefore,
  kv: 'write',
});

/** The policy of a read, or of the cron if `refresh` is true. */
export const refreshing = (policy: CachePolicy, refresh: boolean): CachePolicy =>
  refresh ? owned(policy) : policy;
