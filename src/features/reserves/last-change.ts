/**
 * Current figures for a page that has just seen an operation end. `Cache-Control: no-cache` in a request refreshes only
 * values that were read before the last change of an operation. A repeated request thus causes no upstream call.
 * @module
 */
import type { Cache, Refresh } from '../../http/cached.ts';

export type LastChangeDeps = {
  /** This isolate's memory only. */
  readonly memory: Cache;
  /** Unix ms. */
  readonly now: () => number;
  readonly absr: {
    /** Unix ms of the last change of an operation; 0 without one. */
    lastChange(): Promise<number>;
  };
};

/** Requests cause at most one query and one refresh per isolate in this time. */
const PAUSE_MS = 1_000;
const POLICY = { freshMs: PAUSE_MS, revalidateMs: 0, staleMs: 0 };
/**
 * A read may have started this long before its recorded time, while the operation was still changing the chain.
 */
const READ_MS = 2_000;
/** The `Cache-Control` that `fetch` sends with `cache: 'no-cache'`, or that a caller sets itself. */
const NO_CACHE = /\b(no-cache|max-age=0)\b/i;

/**
 * Which values must be read again for a request: none, unless the caller wants current figures.
 * @param cacheControl header of the request
 */
export async function refreshFor(
  { memory, absr, now }: LastChangeDeps,
  cacheControl: string | undefined,
): Promise<Refresh> {
  if (!NO_CACHE.test(cacheControl ?? '')) return false;
  // Without the database the usual freshness applies.
  const changed = await memory
    .read('reserves:last-change', POLICY, () => absr.lastChange())
    .catch(() => ({ value: 0 }));
  return Math.min(changed.value + READ_MS, now() - PAUSE_MS);
}
