/**
 * Caches values of slow or scarce upstreams in this isolate's memory and, if the cron reads them, in KV for all
 * isolates. Freshness depends on the time stored with the value, never on where it was found. A value is valid if it
 * was read after the last change of an operation and is not too old. A failed load does not store a value.
 * @module
 */
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { isAhead } from '../core/due-time.ts';
import { AppError, failureReason } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import { keepNewest } from '../core/keep-newest.ts';
import { CacheMemory } from './cache-memory.ts';
import type { CachePolicy } from './cache-policy.ts';
import { withoutBookmark } from './read-session.ts';
import { within } from './within.ts';

/**
 * `asOf` in Unix milliseconds: when the value was read from its source. `stale`: a later read has failed, or has not
 * responded in time.
 */
export type Cached<T> = { readonly value: T; readonly asOf: number; readonly stale: boolean };

/** The JSON of a response, with its ETag. `of` exists only in the type: it is the value that the JSON encodes. */
export type Body<T> = { readonly text: string; readonly etag: string; readonly of?: T };

const isCached = (part: unknown): part is Cached<unknown> =>
  typeof part === 'object' && part !== null && 'asOf' in part && 'stale' in part;

type Made = { readonly parts: readonly unknown[]; readonly body: Body<unknown> };

/** A value that another read has loaded, with its time, and whether a read after it has failed. */
export class Dated<T> {
  readonly read: Cached<T>;

  constructor(read: Cached<T>) {
    this.read = read;
  }
}

/**
 * Thrown by a load if the source reports that the value does not exist. The cache remembers this, and throws `reason`.
 */
export class Miss extends Error {
  readonly reason: Error;

  constructor(reason: Error) {
    super(reason.message);
    this.reason = reason;
  }
}

/** @property failedAt Unix ms of a failed read after `asOf` */
type Entry = { readonly value: unknown; readonly asOf: number; readonly failedAt?: number };
/** @property pauseMs how long to wait before contacting the upstream again */
type Failure = { readonly error: unknown; readonly at: number; readonly pauseMs: number };
/** A load that is running. @property began Unix ms */
type Load = { readonly entry: Promise<Entry>; readonly began: number };

type CacheOptions = {
  /** If absent, values are kept in memory only. Values in KV must survive JSON, so atoms are decimal text. */
  readonly kv?: Pick<KVNamespace, 'get' | 'put'> | undefined;
  /** Part of the KV keys, so that a release does not read another release's values, whose form may differ. */
  readonly release?: string;
  readonly now: () => number;
  /**
   * Unix ms of the last change of an operation; 0 without one. Absent if operations do not change the cached values.
   */
  readonly lastChange?: () => Promise<number>;
  /** Keeps a background promise alive after the response was sent. */
  readonly defer: (work: Promise<unknown>) => void;
};

/** After a failed load the upstream is not contacted for this time. */
const FAILURE_PAUSE_MS = 2_000;
const MISS_PAUSE_MS = 60_000;
/** Maximum remembered failures, and maximum remembered times of reads from KV; the oldest is evicted first. */
const MAX_NOTES = 500;
/**
 * A request joins another request's load until the load is this old. The runtime never settles the promises of a
 * cancelled request, so a later request loads the value itself.
 */
const JOIN_MS = 10_000;
/** A load can take this long before requests get an older value. */
const PATIENCE_MS = 3_000;

const LAST_CHANGE = 'last-change';
/** An isolate reads the time of the last change at most once in this period. */
const CHANGE_PAUSE_MS = 1_000;
/** Maximum wait for the time of the last change. Without that time, only the age of a value counts. */
const CHANGE_WAIT_MS = 1_000;
/** A source may show an operation this much later than the custodian's nodes. */
const SOURCE_LAG_MS = 2_000;
/** The cron writes to KV once in this period, so KV has no newer value than a younger value in memory. */
const CRON_PERIOD_MS = 60_000;
/** An older value is looked up in KV at most once in this time. */
const LOOK_AGAIN_MS = 5_000;
const CHANGE_POLICY = { freshMs: CHANGE_PAUSE_MS, revalidateMs: 0, staleMs: Number.POSITIVE_INFINITY };

