/**
 * Idempotency keys made here whose outcome has not reached the caller. A model that lost the answer and repeats the call
 * without a key gets the same key again, so the repeat moves nothing. Held in memory only: one store per stdio process,
 * or per isolate of the Worker, where it is best effort.
 * @module
 */

export type KeyMemory = {
  /** The unresolved key of this call, or a new one. */
  take(call: string): string;
  /** Forgets a key once its outcome is known. */
  release(call: string, key: string): void;
};

/** A flood of calls without an outcome must not fill the memory of an isolate. */
const MAX_KEYS = 1_000;

export function createKeyMemory(): KeyMemory {
  const unresolved = new Map<string, string>();
  return {
    take(call) {
      const key = unresolved.get(call) ?? newKey();
      // Inserted again, so that the oldest call is always the first.
      unresolved.delete(call);
      unresolved.set(call, key);
      for (const oldest of unresolved.keys()) {
        if (unresolved.size <= MAX_KEYS) break;
        unresolved.delete(oldest);
      }
      return key;
    },
    release(call, key) {
      if (unresolved.get(call) === key) unresolved.delete(call);
    },
  };
}

export const newKey = (): string => `mcp-${crypto.randomUUID()}`;
