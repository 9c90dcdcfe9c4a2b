/**
 * Runs all background work: the alarm, the cron, the delivery of changes to D1, and retries. Stored rows decide what
 * is due, so work survives the loss of an instance. A module, operation or row whose work throws waits and is
 * reported, so that it does not block the others.
 * @module
 */
import { dueTime, isTimeOver } from '../../core/due-time.ts';
import { failureReason } from '../../core/errors.ts';
import type { Executor } from './executor.ts';
import type { Journal } from './journal.ts';
import { isSuspect, type SigningGate } from './journal-integrity.ts';
import type { CustodyModule } from './module.ts';
import { flushOutbox } from './outbox.ts';
import type { Log, Mirror, Storage } from './ports.ts';
import { rememberDisagreement } from './quorum.ts';
import type { ChainPort } from './solana-view.ts';

/** Operations per alarm. Each makes up to four calls to each of two nodes, and a run may make 40 calls. */
const DUE_PER_ALARM = 5;
/** The alarm is set to this delay before each run, so a run that crashes is repeated. */
const SAFETY_MS = 30_000;
/**
 * Wait between retries while D1 rejects the outbox: the first wait, which doubles with each rejection, and
 * the longest.
 */
const MIRROR_RETRY_MS = 5_000;
const QUICK_MIRROR_RETRIES = 24;
const RAREST_MIRROR_RETRY_MS = 60_000;
/** Smallest delay of an alarm. */
const SOON_MS = 20;

const doubled = (first: number, times: number, most: number): number =>
  Math.min(first * 2 ** Math.max(times - 1, 0), most);

export function createBackground(p: {
  readonly journal: Journal;
  readonly storage: Storage;
  readonly mirror: Mirror;
  readonly chain: Pick<ChainPort, 'agreement'>;
  readonly gate: SigningGate;
  readonly executor: Executor;
  /** By name, which appears in the log. */
  readonly modules: Readonly<Record<string, CustodyModule>>;
  readonly now: () => number;
  readonly log: Log;
}) {
  const { journal, storage, gate, now, log } = p;
  const modules = Object.entries(p.modules);
  /** When the last alarm ended. */
  let ranAt = 0;

  /** Flushes after which rows still waited, since the last one that emptied the queue. */
  let refusals = 0;
  /** Modules whose last run failed, with the time until which the alarm skips them. */
  const failing = new Map<string, { readonly failures: number; readonly until: number }>();

  /**
   * Runs one module's work; false when it failed. A failing module does not stop the others, and its stored
   * work runs again.
   * @param failures consecutive failures of its work before this one
   */
  async function attempt(
    module: string,
    work: Promise<void> | undefined,
    failures: number,
  ): Promise<boolean> {
    try {
      await work;
      return true;
    } catch (error) {
      const level = failures + 1 === ALARM_FAILURES ? 'alarm' : 'warn';
      const facts = { reason: failureReason(error), error: String(error).slice(0, 200) };
      log({ level, event: 'module_failed', module, ...facts });
      return false;
    }
  }

  function nextRunAt(name: string, module: CustodyModule): number {
    const held = dueTime(failing.get(name)?.until ?? 0, RAREST_RETRY_MS, now());
    return Math.max(module.nextRunAt?.() ?? Number.POSITIVE_INFINITY, held);
  }

  async function runModules(): Promise<void> {
    for (const [name, module] of modules) {
      if (nextRunAt(name, module) > now()) continue;
      const failures = failing.get(name)?.failures ?? 0;
      if (await attempt(name, module.run?.(), failures)) failing.delete(name);
      else failing.set(name, { failures: failures + 1, until: now() + retryAfter(failures + 1) });
    }
  }

  /** When D1 is next tried, Unix milliseconds; undefined when it has every row. */
  function nextDeliveryAt(): number | undefined {
    const isQueued = journal.isQueued();
    const refused = journal.nextRefusedAt(now());
    if (!isQueued && (refused === undefined || refusals === 0)) return refused;
    return now() + doubled(MIRROR_RETRY_MS, refusals - QUICK_MIRROR_RETRIES, RAREST_MIRROR_RETRY_MS);
  }

  /**
   * Sets the alarm for the next stored work, but no later than `latest`. The result does not depend on earlier
   * alarms.
   */
  async function rearm(latest = Number.POSITIVE_INFINITY): Promise<void> {
    const stored = [
      journal.nextDue(now()),
      nextDeliveryAt(),
      ...modules.map(([name, module]) => nextRunAt(name, module)),
    ];
    const unverified = isSuspect(journal) ? [] : [now() + MIRROR_RETRY_MS];
    const next = Math.min(
      latest,
      ...(gate.isVerified() ? stored : unverified).map((at) => at ?? Number.POSITIVE_INFINITY),
    );
    // Counted from the last run, not from now: a constant stream of calls must not postpone the alarm
    // forever.
    const soonest = Math.min(ranAt, now()) + SOON_MS;
    await storage.setAlarm(Number.isFinite(next) ? Math.max(next, soonest) : null);
  }

  /** Flushes to D1 first, then sets the alarm: a caller that has its response must find the row in D1. */
  async function publish(): Promise<void> {
    rememberDisagreement(journal, p.chain.agreement());
    // The rows of a suspect journal are restored from the mirror, so it must not write there.
    if (gate.isVerified()) refusals = (await flushOutbox(p)) ? 0 : refusals + 1;
    await rearm();
  }

  /** Runs work that may leave unfinished rows. If this instance crashes meanwhile, the alarm continues them. */
  async function working<T>(work: () => Promise<T>): Promise<T> {
    await gate.verify();
    await rearm(now() + SAFETY_MS);
    try {
      return await work();
    } finally {
      await publish();
    }
  }

  return {
    publish,
    rearm,
    working,

    /** Runs work that consumes something. @throws while the journal is not verified */
    verified: <T>(work: () => Promise<T>): Promise<T> =>
      working(async () => {
        if (!gate.isVerified()) throw new Error('the journal is not verified');
        return work();
      }),

    wake: (): Promise<void> =>
      working(async () => {
        // Rows of an unverified journal are not processed.
        if (!gate.isVerified()) return;
        journal.purge(now());
        await Promise.all(modules.map(([name, module]) => attempt(name, module.onCron?.(), 0)));
      }),

    async alarm(): Promise<void> {
      await storage.setAlarm(now() + SAFETY_MS);
      await gate.verify();
      if (gate.isVerified()) {
        await p.executor.driveDue(DUE_PER_ALARM);
        await runModules();
      }
      ranAt = now();
      await publish();
    },
  };
}

