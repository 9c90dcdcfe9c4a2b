/**
 * Admits calls to upstreams. The platform lets six connections of one invocation wait for their headers, and queues other
 * calls. A queued call can exceed its time limit there, so one host that hangs would fail calls to other hosts.
 * @see https://developers.cloudflare.com/workers/platform/limits/#simultaneous-open-connections
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { isTimeOver } from '../core/due-time.ts';
import { failureReason, upstreamFailed } from '../core/errors.ts';

/** Calls of one invocation at once. The sixth connection is left for KV. */
const MAX_CALLS = 5;
const MAX_CALLS_PER_HOST = 2;
/** Longest wait for admission. */
const MAX_WAIT_MS = 15_000;
/** Longer than any call lasts. The runtime never ends the calls of a cancelled request, so their slots are taken back. */
const MAX_CALL_MS = 30_000;
/** Number of timeouts in a row after which an upstream is skipped, and for how long. */
const MAX_TIMEOUTS = 2;
const SKIPPED_MS = 30_000;

/** Order of admission: work on the reserve and on paid requests; reads that a caller waits for; health checks. */
const PRIORITIES = ['own', 'user', 'probe'] as const;
export type Priority = (typeof PRIORITIES)[number];

type Call = { readonly host: string; readonly until: number };
type Waiting = { readonly host: string; readonly admit: () => void };

/** The connections of one invocation, or of one Durable Object. */
export class CallSlots {
  readonly #calls = new Set<Call>();
  readonly #waiting = { own: new Set<Waiting>(), user: new Set<Waiting>(), probe: new Set<Waiting>() };

  /** Runs work whose calls to upstreams share these slots. */
  run<T>(priority: Priority, work: () => T): T {
    return scopes.run({ slots: this, priority }, work);
  }

  /** @returns the function that ends the call, or undefined if it is not admitted in time */
  enter(host: string, priority: Priority): Promise<(() => void) | undefined> {
    const queue = this.#waiting[priority];
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const waiting = {
        host,
        admit: () => {
          clearTimeout(timer);
          queue.delete(waiting);
          resolve(this.#take(host));
        },
      };
      queue.add(waiting);
      this.#admitWaiting();
      if (!queue.has(waiting)) return;
      timer = setTimeout(() => {
        this.#admitWaiting();
        if (queue.delete(waiting)) resolve(undefined);
      }, MAX_WAIT_MS);
    });
  }

  #take(host: string): () => void {
    const call = { host, until: Date.now() + MAX_CALL_MS };
    this.#calls.add(call);
    return () => {
      this.#calls.delete(call);
      this.#admitWaiting();
    };
  }

  /** Admits waiting calls in their order. One whose host is busy lets later ones pass. */
  #admitWaiting(): void {
    for (const call of this.#calls)
      if (isTimeOver(call.until, MAX_CALL_MS, Date.now())) this.#calls.delete(call);
    for (const priority of PRIORITIES)
      for (const waiting of this.#waiting[priority]) {
        if (this.#calls.size >= MAX_CALLS) return;
        const ofHost = [...this.#calls].filter(({ host }) => host === waiting.host).length;
        if (ofHost < MAX_CALLS_PER_HOST) waiting.admit();
      }
  }
}

const scopes = new AsyncLocalStorage<{ readonly slots: CallSlots; readonly priority: Priority }>();

/** Runs work whose calls to upstreams have another priority. */
export function atPriority<T>(priority: Priority, work: () => T): T {
  const scope = scopes.getStore();
  return scope ? scope.slots.run(priority, work) : work();
}

type Upstream = {
  /** Timeouts since its last response. */
  timeouts: number;
  /** Unix ms until which calls are skipped; 0 if they are not. */
  skippedUntil: number;
  /** Duration of its newest call in milliseconds. */
  ms: number;
};

/**
 * Admits the calls of one isolate or Durable Object, and skips an upstream that hangs (circuit breaker): after
 * `SKIPPED_MS` one call tries it again. Outside of `CallSlots.run` the number of calls is not limited.
 */
export class Admission {
  readonly #upstreams = new Map<string, Upstream>();

  /**
   * Waits until a call may begin. Its time limit starts then.
   * @returns the function that ends the call, and is told whether the upstream did not respond in time
   * @throws AppError UPSTREAM_FAILED `circuit_open` or `busy`; nothing was sent
   */
  async admit(name: string, url: string): Promise<(isTimeout: boolean) => void> {
    const upstream = this.#of(name);
    if (isSkipped(upstream)) throw upstreamFailed(name, 'circuit_open');
    const scope = scopes.getStore();
    const leave = scope ? await scope.slots.enter(new URL(url).host, scope.priority) : () => undefined;
    if (!leave) throw upstreamFailed(name, 'busy');
    // Another call may have found during the wait that the upstream hangs.
    if (isSkipped(upstream)) {
      leave();
      throw upstreamFailed(name, 'circuit_open');
    }
    const began = Date.now();
    // This call is the trial: the others are skipped until it ends.
    if (upstream.timeouts >= MAX_TIMEOUTS) upstream.skippedUntil = began + SKIPPED_MS;
    return (isTimeout) => {
      leave();
      upstream.ms = Date.now() - began;
      upstream.timeouts = isTimeout ? upstream.timeouts + 1 : 0;
      upstream.skippedUntil = upstream.timeouts >= MAX_TIMEOUTS ? Date.now() + SKIPPED_MS : 0;
    };
  }

  /** Names of the upstreams whose last calls timed out and that have not responded since. */
  openCircuits(): string[] {
    return [...this.#upstreams].flatMap(([name, { timeouts }]) => (timeouts >= MAX_TIMEOUTS ? [name] : []));
  }

  /** Milliseconds of the newest call to an upstream. */
  durationOf(name: string): number {
    return this.#of(name).ms;
  }

  #of(name: string): Upstream {
    const upstream = this.#upstreams.get(name) ?? { timeouts: 0, skippedUntil: 0, ms: 0 };
    this.#upstreams.set(name, upstream);
    return upstream;
  }
}

const isSkipped = ({ skippedUntil }: Upstream): boolean => !isTimeOver(skippedUntil, SKIPPED_MS, Date.now());

/** Whether the upstream never got the call. */
export const isUnsent = (error: unknown): boolean => ['busy', 'circuit_open'].includes(failureReason(error));
