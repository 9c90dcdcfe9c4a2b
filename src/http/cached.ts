/**
 * Values of slow or scarce upstreams: kept in this isolate's memory and, if the cron reads them, in KV for all isolates.
 * Freshness depends on the time inside the value, never on where it was found. A failed load is never stored.
 * @module
 */
import { AppError } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import { within } from './within.ts';

export type CachePolicy = {
  /** Milliseconds for which a value is served without contacting the upstream. */
  readonly freshMs: number;
  /** Milliseconds after `freshMs` for which the value is still served at once while a refresh runs. */
  readonly revalidateMs: number;
  /** Maximum age of a value that is served, marked stale, while the upstream fails. */
  readonly staleMs: number;
  /** Unix ms. A value read before this time is read again, regardless of its age. */
  readonly notBefore?: number;
  /**
   * Absent if the value is kept in memory only. Requests read from KV. Only the cron writes, because KV accepts one
   * write a second for each key.
   */
  readonly kv?: 'read' | 'write';
};

/** `asOf` in Unix milliseconds: when the value was read from its source. */
export type Cached<T> = { readonly value: T; readonly asOf: number; readonly stale: boolean };

/** A loaded value with the time when its source was read, which is earlier than the load. */
export class Dated<T> {
  readonly value: T;
  readonly asOf: number;

  constructor({ value, asOf }: Pick<Cached<T>, 'value' | 'asOf'>) {
    this.value = value;
    this.asOf = asOf;
  }
}

type Entry = Cached<unknown>;
/** A load that is running. @property began Unix ms */
type Load = { readonly entry: Promise<Entry>; readonly began: number };

type CacheOptions = {
  /** Absent if values are kept in memory only. Values in KV must survive JSON, so atoms are decimal text. */
  readonly kv?: Pick<KVNamespace, 'get' | 'put'> | undefined;
  /** Part of the keys in KV: a release does not read the values of another one, whose form may differ. */
  readonly release?: string;
  readonly now: () => number;
  /** Keeps a background promise alive after the response was sent. */
  readonly defer: (work: Promise<unknown>) => void;
};

/** After a failed load the upstream is not contacted for this time. */
const FAILURE_PAUSE_MS = 2_000;
/** Maximum entries in one isolate's memory; the oldest is evicted first. */
const MAX_ENTRIES = 500;
/**
 * A request joins the load of another one until the load is this old. The runtime never settles the promises of a
 * cancelled request, so a later request loads the value itself.
 */
const JOIN_MS = 10_000;

/** The caller has used up its own share, which says nothing about the upstream or other callers. */
const isOwnRefusal = (error: unknown): boolean => error instanceof AppError && error.code === 'RATE_LIMITED';