/**
 * True if the caller has used up its own share, or its request has no free connection. The upstream may work, and other
 * callers may read it.
 */
const isOwnRefusal = (error: unknown): boolean =>
  (error instanceof AppError && error.code === 'RATE_LIMITED') || failureReason(error) === 'busy';

/** The interface for readers of cached values. */
export type CacheReader = Pick<Cache, 'read'>;

export class Cache {
  readonly #memory = new CacheMemory<Entry>();
  /** When each key was last looked up in KV. */
  readonly #lookedAt = new Map<string, number>();
  readonly #loads = new Map<string, Load>();
  readonly #failures = new Map<string, Failure>();
  readonly #options: CacheOptions;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /**
   * The value of a key, not older than the policy allows.
   * @throws the error of `load`, if there is no recent enough value
   */
  async read<T>(key: string, policy: CachePolicy, load: () => Promise<T | Dated<T>>): Promise<Cached<T>> {
    const { freshMs, revalidateMs, staleMs, notBefore = 0 } = policy;
    let validFrom = notBefore;
    if (policy.changedByOperations || policy.kv)
      [validFrom] = await Promise.all([this.#validFrom(policy), this.#readKv(key, policy)]);
    const known = this.#known(key);
    const age = known && known.asOf >= validFrom ? this.#ageOf(known) : Number.POSITIVE_INFINITY;
    if (known && age < freshMs + revalidateMs) {
      if (age >= freshMs && !this.#running(key)) this.#load(key, policy, load).catch(() => undefined);
      return this.#shown<T>(key, known);
    }
    const older = known && this.#ageOf(known) < staleMs ? known : undefined;
    try {
      const loaded = await this.#loadOrJoin(key, policy, load, validFrom, older && PATIENCE_MS);
      if (loaded) return this.#shown<T>(key, loaded);
    } catch (error) {
      // A miss has deleted the older value.
      if (!older || !this.#known(key)) throw error;
    }
    return { ...older, stale: true } as Cached<T>;
  }

  /**
   * The body of a response that is made from cached values. It is reused until one of them changes.
   * @param from all values that `make` depends on: cached values, and others, which are compared by identity
   */
  async body<T>(name: string, from: readonly unknown[], make: () => T): Promise<Body<T>> {
    const key = `body:${name}`;
    const parts = from.flatMap((part) => (isCached(part) ? [part.value, part.asOf, part.stale] : [part]));
    const known = this.#memory.get(key)?.value as Made | undefined;
    const isSame =
      known?.parts.length === parts.length && known.parts.every((part, at) => part === parts[at]);
    if (isSame) return known.body as Body<T>;
    const text = JSON.stringify(make());
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-1', utf8ToBytes(text)));
    const body: Body<T> = { text, etag: `"${bytesToHex(digest)}"` };
    this.#memory.set(key, { value: { parts, body } satisfies Made, asOf: this.#options.now() }, text.length);
    return body;
  }

  #known(key: string): Entry | undefined {
    const entry = this.#memory.get(key);
    return entry && !isAhead(entry.asOf, this.#options.now()) ? entry : undefined;
  }

  /** The last failed load. */
  #failed(key: string): Failure | undefined {
    const failure = this.#failures.get(key);
    return failure && !isAhead(failure.at, this.#options.now()) ? failure : undefined;
  }

  #ageOf({ asOf }: Entry): number {
    return this.#options.now() - asOf;
  }

  #shown<T>(key: string, { value, asOf, failedAt = 0 }: Entry): Cached<T> {
    const stale = Math.max(failedAt, this.#failed(key)?.at ?? 0) > asOf;
    return { value, asOf, stale } as Cached<T>;
  }

  /** Unix milliseconds. A value that was read before this time is outdated. */
  async #validFrom({
    changedByOperations = false,
    notBefore = 0,
  }: Pick<CachePolicy, 'changedByOperations' | 'notBefore'>): Promise<number> {
    const { lastChange, now } = this.#options;
    if (!changedByOperations || !lastChange) return notBefore;
    const read = this.read(LAST_CHANGE, CHANGE_POLICY, lastChange).catch(() => undefined);
    const { value = 0 } = (await within(read, CHANGE_WAIT_MS)) ?? this.#memory.get(LAST_CHANGE) ?? {};
    return Math.max(notBefore, Math.min(Number(value) + SOURCE_LAG_MS, now() - CHANGE_PAUSE_MS));
  }

  /**
   * Joins a running load that began late enough, or loads the value.
   * @param validFrom Unix ms; if it is in the future, any running load is joined
   * @param patienceMs undefined: unlimited
   * @returns undefined if the load takes longer
   */
  async #loadOrJoin(
    key: string,
    policy: CachePolicy,
    load: () => Promise<unknown>,
    validFrom: number,
    patienceMs: number | undefined,
  ): Promise<Entry | undefined> {
    const { now } = this.#options;
    for (;;) {
      const found = this.#running(key);
      const running = found && (found.began >= validFrom || validFrom > now()) ? found : undefined;
      const loading = running ? this.#join(running) : this.#load(key, policy, load);
      const loaded = await (patienceMs === undefined
        ? loading
        : within(loading, Math.max(0, (running?.began ?? now()) + patienceMs - now())));
      const isSlow = patienceMs !== undefined && this.#running(key) === running;
      if (loaded || !running || isSlow) return loaded;
    }
  }

