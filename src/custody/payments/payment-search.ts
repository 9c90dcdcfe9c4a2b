/**
 * Searches the chain for payments: by reference first, then by the walk over the treasury, within one budget of calls.
 * @module
 */
import { DAY_MS } from '../../core/limits.ts';
import type { Journal } from '../kernel/journal.ts';
import type { Log } from '../kernel/ports.ts';
import type { Booking } from './booking.ts';
import { createReferenceChecks } from './reference-checks.ts';
import type { ReferenceStore } from './reference-store.ts';
import type { RequestStore } from './request-store.ts';
import { createTreasuryWalk, type TreasuryNode } from './treasury-walk.ts';

/** Transactions that one run reads, shared between references and walk. Each costs one call per node. */
const READS_PER_RUN = 40;
const RETRIES_PER_RUN = 2;
/** Between runs: while a request is new or the walk is behind, while one is open, and for late payments. */
const NEW_RUN_MS = 2_000;
const OPEN_RUN_MS = 10_000;
const LATE_RUN_MS = 10 * 60_000;
const NEW_FOR_MS = 5 * 60_000;
/** A payment that arrives this long after its request closed is still found in the background. */
const LATE_FOR_MS = DAY_MS;
/** The first walk of a journal goes back this far at most: older requests are gone. */
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

  function interval(): number | undefined {
    const newest = store.newestOpen();
    const isBehind = walk.behindSince() !== null;
    if (newest !== undefined) return isBehind || now() - newest < NEW_FOR_MS ? NEW_RUN_MS : OPEN_RUN_MS;
    const closed = store.lastClosing();
    if (closed === undefined || closed + LATE_FOR_MS < now()) return undefined;
    return isBehind ? OPEN_RUN_MS : LATE_RUN_MS;
  }

  return {
    /** Unix milliseconds up to which every payment has been read. */
    readUntil: (): number => walk.behindSince() ?? now(),

    /** Unix milliseconds; undefined while no payment can be expected. */
    nextRunAt(): number | undefined {
      const wait = interval();
      return wait === undefined ? undefined : lastRun + wait;
    },

    async run(): Promise<void> {
      lastRun = now();
      const budget = { reads: READS_PER_RUN };
      await references.run(budget);
      const oldest = store.oldestRequest() ?? now();
      await walk.run(Math.max(oldest, now() - FIRST_WALK_MS), budget);
      await p.booking.retry(RETRIES_PER_RUN);
    },
  };
}