const FIRST_RETRY_MS = 2_000;
/** Longest wait between two retries of the same work. */
const RAREST_RETRY_MS = 6 * 60_000;
/** Failures of one row or operation after which the operator is alerted. */
export const ALARM_FAILURES = 3;

/** Milliseconds until the next retry after this number of failures. */
export const retryAfter = (failures: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 30), RAREST_RETRY_MS);

/**
 * Books stored rows one by one and retries those whose booking throws.
 * @param p.read the oldest rows that await the booking, at most `limit`
 */
export function createRowRetries<T>(p: {
  readonly name: string;
  readonly read: (limit: number) => readonly T[];
  readonly idOf: (row: T) => string;
  readonly now: () => number;
  readonly log: Log;
}) {
  const { now, idOf } = p;
  const failing = new Map<string, { readonly failures: number; readonly until: number }>();

  /** Unix milliseconds before which a row is not retried; 0 when it may be booked now. */
  function waitsUntil(row: T): number {
    const until = failing.get(idOf(row))?.until ?? 0;
    return isTimeOver(until, RAREST_RETRY_MS, now()) ? 0 : until;
  }

  return {
    /** Books each row that is due, at most `limit`. */
    run(limit: number, book: (row: T) => void): void {
      const rows = p.read(limit + failing.size).filter((row) => waitsUntil(row) === 0);
      for (const row of rows.slice(0, limit)) {
        const id = idOf(row);
        try {
          book(row);
          failing.delete(id);
        } catch (error) {
          const failures = (failing.get(id)?.failures ?? 0) + 1;
          failing.set(id, { failures, until: now() + retryAfter(failures) });
          const level = failures === ALARM_FAILURES ? 'alarm' : 'warn';
          p.log({
            level,
            event: 'booking_failed',
            booking: p.name,
            row: id,
            error: String(error).slice(0, 200),
          });
        }
      }
    },

    /** When a row is next to be booked, Unix milliseconds; undefined when none waits. */
    nextAt(): number | undefined {
      const waits = p.read(1 + failing.size).map(waitsUntil);
      return waits.length === 0 ? undefined : Math.max(Math.min(...waits), now());
    },
  };
}
