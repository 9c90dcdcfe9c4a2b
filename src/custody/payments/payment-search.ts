/**
 * Searches the chain for payments: first by reference, then by the walk over the treasury, within one budget
 * of calls.
 * @module
 */
import { dueTime, isTimeOver } from '../../core/due-time.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import type { Journal } from '../kernel/journal.ts';
import type { Log } from '../kernel/ports.ts';
import type { Booking } from './booking.ts';
import type { PaymentRequest, ReferenceStore, RequestStore } from './request-store.ts';
import { type Budget, createTreasuryWalk, type TreasuryNode } from './treasury-walk.ts';

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
/** When the last search began, and when the last one began that read the head of a node's list. */
const LAST_RUN = 'payment_search_at';
const LAST_READ = 'payment_search_read_at';
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
  // Stored: the object is evicted between two runs of the cron.
  const { journal } = p;

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
    if (walk.readUntil() !== null) return store.newestOpen() === undefined ? BEHIND_RUN_MS : READ_RUN_MS;
    const cron = cronInterval();
    return cron === undefined ? undefined : cron + CRON_PATIENCE_MS;
  }

  const after = (interval: number | undefined): number | undefined =>
    interval === undefined ? undefined : dueTime(journal.getTime(LAST_RUN) + interval, interval, now());

  return {
    /** Unix milliseconds up to which every payment has been read. */
    readUntil(): number {
      // A time in the future was stored before the clock went back, so it does not show what has been read.
      const lastRead = journal.getTime(LAST_READ);
      return Math.min(walk.readUntil() ?? now(), lastRead > now() ? 0 : lastRead) - FINALITY_MS;
    },

    /** When the alarm must run the search, in Unix milliseconds; undefined while no payment is expected. */
    nextRunAt: (): number | undefined => after(alarmInterval()),

    /** When the cron searches next, in Unix milliseconds; undefined while no payment is expected. */
    nextCronRunAt: (): number | undefined => after(cronInterval()),

    /** Schedules an early check of a request's reference, because a caller reads the request. */
    askFor: references.askFor,

    async run(by: 'alarm' | 'cron'): Promise<void> {
      journal.setTime(LAST_RUN, now());
      const budget = { reads: READS_PER_RUN };
      await references.run(budget, by);
      const oldest = store.oldestRequest() ?? now();
      const startedAt = now();
      if (await walk.run(Math.max(oldest, now() - FIRST_WALK_MS), budget))
        journal.setTime(LAST_READ, startedAt);
      await p.booking.retry(RETRIES_PER_RUN);
    },
  };
}

/**
 * Requests that one run checks: those that callers read, the most overdue and the newest. Each group has its
 * own share.
 */
const ASKED_PER_RUN = 8;
const OVERDUE_PER_RUN = { alarm: 4, cron: 20 };
const NEWEST_PER_RUN = 4;
/**
 * One list costs one call at any length. A reference with more entries than all pages was flooded on purpose.
 */
const PAGE = 1_000;
const MAX_PAGES = 5;
/**
 * Transactions of one reference that one run reads, so that a flooded reference does not delay other
 * requests.
 */
const READS_PER_REFERENCE = 5;
/** Interval between checks of a request that callers read. */
const ASKED_CHECK_MS = 4_000;
/** Maximum requests that await such a check. */
const MAX_ASKED = 500;
/** Intervals between checks of a request that is not read: while it is new, and later. */
const FIRST_CHECK_MS = 4_000;
const RAREST_CHECK_MS = 60_000;

export type ReferenceChecksPorts = {
  readonly references: ReferenceStore;
  readonly booking: Pick<Booking, 'isKnown' | 'read'>;
  readonly nodes: readonly TreasuryNode[];
  readonly now: () => number;
  readonly log: Log;
};

/**
 * Finds payments by the Solana Pay reference of each open request. Only transactions that contain the reference are
 * listed, so other transfers to the treasury cannot hide such a payment.
 */
export function createReferenceChecks(p: ReferenceChecksPorts) {
  const { references, booking, now } = p;
  let turn = 0;
  /** Requests that a caller has read since their last check, in the order of the reads. */
  const asked = new Set<string>();
  /** When each of these requests was last checked, in Unix milliseconds. */
  const checkedAt = new Map<string, number>();

  const isDue = (id: string): boolean =>
    isTimeOver((checkedAt.get(id) ?? 0) + ASKED_CHECK_MS, ASKED_CHECK_MS, now());

  /** Reads one node's list for a reference; the next check uses the next node. */
  async function check({ reference }: PaymentRequest, node: TreasuryNode, budget: Budget): Promise<void> {
    let reads = Math.min(READS_PER_REFERENCE, budget.reads);
    let before: string | undefined;
    for (let pages = 0; pages < MAX_PAGES && reads > 0; pages++) {
      const page = await node.signatures(reference, {
        limit: PAGE,
        ...(before === undefined ? {} : { before }),
      });
      for (const { signature, err } of page) {
        if (err !== null || booking.isKnown(signature)) continue;
        if (reads === 0) return;
        reads--;
        budget.reads--;
        if ((await booking.read(signature, node.name)) === 'stop') return;
      }
      before = page.at(-1)?.signature;
      if (page.length < PAGE) return;
    }
  }

  /** The requests of one run: those that callers read, the most overdue, and the newest. */
  function due(by: 'alarm' | 'cron'): Map<string, PaymentRequest> {
    const found = new Map<string, PaymentRequest>();
    for (const id of asked) {
      if (found.size >= ASKED_PER_RUN) break;
      const request = references.open(id);
      if (!request) asked.delete(id);
      else if (isDue(id)) found.set(id, request);
    }
    for (const request of references.overdue(now(), RAREST_CHECK_MS, OVERDUE_PER_RUN[by]))
      found.set(request.id, request);
    for (const request of references.newest(now(), RAREST_CHECK_MS, NEWEST_PER_RUN))
      found.set(request.id, request);
    return found;
  }

  function markChecked({ id, createdAt }: PaymentRequest): void {
    asked.delete(id);
    checkedAt.delete(id);
    checkedAt.set(id, now());
    for (const old of checkedAt.keys()) {
      if (checkedAt.size <= MAX_ASKED) break;
      checkedAt.delete(old);
    }
    const wait = Math.min(FIRST_CHECK_MS + Math.max(now() - createdAt, 0) / 8, RAREST_CHECK_MS);
    references.checkAt(id, Math.ceil(now() + wait));
  }

  return {
    /** Whether a request that a caller read awaits its check. */
    isAsked: (): boolean => asked.size > 0,

    /**
     * Schedules an early check of an open request's reference; false if one was recently made or requested.
     */
    askFor(id: string): boolean {
      if (asked.has(id) || asked.size >= MAX_ASKED || !isDue(id)) return false;
      asked.add(id);
      return true;
    },

    async run(budget: Budget, by: 'alarm' | 'cron'): Promise<void> {
      references.purge();
      for (const request of due(by).values()) {
        const node = p.nodes[turn++ % p.nodes.length];
        if (!node || budget.reads <= 0) return;
        markChecked(request);
        await check(request, node, budget).catch((error: unknown) => {
          p.log({
            level: 'warn',
            event: 'reference_check_failed',
            node: node.name,
            reason: failureReason(error),
          });
        });
      }
    },
  };
}
