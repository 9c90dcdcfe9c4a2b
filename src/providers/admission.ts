/**
 * Admits calls to upstreams. On this platform, at most six connections of one invocation can wait for headers; further
 * calls are queued. A queued call can exceed its time limit, so one hanging host would make calls to other hosts fail.
 * Calls that callers cause have a budget for each upstream, so that they never use up the calls that the service's own
 * work needs.
 * @see https://developers.cloudflare.com/workers/platform/limits/#simultaneous-open-connections
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Budget, type BudgetTerms, type BudgetVerdict } from '../core/budget.ts';
import { isTimeOver } from '../core/due-time.ts';
import { AppError, failureReason, upstreamFailed } from '../core/errors.ts';

/** Maximum concurrent calls of one invocation. The sixth connection is reserved for KV. */
const MAX_CALLS = 5;
const MAX_CALLS_PER_HOST = 2;
/** Longest wait for admission. */
const MAX_WAIT_MS = 15_000;
/**
 * Longer than any call takes. The runtime never ends the calls of a cancelled request, so their slots are freed after
 * this time.
 */
const MAX_CALL_MS = 30_000;
/** An upstream is skipped after this many timeouts in a row, and for this long. */
const MAX_TIMEOUTS = 2;
const SKIPPED_MS = 30_000;

/** Order of admission: work on the reserve and on paid requests; reads that a caller waits for; health checks. */
const PRIORITIES = ['own', 'user', 'probe'] as const;
export type Priority = (typeof PRIORITIES)[number];

type Call = { readonly host: string; readonly until: number };
type Spent = Exclude<BudgetVerdict, { readonly ok: true }>;
type Waiting = {
  readonly host: string;
  readonly taking: Taking;
  readonly end: (spent?: Spent) => void;
};
/** `busy`: no slot was free in time. */
type Entered = { readonly leave: () => void } | { readonly refused: 'busy' | Spent };

/** A unit of a caller's budget, taken at the moment of admission. */
type Taking = {
  readonly take: () => BudgetVerdict;
  /** True if this call now goes before the other calls of its priority. */
  readonly isFirst: () => boolean;
};

const never = (): boolean => false;

const UNBOUNDED: Taking = { take: () => ({ ok: true }), isFirst: never };

/** The time and the timers. A simulation has its own. */
export type Clock = {
  now(): number;
  /** @returns the function that cancels the call */
  after(ms: number, work: () => void): () => void;
};

