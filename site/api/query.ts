/**
 * Reads of the API that a page shows and repeats. Parts that show the same read share one request.
 * @module
 */
import { useEffect, useState } from 'hono/jsx';
import type { Answer, Input, OperationName } from '../../packages/client/src/index.ts';
import { call, type Failure, failureFrom } from './call.ts';

export type Query<T> = {
  /** Null until the first response. Kept when a later read fails. */
  readonly value: T | null;
  readonly headers: Headers | null;
  /** Failure of the newest read. */
  readonly failure: Failure | null;
  refresh(): void;
};

type State<T> = Omit<Query<T>, 'refresh'>;

/** Pause between reads of figures that a swap, mint or claim changes: a visitor sees new ones within this time. */
export const FIGURES_POLL_MS = 15_000;
/** Pause between reads of what changes at most once an hour. */
export const PROOF_POLL_MS = 60_000;

/** A node may show a change a moment later than the service, so one immediate read could miss it. */
const REFRESH_AFTER_MS = [0, 1500, 3500];
/** How long the service may delay a repeated read whose result is not final. */
const WAIT_SECONDS = 10;
/** A read without a response after this time has failed, and the page says so. */
const HANGS_AFTER_MS = 9_000;
/** All figures of a page are read at the same moments, so that they share one request. */
const BEAT_MS = 15_000;
/** After this time without an action by the visitor, a page reads less often. */
const IDLE_AFTER_MS = 300_000;
const BEATS_WHILE_IDLE = 8;

const UNREAD = { value: null, headers: null, failure: null };

type Subscriber<T> = {
  readonly changed: () => void;
  readonly pollMs: number | undefined;
  readonly isOver: ((value: T) => boolean) | undefined;
};

/** One read and its repetitions, while at least one part of the page shows it. */
class Feed<Name extends OperationName> {
  state: State<Answer<Name>>;
  readonly #name: Name;
  readonly #input: Input<Name>;
  readonly #subscribers = new Set<Subscriber<Answer<Name>>>();
  #ended = new AbortController();
  #timers = new Set<ReturnType<typeof setTimeout>>();
  #next: ReturnType<typeof setTimeout> | undefined;
  #reading: Promise<void> | null = null;
  /** A read that was requested during another one is sent once afterwards. */
  #again = false;
  #isFinal = false;
  /** Whether this page itself has completed a read. A response that the service wrote into the page does not count. */
  #hasRead = false;
  /** The service delayed the last response until a change. */
  #isHeld = false;

  /** @param first response that the service wrote into the page */
  constructor(name: Name, input: Input<Name>, first: Answer<Name> | null) {
    this.state = { ...UNREAD, value: first };
    this.#name = name;
    this.#input = input;
  }

