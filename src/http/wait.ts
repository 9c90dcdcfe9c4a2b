/**
 * Long polling by the `wait` preference of RFC 7240: a read with `Prefer: wait=N` returns when its record's state
 * changes or the time has passed.
 * @see https://www.rfc-editor.org/rfc/rfc7240#section-4.3
 * @module
 */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { CacheReader } from './cached.ts';

/** Maximum wait that a call can request, in seconds. Proxies and clients commonly time out after 60. */
export const MAX_PREFERRED_WAIT_SECONDS = 55;

/** Request headers of a read that can wait. */
export const preferHeaders = z.object({
  prefer: z
    .string()
    .optional()
    .openapi({
      description: `RFC 7240: \`wait=N\` returns when the state changes, after N seconds (at most ${MAX_PREFERRED_WAIT_SECONDS}), or at once if the state is final. \`Preference-Applied\` repeats a wait that was granted`,
      example: 'wait=20',
    }),
});

const WAIT = /^wait\s*=\s*(?:"(\d{1,9})"|(\d{1,9}))\s*(?:;|$)/i;

/**
 * Milliseconds that the caller wants to wait. The first `wait` is used; a malformed one is ignored, because a
 * preference is never an error.
 * @param header the `Prefer` header, lists joined by commas
 */
export function preferredWaitMs(header: string | undefined): number | undefined {
  for (const preference of splitList(header ?? '')) {
    const found = WAIT.exec(preference);
    if (found) return Math.min(Number(found[1] ?? found[2]), MAX_PREFERRED_WAIT_SECONDS) * 1_000;
  }
  return undefined;
}

/**
 * The members of a comma-separated list; a comma inside a quoted string does not separate members. An unterminated
 * string extends to the end, so each character is read only once.
 */
const splitList = (text: string): string[] =>
  (text.match(/(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^,"])+/gs) ?? []).map((member) => member.trim());

/**
 * Maximum waiting requests of one isolate. A further request gets the current state at once, without
 * `Preference-Applied`.
 */
export const MAX_WAITING = 512;

/** Interval between reads of a record, regardless of the number of requests for it. */
const POLL_MS = 1_000;
const POLICY = { freshMs: POLL_MS, revalidateMs: 0, staleMs: 0 };
/** The interval for a record that may soon be final. */
const NEAR_POLL_MS = 200;

export type Waiting = ReturnType<typeof createWaiting>;

type WaitOptions = {
  /** Caches each read for the interval, so that all requests for one record share it. */
  readonly memory: CacheReader;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly maximum?: number;
};

export type Poll<T> = {
  /** Key of the record, unique among all records that can be waited for. */
  readonly key: string;
  /** @throws AppError; but only for the first read of a request */
  readonly read: () => Promise<T>;
  /** The value whose change ends the wait; null when the state is final. */
  readonly stateOf: (value: T) => string | null;
  /** True while the record may soon be final: a shared read is then used for at most 200 ms. Absent: always false. */
  readonly isNear?: (value: T) => boolean;
};

type Entry = { readonly until: number };

/** Adds an entry to a set of at most `maximum`; ended entries are removed first. */
function enter(waiting: Set<Entry>, maximum: number, until: number, now: number): Entry | undefined {
  if (waiting.size >= maximum) {
    for (const entry of waiting) if (entry.until <= now) waiting.delete(entry);
    if (waiting.size >= maximum) return undefined;
  }
  const entry = { until };
  waiting.add(entry);
  return entry;
}

export function createWaiting({ memory, now, sleep, maximum = MAX_WAITING }: WaitOptions) {
  /**
   * One entry per waiting request. If the caller disconnects, the runtime destroys the request without
   * running its `finally`; the deadline then releases the entry.
   */
  const waiting = new Set<Entry>();

  async function shared<T>({ key, read, isNear }: Poll<T>): Promise<T> {
    const { value } = await memory.read(`wait:${key}`, POLICY, read);
    if (!isNear?.(value)) return value;
    return (await memory.read(`wait:${key}`, { ...POLICY, freshMs: NEAR_POLL_MS }, read)).value;
  }

  /** @returns the newest value, and whether the wait was granted */
  async function nextChange<T>(
    poll: Poll<T>,
    waitMs: number,
  ): Promise<{ readonly value: T; readonly applied: boolean }> {
    const { stateOf } = poll;
    const until = now() + waitMs;
    const first = await shared(poll);
    const state = stateOf(first);
    if (state === null) return { value: first, applied: true };
    const entry = enter(waiting, maximum, until, now());
    if (!entry) return { value: first, applied: false };
    try {
      let value = first;
      while (stateOf(value) === state && now() < until) {
        await sleep(Math.min(poll.isNear?.(value) ? NEAR_POLL_MS : POLL_MS, until - now()));
        // A failed read is not treated as a change: the caller keeps waiting and gets the last known state at
        // the end.
        value = await shared(poll).catch(() => value);
      }
      return { value, applied: true };
    } finally {
      waiting.delete(entry);
    }
  }

  return {
    nextChange,

    /**
     * Returns the record, at most a second old, or 200 ms if it may soon be final. Without a wait preference, returns
     * at once. Sets `Preference-Applied` if the wait was granted.
     * @throws what `read` throws
     */
    async read<T>(c: Context, poll: Poll<T>): Promise<T> {
      const waitMs = preferredWaitMs(c.req.header('prefer')) ?? 0;
      if (waitMs === 0) return shared(poll);
      const { value, applied } = await nextChange(poll, waitMs);
      if (applied) c.header('Preference-Applied', `wait=${waitMs / 1_000}`);
      return value;
    },
  };
}