  /**
   * The values of several keys from memory; those that are not fresh are loaded together. A key without a recent enough
   * value is absent.
   */
  async readMany<T>(
    keys: readonly string[],
    policy: Pick<CachePolicy, 'freshMs' | 'staleMs' | 'changedByOperations'>,
    load: (missing: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ): Promise<ReadonlyMap<string, Cached<T>>> {
    const { now } = this.#options;
    const { freshMs, staleMs } = policy;
    const validFrom = await this.#validFrom(policy);
    const began = now();
    const asOf = (key: string): number => this.#known(key)?.asOf ?? Number.NEGATIVE_INFINITY;
    const isYounger = (key: string, ms: number): boolean => now() - asOf(key) < ms;
    const isFresh = (key: string): boolean => isYounger(key, freshMs) && asOf(key) >= validFrom;
    const missing = keys.filter((key) => !isFresh(key) && !this.#failureOf(key));
    if (missing.length > 0)
      try {
        const loaded = await withoutBookmark(() => load(missing));
        for (const [key, value] of loaded) this.#memory.set(key, { value, asOf: began });
      } catch (error) {
        for (const key of missing) this.#noteFailure(key, error);
      }
    return new Map(
      keys.flatMap((key) => {
        const known = this.#known(key);
        if (!known || !isYounger(key, staleMs)) return [];
        return [[key, { ...known, stale: !isFresh(key) } as Cached<T>] as const];
      }),
    );
  }

  /** A running load of this key that can still be joined. */
  #running(key: string): Load | undefined {
    const load = this.#loads.get(key);
    const now = this.#options.now();
    return load && !isAhead(load.began, now) && now < load.began + JOIN_MS ? load : undefined;
  }

  /** Undefined if the load is too slow, or was refused because the caller that began it has used up its share. */
  #join({ entry, began }: Load): Promise<Entry | undefined> {
    const unlessOwn = (error: unknown): undefined => {
      if (!isOwnRefusal(error)) throw error;
    };
    return within(entry.catch(unlessOwn), began + JOIN_MS - this.#options.now());
  }

  /** Loads the value, unless a load of this key has just failed. */
  #load(key: string, policy: CachePolicy, load: () => Promise<unknown>): Promise<Entry> {
    const { now, defer } = this.#options;
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
    const began = this.#options.now();
    try {
      const stored = entryOf(await withoutBookmark(load), began);
      // A load that began later may have ended earlier.
      if (stored.asOf >= (this.#known(key)?.asOf ?? 0)) {
        this.#failures.delete(key);
        this.#memory.set(key, stored);
      }
      this.#writeKv(key, policy, stored);
      return stored;
    } catch (error) {
      if (!(error instanceof Miss)) {
        this.#noteFailure(key, error);
        const known = this.#known(key);
        if (known) this.#writeKv(key, policy, { ...known, failedAt: began });
        throw error;
      }
      this.#memory.delete(key);
      this.#noteFailure(key, error.reason, MISS_PAUSE_MS);
      throw error.reason;
    }
  }

  /** The error of the last load, during the pause in which the upstream is not contacted. */
  #failureOf(key: string): Failure | undefined {
    const failure = this.#failed(key);
    return failure && failure.at + failure.pauseMs > this.#options.now() ? failure : undefined;
  }

