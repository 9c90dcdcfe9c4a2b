/**
 * Searches the chain for payments: first by reference, then by the walk over the treasury, within one budget
 * of calls.
 * @module
 */
import { DAY_MS, HOUR_MS } from '../../core/limits.ts';
import type { Journal } from '../kernel/journal.ts';
import type { Log } from '../kernel/ports.ts';
import { dueTime } from '../kernel/row-retries.ts';
import type { Booking } from './booking.ts';
import { createReferenceChecks } from './reference-checks.ts';
import type { ReferenceStore } from './reference-store.ts';
import type { RequestStore } from './request-store.ts';
import { createTreasuryWalk, type TreasuryNode } from './treasury-walk.ts';

/** Transactions that one run reads for references and walk together. Each costs one call per node. */
const READS_PER_RUN = 40;
const RETRIES_PER_RUN = 20;
/**
 * Intervals between cron runs (the cron wakes the custodian once a minute): while a request is open, for a
 * day after the last one closed, and while any request is stored.
 */
const OPEN_RUN_MS = 5_000;
const LATE_RUN_MS = 10 * 60_000;
const KEPT_RUN_MS = HOUR_MS;
const LATE_FOR_MS = DAY_MS;
/** Intervals between alarm runs: for a request that a caller reads, and while the walk is behind. */
const READ_RUN_MS = 2_000;
const BEHIND_RUN_MS = 10_000;
/**
 * The alarm searches when the cron is this late. Each run postpones it, so it never fires while the cron
 * works.
 */
const CRON_PATIENCE_MS = 10 * 60_000;
/** A payment is final and in its node's list at most this long after its block time. */
const FINALITY_MS = 30_000;
/** The first walk of a journal goes back at most this far: older requests have expired. */
const FIRST_WALK_MS = 8 * DAY_MS;

export type PaymentSearchPorts = {
  readonly journal: Journal;
  readonly store: RequestStore;
  readonly references: ReferenceStore;
  readonly booking: Booking;
  readonly nodes: readonly TreasuryNode[];
  readonly treasuryAddress: string;
  readonly now: () => number;
  readonly log: Log;
};

export function createPaymentSearch(p: PaymentSearchPorts) {
  const { store, now } = p;
  const walk = createTreasuryWalk(p);
  const references = createReferenceChecks(p);
  let lastRun = 0;
  /** Start of the last run that read the head of a node's list. */
  let lastRead = 0;

  /** Interval between cron runs; undefined while no payment is expected. */
  function cronInterval(): number | undefined {
    if (store.newestOpen() !== undefined) return OPEN_RUN_MS;
    const closed = store.lastClosing();
    if (closed === undefined) return undefined;
    return closed + LATE_FOR_MS < now() ? KEPT_RUN_MS : LATE_RUN_MS;
  }

  /** Interval between alarm runs; undefined while no payment is expected. */
  function alarmInterval(): number | undefined {
    if (references.isAsked()) return READ_RUN_MS;
    if (walk.behindSince() !== null) return store.newestOpen() === undefined ? BEHIND_RUN_MS : READ_RUN_MS;
    const cron = cronInterval();
    return cron === undefined ? undefined : cron + CRON_PATIENCE_MS;
  }

  const after = (interval: number | undefined): number | undefined =>
    interval === undefined ? undefined : dueTime(lastRun + interval, interval, now());

  return {
    /** Unix milliseconds up to which every payment has been read. */
    readUntil(): number {
      // A later time was taken before the clock went back: no time of this clock is known to be read.
      if (lastRead > now()) lastRead = 0;
      return Math.min(walk.behindSince() ?? now(), lastRead - FINALITY_MS);
    },

    /** When the alarm must run the search, in Unix milliseconds; undefined while no payment is expected. */
    nextRunAt: (): number | undefined => after(alarmInterval()),

    /** When the cron searches next, in Unix milliseconds; undefined while no payment is expected. */
    nextCronRunAt: (): number | undefined => after(cronInterval()),

    /** Schedules an early check of a request's reference, because a caller reads the request. */
    askFor: references.askFor,

    async run(by: 'alarm' | 'cron'): Promise<void> {
      lastRun = now();
      const budget = { reads: READS_PER_RUN };
      await references.run(budget, by);
      const oldest = store.oldestRequest() ?? now();
      const startedAt = now();
      if (await walk.run(Math.max(oldest, now() - FIRST_WALK_MS), budget)) lastRead = startedAt;
      await p.booking.retry(RETRIES_PER_RUN);
    },
  };
}
