/**
 * Reads of slow or scarce upstreams: served from memory, then KV, refreshed in the background, with one load
 * at a time. Freshness depends on the time inside the value, never on where it was found. A failed load is
 * never stored.
 * @module
 */
import { stringifyJson } from '../core/json.ts';

export type CachePolicy = {
  /** Milliseconds for which a value is served without contacting the upstream. */
  readonly freshMs: number;
  /** Milliseconds after that for which it is still served at once while a refresh runs. */
  readonly revalidateMs: number;
  /** Maximum age of a value that is served, marked stale, while the upstream fails. */
  readonly staleMs: number;
  /** Unix ms. A value read before this time is read again, regardless of its age. */
  readonly notBefore?: number;
};

/**
 * `asOf` in Unix milliseconds: when the value was read from its source. While a value is fresh, all readers
 * receive the same object.
 */
export type Cached<T> = { readonly value: T; readonly asOf: number; readonly stale: boolean };

type Entry = Cached<unknown>;

type CacheOptions = {
  /** Values must survive JSON: atoms are decimal text. */
  readonly kv: Pick<KVNamespace, 'get' | 'put'> | undefined;
  readonly now: () => number;
  /** Keeps a background promise alive after the response was sent. */
  readonly defer: (work: Promise<unknown>) => void;
};

/** After a failed load the upstream is not contacted for this time. */
const FAILURE_PAUSE_MS = 2_000;
/** KV rejects a shorter lifetime. */
const KV_MINIMUM_SECONDS = 60;
/** Maximum entries in one isolate's memory; the oldest is evicted first. */
const MAX_ENTRIES = 500;

export type Cache = ReturnType<typeof createCache>;

export function createCache({ kv, now, defer }: CacheOptions) {
  const memory = new Map<string, Entry>();
  const loading = new Map<string, Promise<Entry>>();
  const failures = new Map<string, { readonly error: unknown; readonly until: number }>();

  function remember(key: string, entry: Entry): void {
    memory.delete(key);
    memory.set(key, entry);
    const oldest = memory.keys().next().value;
    if (memory.size > MAX_ENTRIES && oldest !== undefined) memory.delete(oldest);
  }

  async function readKv(key: string): Promise<Entry | undefined> {
    const entry = await kv?.get<Pick<Entry, 'value' | 'asOf'>>(key, 'json').catch(() => null);
    return entry && typeof entry.asOf === 'number' ? { ...entry, stale: false } : undefined;
  }

  async function load(key: string, policy: CachePolicy, read: () => Promise<unknown>): Promise<Entry> {
    const failure = failures.get(key);
    if (failure && failure.until > now()) throw failure.error;
    try {
      const stored = { value: await read(), asOf: now() };
      const entry = { ...stored, stale: false };
      failures.delete(key);
      remember(key, entry);
      const expirationTtl = Math.max(Math.ceil((policy.freshMs + policy.staleMs) / 1000), KV_MINIMUM_SECONDS);
      if (kv) defer(kv.put(key, stringifyJson(stored), { expirationTtl }).catch(() => undefined));
      return entry;
    } catch (error) {
      failures.set(key, { error, until: now() + FAILURE_PAUSE_MS });
      if (failures.size > MAX_ENTRIES) failures.clear();
      throw error;
    }
  }

  /** Joins a running load of this key. */
  function loadOnce(key: string, policy: CachePolicy, read: () => Promise<unknown>): Promise<Entry> {
    const running = loading.get(key);
    if (running) return running;
    const started = load(key, policy, read).finally(() => loading.delete(key));
    loading.set(key, started);
    defer(started.catch(() => undefined));
    return started;
  }

  return {
    /**
     * The value of a key, not older than the policy allows.
     * @throws what `read` threw, when no recent enough value exists
     */
    async read<T>(key: string, policy: CachePolicy, read: () => Promise<T>): Promise<Cached<T>> {
      const { notBefore = 0 } = policy;
      const age = (entry: Entry | undefined) =>
        entry && entry.asOf >= notBefore ? now() - entry.asOf : Number.POSITIVE_INFINITY;
      let known = memory.get(key);
      if (age(known) >= policy.freshMs) {
        const shared = await readKv(key);
        if (shared && shared.asOf > (known?.asOf ?? -1)) remember(key, shared);
        known = memory.get(key);
      }
      if (known && age(known) < policy.freshMs + policy.revalidateMs) {
        if (age(known) >= policy.freshMs) loadOnce(key, policy, read).catch(() => undefined);
        return known as Cached<T>;
      }
      try {
        return (await loadOnce(key, policy, read)) as Cached<T>;
      } catch (error) {
        if (known && now() - known.asOf < policy.staleMs)
          return { value: known.value as T, asOf: known.asOf, stale: true };
        throw error;
      }
    },
  };
}

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