  #noteFailure(key: string, error: unknown, pauseMs = FAILURE_PAUSE_MS): void {
    if (isOwnRefusal(error)) return;
    keepNewest(this.#failures, key, { error, at: this.#options.now(), pauseMs }, MAX_NOTES);
  }

  /** Uses a value or failure that the cron has stored, unless the value in memory is newer. */
  async #readKv(key: string, { freshMs, notBefore = 0, kv: use }: CachePolicy): Promise<void> {
    const { kv, now } = this.#options;
    const known = this.#known(key);
    // A value that the cron reads hourly is usually older than `CRON_PERIOD_MS`, so each read would go to KV. At most
    // one read in `LOOK_AGAIN_MS` does.
    const lookedAgo = now() - (this.#lookedAt.get(key) ?? Number.NEGATIVE_INFINITY);
    const isLooked = lookedAgo >= 0 && lookedAgo < LOOK_AGAIN_MS;
    // A forced read skips KV, because KV caches a missing key for a minute.
    const isFresh =
      known &&
      known.asOf >= notBefore &&
      this.#ageOf(known) < (isLooked ? freshMs : Math.min(freshMs, CRON_PERIOD_MS));
    if (use === undefined || isFresh || notBefore > now()) return;
    keepNewest(this.#lookedAt, key, now(), MAX_NOTES);
    const found = await kv?.get<Entry>(this.#kvKey(key), 'json').catch(() => null);
    const newest = this.#known(key);
    if (typeof found?.asOf !== 'number' || found.asOf < (newest?.asOf ?? 0)) return;
    // A value that a fast clock has written would stay fresh until this clock has caught up.
    if (isAhead(found.asOf, now())) return;
    // The value of one read stays the same object, so a body made from it stays valid.
    const { value, asOf, failedAt } = {
      ...found,
      ...(found.asOf === newest?.asOf && { value: newest.value }),
    };
    this.#memory.set(key, failedAt === undefined ? { value, asOf } : { value, asOf, failedAt });
  }

  #writeKv(key: string, { kv: use, freshMs, staleMs }: CachePolicy, entry: Entry): void {
    const { kv, defer } = this.#options;
    if (!kv || use !== 'write') return;
    const expirationTtl = Math.ceil((freshMs + staleMs) / 1_000);
    defer(kv.put(this.#kvKey(key), stringifyJson(entry), { expirationTtl }).catch(() => undefined));
  }

  #kvKey(key: string): string {
    return `cache:${this.#options.release ?? ''}:${key}`;
  }
}

function entryOf(loaded: unknown, began: number): Entry {
  if (!(loaded instanceof Dated)) return { value: loaded, asOf: began };
  const { value, asOf, stale } = loaded.read;
  return stale ? { value, asOf, failedAt: began } : { value, asOf };
}
