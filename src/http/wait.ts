/**
 * Long polling: a read with `Prefer: wait=N` returns when its record's state changes or the time is over.
 * @module
 */
import type { Context } from 'hono';
import type { Cache } from './cached.ts';
import { grantWait, preferredWaitMs } from './prefer.ts';

/**
 * Maximum waiting requests of one isolate. A further one gets the current state at once, without
 * `Preference-Applied`.
 */
export const MAX_WAITING = 512;

export type Waiting = ReturnType<typeof createWaiting>;

type WaitOptions = {
  /** Caches each read for `pollMs`, so that all requests that wait for one record share it. */
  readonly memory: Pick<Cache, 'read'>;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly maximum?: number;
};

export type Poll<T> = {
  /** Key of the record, unique among all records that can be waited for. */
  readonly key: string;
  /** Interval between reads of the record, regardless of the number of waiting requests. */
  readonly pollMs: number;
  /** @throws AppError; only the first read of a request passes it on */
  readonly read: () => Promise<T>;
  /** The value that a change is measured by; null when the state is final. */
  readonly stateOf: (value: T) => string | null;
};

export function createWaiting({ memory, now, sleep, maximum = MAX_WAITING }: WaitOptions) {
  /**
   * One entry per waiting request. If the caller disconnects, the runtime destroys the request without
   * running its `finally`; the deadline then releases the entry.
   */
  const waiting = new Set<{ readonly until: number }>();

  function enter(until: number): { readonly until: number } | undefined {
    if (waiting.size >= maximum) {
      const time = now();
      for (const entry of waiting) if (entry.until <= time) waiting.delete(entry);
      if (waiting.size >= maximum) return undefined;
    }
    const entry = { until };
    waiting.add(entry);
    return entry;
  }

  /** @returns the newest value, and whether the wait was granted */
  async function nextChange<T>(
    { key, pollMs, read, stateOf }: Poll<T>,
    waitMs: number,
  ): Promise<{ readonly value: T; readonly applied: boolean }> {
    const until = now() + waitMs;
    const policy = { freshMs: pollMs, revalidateMs: 0, staleMs: 0 };
    const shared = async (): Promise<T> => (await memory.read(`wait:${key}`, policy, read)).value;
    const first = await shared();
    const state = stateOf(first);
    if (state === null) return { value: first, applied: true };
    const entry = enter(until);
    if (!entry) return { value: first, applied: false };
    try {
      let value = first;
      while (stateOf(value) === state && now() < until) {
        await sleep(Math.min(pollMs, until - now()));
        // A failed read does not count as a change: the caller keeps waiting and gets the last known state at
        // the end.
        value = await shared().catch(() => value);
      }
      return { value, applied: true };
    } finally {
      waiting.delete(entry);
    }
  }

  return {
    nextChange,

    /**
     * The record, at once without a wait preference. Sets `Preference-Applied` if the wait was granted.
     * @throws what `read` throws
     */
    async read<T>(c: Context, poll: Poll<T>): Promise<T> {
      const waitMs = preferredWaitMs(c.req.header('prefer'), 0);
      if (waitMs === 0) return poll.read();
      const { value, applied } = await nextChange(poll, waitMs);
      if (applied) grantWait(c, waitMs);
      return value;
    },
  };
}