  subscribe(subscriber: Subscriber<Answer<Name>>): () => void {
    const isFirst = this.#subscribers.size === 0;
    this.#subscribers.add(subscriber);
    if (isFirst) {
      this.#ended = new AbortController();
      void this.#poll(this.state.value !== null);
    } else if (this.#reading === null) this.#schedule(0);
    return () => {
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size > 0) return;
      this.#ended.abort();
      clearTimeout(this.#next);
      for (const timer of this.#timers) clearTimeout(timer);
      this.#timers.clear();
    };
  }

  /** Reads again now, bypassing every cache. */
  refresh(): void {
    clearTimeout(this.#next);
    if (!this.#isFinal) void this.#poll(true);
  }

  /** Reads again until a node should show a change that has just been made. */
  refreshAfterChange(): void {
    if (this.#isFinal || this.#subscribers.size === 0) return;
    for (const delay of REFRESH_AFTER_MS) {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.refresh();
      }, delay);
      this.#timers.add(timer);
    }
  }

  #set(change: Partial<State<Answer<Name>>>): void {
    this.state = { ...this.state, ...change };
    for (const { changed } of this.#subscribers) changed();
    failuresChanged();
  }

  /** The shortest pause that a subscriber asks for. */
  #pollMs(): number | undefined {
    const pauses = [...this.#subscribers].flatMap(({ pollMs }) => pollMs ?? []);
    return pauses.length === 0 ? undefined : Math.min(...pauses);
  }

  async #poll(fresh: boolean): Promise<void> {
    if (this.#reading !== null) {
      this.#again = true;
      return;
    }
    const startedAt = Date.now();
    const { signal } = this.#ended;
    this.#reading = this.#read(fresh, signal);
    await this.#reading;
    this.#reading = null;
    if (signal.aborted) {
      // A part may have been added after the last one was removed; it still waits for this value.
      this.#again = false;
      if (this.#subscribers.size > 0) await this.#poll(fresh);
    } else if (this.#again && !this.#isFinal) {
      this.#again = false;
      await this.#poll(true);
    } else this.#schedule(this.#isHeld ? Date.now() - startedAt : 0);
  }

  /** @param sinceMs how much of the pause has already passed */
  #schedule(sinceMs: number): void {
    const pollMs = this.#pollMs();
    clearTimeout(this.#next);
    if (pollMs === undefined || this.#isFinal) return;
    const pauseMs = pollMs < BEAT_MS ? pollMs - sinceMs : untilBeat(pollMs);
    // A repeated read asks the service, because the browser's copy could be older than an operation.
    this.#next = setTimeout(() => whenVisible(() => void this.#poll(true)), Math.max(0, pauseMs));
  }

  async #read(fresh: boolean, signal: AbortSignal): Promise<void> {
    const isOver = [...this.#subscribers].find((subscriber) => subscriber.isOver)?.isOver;
    const waits = isOver !== undefined && this.state.value !== null;
    try {
      const { value, headers } = await call(this.#name, this.#input, {
        signal,
        fresh,
        // The first read of a figure that changes often is sent at once, and alone: it waits for no slower one.
        together: !waits && (this.#hasRead || (this.#pollMs() ?? Infinity) > FIGURES_POLL_MS),
        ...(waits ? { wait: WAIT_SECONDS } : { timeoutMs: HANGS_AFTER_MS }),
      });
      this.#hasRead = true;
      if (signal.aborted) return;
      this.#isHeld = headers.has('preference-applied');
      // Set before `value` is shown: the part that shows a final result may announce a change at once.
      this.#isFinal = isOver?.(value) ?? false;
      // Another instance of the service may still have older figures than those shown.
      const isOlder = timeOf(value) < timeOf(this.state.value);
      this.#set({ failure: null, ...(isOlder ? {} : { value, headers }) });
    } catch (thrown) {
      if (signal.aborted) return;
      this.#isHeld = false;
      this.#set({ failure: failureFrom(thrown) });
    }
  }
}

/** The members of a feed that the page uses without knowing its operation. */
type AnyFeed = Pick<Feed<OperationName>, 'refresh' | 'refreshAfterChange'> & {
  readonly state: Pick<State<unknown>, 'failure'>;
};

/** By operation and input. */
const feeds = new Map<string, AnyFeed>();
const failureListeners = new Set<() => void>();

const failuresChanged = (): void => {
  for (const changed of failureListeners) changed();
};

/** Reads every shown value again, after a swap, payment, mint or claim has changed figures. */
export function announceChange(): void {
  for (const feed of feeds.values()) feed.refreshAfterChange();
}

/** Reads again whatever could not be read. */
export function retryFailed(): void {
  for (const feed of feeds.values()) if (feed.state.failure?.isOutage) feed.refresh();
}

/** The distinct failures to reach the service among the newest reads of this page. */
export function useOutages(): readonly Failure[] {
  const [, setRound] = useState(0);
  useEffect(() => {
    const changed = (): void => setRound((round) => round + 1);
    failureListeners.add(changed);
    return () => failureListeners.delete(changed);
  }, []);
  const outages = [...feeds.values()].flatMap(({ state: { failure } }) =>
    failure?.isOutage && failure.requestId === null ? [[failure.text, failure] as const] : [],
  );
  return [...new Map(outages).values()];
}

/** Responses by operation and input. */
export type Answers = Readonly<Record<string, unknown>>;

let served: Answers = {};

/** Renders with responses that were read before. @param render must not wait: the next page has other responses */
export function withAnswers<T>(answers: Answers, render: () => T): T {
  served = answers;
  try {
    return render();
  } finally {
    served = {};
  }
}

/** Responses that the service wrote into this page, by operation and input. */
const firstAnswers = () => JSON.parse(document.getElementById('first-answers')?.textContent ?? '{}');

const keyOf = (name: OperationName, input: unknown): string => `${name} ${JSON.stringify(input)}`;

function feedOf<Name extends OperationName>(name: Name, input: Input<Name>): Feed<Name> {
  const key = keyOf(name, input);
  // The key begins with the operation, so a feed under it has that operation's type.
  const feed =
    (feeds.get(key) as Feed<Name> | undefined) ?? new Feed(name, input, firstAnswers()[key] ?? null);
  feeds.set(key, feed);
  return feed;
}

/** What the Worker has read for the page that it renders. The page's script reads the same responses from it. */
const servedState = <Name extends OperationName>(
  name: Name,
  input: Input<Name> | null,
): State<Answer<Name>> => ({
  ...UNREAD,
  // The key begins with the operation, so a response under it has that operation's type.
  value: input === null ? null : ((served[keyOf(name, input)] as Answer<Name> | undefined) ?? null),
});

/**
 * @param input  null while there is nothing to read
 * @param pollMs pause between a response and the next read; absent for no repetition. No pause if the service
 * waits for a change
 * @param isOver whether a response is final
 */
export function useQuery<Name extends OperationName>(
  name: Name,
  input: Input<Name> | null,
  pollMs?: number,
  isOver?: (value: Answer<Name>) => boolean,
): Query<Answer<Name>> {
  const [, setRound] = useState(0);
  const feed = input === null || typeof document === 'undefined' ? null : feedOf(name, input);
  const state = feed?.state ?? servedState(name, input);
  useEffect(() => {
    if (feed === null) return;
    const changed = (): void => setRound((round) => round + 1);
    const end = feed.subscribe({ changed, pollMs, isOver });
    // A response may have arrived between this part's rendering and its subscription.
    if (feed.state !== state) changed();
    return end;
  }, [feed]);
  return { ...state, refresh: () => feed?.refresh() };
}

/** The time of figures as ISO 8601; empty for a value without one. */
function timeOf(value: unknown): string {
  const time: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'as_of') : undefined;
  return typeof time === 'string' ? time : '';
}

const began = Date.now();
let activeAt = began;

/** Milliseconds to the moment at which a pause ends. */
function untilBeat(pollMs: number): number {
  const now = Date.now();
  const isIdle = now - activeAt >= IDLE_AFTER_MS;
  const beats = isIdle ? BEATS_WHILE_IDLE : Math.max(1, Math.round(pollMs / BEAT_MS));
  return began + (Math.floor((now - began) / BEAT_MS) + beats) * BEAT_MS - now;
}

/** The first action after an idle time reads what has changed since. */
function noteAct(): void {
  const wasIdle = Date.now() - activeAt >= IDLE_AFTER_MS;
  activeAt = Date.now();
  if (wasIdle) for (const feed of feeds.values()) feed.refresh();
}

if (typeof document !== 'undefined')
  for (const act of ['pointerdown', 'pointermove', 'keydown', 'scroll', 'visibilitychange'])
    document.addEventListener(act, noteAct, { passive: true });

/** A page in the background makes no requests until it is visible again. */
function whenVisible(run: () => void): void {
  if (document.hidden) document.addEventListener('visibilitychange', run, { once: true });
  else run();
}
