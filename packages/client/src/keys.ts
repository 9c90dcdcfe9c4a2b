/**
 * Idempotency keys whose outcome has not reached the caller. A repeat of the same call sends the same key, so that
 * money moves at most once.
 * @module
 */

/** Keys by call. A `Map` is one; a wrapper of `sessionStorage` survives a reload. */
export type KeyStore = {
  get(call: string): string | undefined;
  set(call: string, key: string): unknown;
  delete(call: string): unknown;
};

/** A flood of calls without an outcome must not fill the memory. */
const MAX_KEYS = 1_000;

export function memoryKeys(): KeyStore {
  const unresolved = new Map<string, string>();
  return {
    get: (call) => unresolved.get(call),
    delete: (call) => unresolved.delete(call),
    set(call, key) {
      // Inserted again, so that the oldest call is always the first.
      unresolved.delete(call);
      unresolved.set(call, key);
      for (const oldest of unresolved.keys()) {
        if (unresolved.size <= MAX_KEYS) break;
        unresolved.delete(oldest);
      }
    },
  };
}

export const newKey = (): string => `sluice-${crypto.randomUUID()}`;

/** The key to send with this call: the given one, the unresolved one, or a new one. @throws what the store throws */
export function takeKey(keys: KeyStore, call: string, given: string | undefined): string {
  const unresolved = keys.get(call);
  const key = given ?? unresolved ?? newKey();
  if (given === undefined || unresolved === undefined) keys.set(call, key);
  return key;
}

/** Forgets a key once its outcome is known. */
export function releaseKey(keys: KeyStore, call: string, key: string): void {
  try {
    if (keys.get(call) === key) keys.delete(call);
  } catch {
    // A key that stays in the store returns this outcome again, which the caller has.
  }
}