export class Cache {
  readonly #memory = new Map<string, Entry>();
  readonly #loads = new Map<string, Load>();
  readonly #failures = new Map<string, { readonly error: unknown; readonly until: number }>();
  readonly #options: CacheOptions;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /**
   * The value of a key, not older than the policy allows.
   * @throws what `load` threw, when no recent enough value exists
   */
  async read<T>(key: string, policy: CachePolicy, load: () => Promise<T | Dated<T>>): Promise<Cached<T>> {
    const { now } = this.#options;
    const { freshMs, revalidateMs, staleMs, notBefore = 0 } = policy;
    const ageOf = (entry: Entry | undefined): number =>
      entry && entry.asOf >= notBefore ? now() - entry.asOf : Number.POSITIVE_INFINITY;
    // KV caches a missing key for a minute, so a value that must be loaded again is not looked up in KV.
    const isInKv = policy.kv !== undefined && notBefore <= now();
    if (isInKv && ageOf(this.#memory.get(key)) >= freshMs) await this.#readKv(key);
    const known = this.#memory.get(key);
    if (known && ageOf(known) < freshMs + revalidateMs) {
      if (ageOf(known) >= freshMs) this.#load(key, policy, load).catch(() => undefined);
      return known as Cached<T>;
    }
    try {
      for (;;) {
        const running = this.#running(key);
        if (!running) return (await this.#load(key, policy, load)) as Cached<T>;
        const joined = await this.#join(running);
        if (joined) return joined as Cached<T>;
      }
    } catch (error) {
      if (known && now() - known.asOf < staleMs) return { ...known, stale: true } as Cached<T>;
      throw error;
    }
  }

  /**
   * The values of several keys from memory; those that are not fresh are loaded together. A key without a recent enough
   * value is absent.
   */
  async readMany<T>(
    keys: readonly string[],
    { freshMs, staleMs }: Pick<CachePolicy, 'freshMs' | 'staleMs'>,
    load: (missing: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ): Promise<ReadonlyMap<string, Cached<T>>> {
    const { now } = this.#options;
    const isYounger = (key: string, ms: number): boolean =>
      now() - (this.#memory.get(key)?.asOf ?? Number.NEGATIVE_INFINITY) < ms;
    const missing = keys.filter((key) => !isYounger(key, freshMs) && !this.#failureOf(key));
    if (missing.length > 0)
      try {
        const loaded = await load(missing);
        for (const [key, value] of loaded) this.#remember(key, { value, asOf: now(), stale: false });
      } catch (error) {
        for (const key of missing) this.#noteFailure(key, error);
      }
    return new Map(
      keys.flatMap((key) => {
        const known = this.#memory.get(key);
        if (!known || !isYounger(key, staleMs)) return [];
        return [[key, { ...known, stale: !isYounger(key, freshMs) } as Cached<T>] as const];
      }),
    );
  }

  /** A load of this key that may still be joined. */
  #running(key: string): Load | undefined {
    const load = this.#loads.get(key);
    return load && this.#options.now() < load.began + JOIN_MS ? load : undefined;
  }

  /** Undefined if the load takes too long, or was refused because of the share of its own caller. */
  #join({ entry, began }: Load): Promise<Entry | undefined> {
    const unlessOwn = (error: unknown): undefined => {
      if (!isOwnRefusal(error)) throw error;
    };
    return within(entry.catch(unlessOwn), began + JOIN_MS - this.#options.now());
  }

  /** Loads the value, unless a load of this key is running or has just failed. */
  #load(key: string, policy: CachePolicy, load: () => Promise<unknown>): Promise<Entry> {
    const { now, defer } = this.#options;
    const running = this.#running(key);
    if (running) return running.entry;
    const failure = this.#failureOf(key);
    if (failure) return Promise.reject(failure.error);
    const own: Load = { entry: this.#store(key, policy, load), began: now() };
    this.#loads.set(key, own);
    const ended = (): void => {
      if (this.#loads.get(key) === own) this.#loads.delete(key);
    };
    defer(own.entry.then(ended, ended));
    return own.entry;
  }

  async #store(key: string, policy: CachePolicy, load: () => Promise<unknown>): Promise<Entry> {
    const { kv, now, defer } = this.#options;
    try {
      const loaded = await load();
      const stored =
        loaded instanceof Dated ? { value: loaded.value, asOf: loaded.asOf } : { value: loaded, asOf: now() };
      this.#failures.delete(key);
      this.#remember(key, { ...stored, stale: false });
      if (kv && policy.kv === 'write') {
        const expirationTtl = Math.ceil((policy.freshMs + policy.staleMs) / 1_000);
        defer(kv.put(this.#kvKey(key), stringifyJson(stored), { expirationTtl }).catch(() => undefined));
      }
      return { ...stored, stale: false };
    } catch (error) {
      this.#noteFailure(key, error);
      throw error;
    }
  }

  /** The error of the last load, during the pause in which the upstream is not contacted. */
  #failureOf(key: string): { readonly error: unknown } | undefined {
    const failure = this.#failures.get(key);
    return failure && failure.until > this.#options.now() ? failure : undefined;
  }

  #noteFailure(key: string, error: unknown): void {
    if (isOwnRefusal(error)) return;
    this.#failures.set(key, { error, until: this.#options.now() + FAILURE_PAUSE_MS });
    if (this.#failures.size > MAX_ENTRIES) this.#failures.clear();
  }

  /** Takes the value in KV if it is newer than the one in memory. */
  async #readKv(key: string): Promise<void> {
    const { kv } = this.#options;
    const found = await kv?.get<Pick<Entry, 'value' | 'asOf'>>(this.#kvKey(key), 'json').catch(() => null);
    if (typeof found?.asOf !== 'number' || found.asOf <= (this.#memory.get(key)?.asOf ?? -1)) return;
    this.#remember(key, { value: found.value, asOf: found.asOf, stale: false });
  }

  #kvKey(key: string): string {
    return `cache:${this.#options.release ?? ''}:${key}`;
  }

  #remember(key: string, entry: Entry): void {
    this.#memory.delete(key);
    this.#memory.set(key, entry);
    const oldest = this.#memory.keys().next().value;
    if (this.#memory.size > MAX_ENTRIES && oldest !== undefined) this.#memory.delete(oldest);
  }
}

/** A copy in KV may be a minute old in a location, and the cron writes each minute. */
const KV_AND_CRON_MS = 120_000;
/** Time that one cron run may take. */
const RUN_MS = 30_000;

/**
 * A value that the cron reads for all isolates. If the cron did not read it, an isolate reads the source itself, at
 * first in the background.
 * @param everyMs age in milliseconds at which the cron reads the value again; 0 for each run
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

/** True: the cron reads the value again. A Unix time in ms: a value that was read before this time is read again. */
export type Refresh = boolean | number;

/**
 * The same policy with a refresh. The last good value is still served, marked stale, while the source fails.
 */
export const refreshing = (policy: CachePolicy, refresh: Refresh): CachePolicy =>
  refresh === true ? owned(policy) : refresh === false ? policy : { ...policy, notBefore: refresh };