const REAL: Clock = {
  now: () => Date.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** The connections of one invocation, or of one Durable Object. */
export class CallSlots {
  readonly #clock: Clock;
  readonly #calls = new Set<Call>();
  readonly #waiting = { own: new Set<Waiting>(), user: new Set<Waiting>(), probe: new Set<Waiting>() };
  #cancelWakeUp = (): void => undefined;
  /** Unix milliseconds of the next wake-up; 0 if none is set. */
  #wakeAt = 0;

  constructor(clock: Clock = REAL) {
    this.#clock = clock;
  }

  /** Runs work whose calls to upstreams share these slots. @param client for whom calls at `user` are made, if known */
  run<T>(priority: Priority, work: () => T, client: string | null = null): T {
    return scopes.run({ slots: this, priority, clients: clientsOf(client) }, work);
  }

  enter(host: string, priority: Priority, taking: Taking = UNBOUNDED): Promise<Entered> {
    const queue = this.#waiting[priority];
    return new Promise((resolve) => {
      let cancel = (): void => undefined;
      let last: 'busy' | Spent = 'busy';
      const take = (): BudgetVerdict => {
        const verdict = taking.take();
        last = verdict.ok ? 'busy' : verdict;
        return verdict;
      };
      const waiting: Waiting = {
        host,
        taking: { ...taking, take },
        end: (spent) => {
          cancel();
          queue.delete(waiting);
          resolve(spent ? { refused: spent } : { leave: this.#take(host) });
        },
      };
      queue.add(waiting);
      this.#admit(waiting);
      if (!queue.has(waiting)) return;
      cancel = this.#clock.after(MAX_WAIT_MS, () => {
        this.#admitWaiting();
        if (queue.delete(waiting)) resolve({ refused: last });
      });
    });
  }

  #take(host: string): () => void {
    const call = { host, until: this.#clock.now() + MAX_CALL_MS };
    this.#calls.add(call);
    return () => {
      this.#calls.delete(call);
      this.#admitWaiting();
    };
  }

  /**
   * Admits waiting calls. Within one priority, calls with `isFirst` come first, then the others in order of arrival.
   * Later calls can pass a call whose host is busy or whose client must wait for a unit.
   */
  #admitWaiting(): void {
    for (const priority of PRIORITIES)
      for (const waiting of inTurn(this.#waiting[priority])) {
        this.#admit(waiting);
        if (this.#calls.size >= MAX_CALLS) return;
      }
  }

  /** Admits a call if there is room for it; refuses a call that would wait too long for its unit. */
  #admit({ host, taking, end }: Waiting): void {
    for (const call of this.#calls)
      if (isTimeOver(call.until, MAX_CALL_MS, this.#clock.now())) this.#calls.delete(call);
    if (this.#calls.size >= MAX_CALLS) return;
    if ([...this.#calls].filter((call) => call.host === host).length >= MAX_CALLS_PER_HOST) return;
    const verdict = taking.take();
    if (verdict.ok) end();
    else if (verdict.retryAfterMs > MAX_WAIT_MS) end(verdict);
    else this.#wakeAfter(verdict.retryAfterMs);
  }

  /** Schedules the next admission in `ms`, unless an earlier one is scheduled. */
  #wakeAfter(ms: number): void {
    const now = this.#clock.now();
    const at = now + Math.max(ms, 1);
    if (this.#wakeAt > now && this.#wakeAt <= at) return;
    this.#cancelWakeUp();
    this.#wakeAt = at;
    this.#cancelWakeUp = this.#clock.after(at - now, () => {
      this.#wakeAt = 0;
      this.#admitWaiting();
    });
  }
}

const inTurn = (queue: ReadonlySet<Waiting>): readonly Waiting[] => {
  const waiting = [...queue].map((each) => ({ each, isFirst: each.taking.isFirst() }));
  return waiting
    .toSorted((one, other) => Number(other.isFirst) - Number(one.isFirst))
    .map(({ each }) => each);
};

type Scope = {
  /** If absent, the number of calls is not limited. */
  readonly slots?: CallSlots | undefined;
  readonly priority: Priority;
  /**
   * A call can use the budget of any of these clients, including one that joins while the call waits. Empty if no
   * client is known.
   */
  readonly clients: ReadonlySet<string>;
  /** True if these calls now go before the calls of other callers. If absent, always false. */
  readonly isFirst?: () => boolean;
};

/** One client, or several: the first of them with a free unit pays. Null if no client is known. */
type Callers = string | ReadonlySet<string> | null;

const clientsOf = (callers: Callers): ReadonlySet<string> =>
  typeof callers === 'string' ? new Set([callers]) : (callers ?? new Set());

const scopes = new AsyncLocalStorage<Scope>();

/** Runs work whose calls to upstreams have another priority. */
export function atPriority<T>(priority: Priority, work: () => T): T {
  const { slots, clients = clientsOf(null) } = scopes.getStore() ?? {};
  return scopes.run({ slots, priority, clients }, work);
}

/**
 * Runs work that callers cause. Its calls use the budgets of callers.
 * @param isFirst called at each admission; true if these calls go before the calls of other callers
 */
export const forCaller = <T>(callers: Callers, work: () => T, isFirst = never): T =>
  scopes.run(
    { slots: scopes.getStore()?.slots, priority: 'user', clients: clientsOf(callers), isFirst },
    work,
  );

/** Whether a known caller causes the work that runs now. */
export const isForCaller = (): boolean => {
  const scope = scopes.getStore();
  return scope?.priority === 'user' && scope.clients.size > 0;
};

type Upstream = {
  /** The calls that callers may cause; undefined if they are not limited. */
  readonly budget: Budget | undefined;
  /** Timeouts since its last response. */
  timeouts: number;
  /** Unix ms until which calls are skipped; 0 if they are not. */
  skippedUntil: number;
  /** Duration of its newest call in milliseconds. */
  ms: number;
};

/**
 * Admits the calls of one isolate or Durable Object, and skips an upstream that hangs (circuit breaker): after
 * `SKIPPED_MS` one call tries it again. Outside `CallSlots.run`, the number of calls is not limited.
 */
export class Admission {
  readonly #upstreams = new Map<string, Upstream>();
  readonly #budgetOf: (name: string) => BudgetTerms | undefined;
  readonly #now: () => number;

  /** @param budgetOf the calls of all callers to an upstream, by its name; undefined if they are not limited */
  constructor(
    budgetOf: (name: string) => BudgetTerms | undefined = () => undefined,
    { now }: Pick<Clock, 'now'> = REAL,
  ) {
    this.#budgetOf = budgetOf;
    this.#now = now;
  }

  /**
   * Waits until a call may start. The call's time limit starts then.
   * @returns the function that ends the call; its argument states whether the upstream timed out
   * @throws AppError UPSTREAM_FAILED `circuit_open` or `busy`, RATE_LIMITED for a caller; nothing was sent
   */
  async admit(name: string, url: string): Promise<(isTimeout: boolean) => void> {
    const upstream = this.#of(name);
    if (this.#isSkipped(upstream)) throw upstreamFailed(name, 'circuit_open');
    const leave = await enter(name, new URL(url).host, this.#takingOf(upstream));
    // During the wait, another call may have found that the upstream hangs.
    if (this.#isSkipped(upstream)) {
      leave();
      throw upstreamFailed(name, 'circuit_open');
    }
    const began = this.#now();
    // This call is the trial: the others are skipped until it ends.
    if (upstream.timeouts >= MAX_TIMEOUTS) upstream.skippedUntil = began + SKIPPED_MS;
    return (isTimeout) => {
      leave();
      upstream.ms = this.#now() - began;
      upstream.timeouts = isTimeout ? upstream.timeouts + 1 : 0;
      upstream.skippedUntil = upstream.timeouts >= MAX_TIMEOUTS ? this.#now() + SKIPPED_MS : 0;
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

  #isSkipped({ skippedUntil }: Upstream): boolean {
    return !isTimeOver(skippedUntil, SKIPPED_MS, this.#now());
  }

  /** The unit that the current work must take for a call. The service's own work needs none. */
  #takingOf({ budget }: Upstream): Taking {
    const scope = scopes.getStore();
    if (scope?.priority !== 'user' || !budget) return UNBOUNDED;
    const { clients, isFirst = never } = scope;
    return { take: () => takeFor(budget, clients, this.#now()), isFirst };
  }

  #of(name: string): Upstream {
    const known = this.#upstreams.get(name);
    if (known) return known;
    const terms = this.#budgetOf(name);
    const upstream = { budget: terms && new Budget(terms), timeouts: 0, skippedUntil: 0, ms: 0 };
    this.#upstreams.set(name, upstream);
    return upstream;
  }
}

/** Takes a unit from the first client that has one left. */
function takeFor(budget: Budget, clients: ReadonlySet<string>, now: number): BudgetVerdict {
  const [first = null, ...others] = clients;
  let verdict = budget.take(first, now);
  for (const client of others) if (!verdict.ok) verdict = budget.take(client, now);
  return verdict;
}

/** @returns the function that ends the call */
async function enter(name: string, host: string, taking: Taking): Promise<() => void> {
  const scope = scopes.getStore();
  if (!scope?.slots) {
    const verdict = taking.take();
    if (!verdict.ok) throw callsSpent(name, verdict);
    return () => undefined;
  }
  const entered = await scope.slots.enter(host, scope.priority, taking);
  if ('leave' in entered) return entered.leave;
  throw entered.refused === 'busy' ? upstreamFailed(name, 'busy') : callsSpent(name, entered.refused);
}

const CALLS_SPENT = 'upstream_calls';

const callsSpent = (upstream: string, { spentBy, retryAfterMs }: Spent): AppError =>
  new AppError(
    'RATE_LIMITED',
    spentBy === 'client'
      ? 'Your IP address, or its range, has used up its share of calls to an upstream service. Nothing was consumed.'
      : 'All callers together have used up the calls to an upstream service. Nothing was consumed.',
    {
      retryAfterSeconds: Math.max(Math.ceil(retryAfterMs / 1_000), 1),
      details: { limit: CALLS_SPENT, upstream, reason: CALLS_SPENT },
    },
  );

/** Whether the upstream never got the call. */
export const isUnsent = (error: unknown): boolean =>
  ['busy', 'circuit_open', CALLS_SPENT].includes(failureReason(error));
