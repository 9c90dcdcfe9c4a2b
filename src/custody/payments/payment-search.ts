/**
 * Searches the chain for payments within one budget of calls: first by reference, then by the treasury walk.
 * @module
 */
import { isTimeOver } from '../../core/due-time.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import { forCaller } from '../../providers/admission.ts';
import type { Work } from '../kernel/module.ts';
import { pagesDown } from '../nodes/history.ts';
import { quorumOf } from '../nodes/quorum.ts';
import { bookPayment } from './confirm.ts';
import type { PaymentContext, TreasuryNode } from './context.ts';
import type { PaymentRequest } from './request-store.ts';
import { TreasuryWalk } from './treasury-walk.ts';
import { PART_MS, READ_AGAIN, type RunBudget, UnreadTransactions } from './unread.ts';

/** Maximum transactions that one run reads, for references and the walk together. Each costs one call per node. */
const READS_PER_RUN = 40;
/** Intervals of cron searches: while a request is open, for a day after that, and while any request is stored. */
const OPEN_RUN_MS = 5_000;
const LATE_RUN_MS = 10 * 60_000;
const KEPT_RUN_MS = HOUR_MS;
const LATE_FOR_MS = DAY_MS;
/** Intervals between timer runs: for a request that a caller reads, and while the walk is behind. */
const READ_RUN_MS = 2_000;
const BEHIND_RUN_MS = 10_000;
/** If the cron has not run a search for this long, the object's timer runs one. */
const CRON_PATIENCE_MS = 10 * 60_000;
/** A payment is final and in its node's list at most this long after its block time. */
const FINALITY_MS = 30_000;
export const SEARCH = 'search';
/** Start or end of the last search. */
const LAST_RUN = 'payment_search_at';
/** Start of the last walk in which a node returned a complete list of a treasury. */
const listedAt = (treasury: string, nodeId: string): string => `treasury_listed:${treasury}:${nodeId}`;
/** The first walk of a journal goes back at most this far, because older requests have expired. */
const FIRST_WALK_MS = 8 * DAY_MS;

export class PaymentSearch {
  readonly #context: PaymentContext;
  readonly #unread: UnreadTransactions;
  readonly #walk: TreasuryWalk;
  readonly #references: ReferenceChecks;

  constructor(context: PaymentContext) {
    this.#context = context;
    this.#unread = new UnreadTransactions(context, (transaction) => bookPayment(context, transaction));
    this.#walk = new TreasuryWalk(context, this.#unread);
    this.#references = new ReferenceChecks(context, this.#unread);
  }

  /** Reads again the transactions whose first read failed. Like a search, it uses the callers' budget. */
  readonly readAgain: Work = {
    limit: READ_AGAIN,
    due: (limit) => this.#context.treasury.dueUnread(this.#context.now(), limit),
    run: (signatures) => forCaller(null, () => this.#unread.readAgain(signatures)),
  };

  /**
   * Time in Unix milliseconds. Up to it, a quorum of nodes has listed every payment to the treasury, and all payments
   * in these lists have been read. So a node that invents transactions cannot keep requests open.
   */
  readUntil(): number {
    const { journal, nodes, treasury, treasuryAddress, now } = this.#context;
    const reached = nodes.map(({ id, name }) => {
      const listed = journal.getTime(listedAt(treasuryAddress, id));
      // A time in the future was stored before the clock went back, so it does not show what has been read.
      return Math.min(treasury.unreadFrom(name) ?? now(), listed > now() ? 0 : listed);
    });
    return (reached.toSorted((one, other) => other - one)[quorumOf(nodes.length) - 1] ?? 0) - FINALITY_MS;
  }

  /**
   * Whether the cron runs the search. The object is evicted between two runs, so the time of the last run is stored.
   */
  isDue(): boolean {
    const interval = this.#cronInterval();
    return (
      interval !== undefined &&
      isTimeOver(this.#context.journal.getTime(LAST_RUN) + interval, interval, this.#context.now())
    );
  }

  /** Plans the next search by the object's timer. Call after each change that affects its time. */
  plan(): void {
    const interval = this.#alarmInterval();
    const at = this.#context.journal.getTime(LAST_RUN) + (interval ?? 0);
    this.#context.agenda.plan(
      SEARCH,
      'treasury',
      interval === undefined ? null : Math.min(at, this.#context.now() + interval),
    );
  }

  /** Plans an early check of a request's reference, because a caller reads the request. */
  askFor(id: string): boolean {
    if (!this.#references.askFor(id)) return false;
    this.plan();
    return true;
  }

  /** Strangers can lengthen a search with open requests and small payments, so its calls use the callers' budget. */
  async run(by: 'alarm' | 'cron'): Promise<void> {
    const { journal, now } = this.#context;
    journal.setTime(LAST_RUN, now());
    try {
      await forCaller(null, () => this.#search(by));
    } finally {
      // A search may wait so long for calls to the nodes that the next search would already be due.
      journal.setTime(LAST_RUN, now());
    }
  }

  async #search(by: 'alarm' | 'cron'): Promise<void> {
    const budget = { reads: READS_PER_RUN };
    await this.#references.run(budget, by);
    const oldest = this.#context.requests.oldestRequest() ?? this.#context.now();
    const startedAt = this.#context.now();
    const since = Math.max(oldest, this.#context.now() - FIRST_WALK_MS);
    const { journal, treasuryAddress } = this.#context;
    for (const id of await this.#walk.run(since, budget))
      journal.setTime(listedAt(treasuryAddress, id), startedAt);
  }

  #cronInterval(): number | undefined {
    if (this.#context.requests.newestOpen() !== undefined) return OPEN_RUN_MS;
    const closed = this.#context.requests.lastClosing();
    if (closed === undefined) return undefined;
    return closed + LATE_FOR_MS < this.#context.now() ? KEPT_RUN_MS : LATE_RUN_MS;
  }

  #alarmInterval(): number | undefined {
    if (this.#references.isAsked()) return READ_RUN_MS;
    if (this.#context.treasury.queued(this.#context.now()))
      return this.#context.requests.newestOpen() === undefined ? BEHIND_RUN_MS : READ_RUN_MS;
    const cron = this.#cronInterval();
    return cron === undefined ? undefined : cron + CRON_PATIENCE_MS;
  }
}

/** Maximum requests that one run checks in each group: those that callers read, the most overdue, and the newest. */
const ASKED_PER_RUN = 8;
const OVERDUE_PER_RUN = { alarm: 4, cron: 20 };
const NEWEST_PER_RUN = 4;
/** Maximum pages that are read of one reference's list. A longer list was flooded on purpose. */
const MAX_PAGES = 5;
/**
 * Maximum transactions that one run reads for a reference, so that a flooded reference does not delay other requests.
 */
const READS_PER_REFERENCE = 5;
const ASKED_CHECK_MS = 4_000;
const MAX_ASKED = 500;
/** Finds payments by the references of open requests, so other transfers to the treasury cannot hide them. */
class ReferenceChecks {
  readonly #context: PaymentContext;
  readonly #unread: UnreadTransactions;
  #turn = 0;
  /** Requests that callers have read since their last check, in the order of these reads. */
  readonly #asked = new Set<string>();

  constructor(context: PaymentContext, unread: UnreadTransactions) {
    this.#context = context;
    this.#unread = unread;
  }

  isAsked(): boolean {
    return this.#asked.size > 0;
  }

  /** Plans an early check of an open request's reference; false if a check was recently made or planned. */
  askFor(id: string): boolean {
    if (this.#asked.has(id) || this.#asked.size >= MAX_ASKED || !this.#isDue(id)) return false;
    this.#asked.add(id);
    return true;
  }

  async run(budget: RunBudget, by: 'alarm' | 'cron'): Promise<void> {
    const until = this.#context.now() + PART_MS;
    for (const request of this.#due(by).values()) {
      const node = this.#context.nodes[this.#turn++ % this.#context.nodes.length];
      if (!node || budget.reads <= 0 || this.#context.now() > until) return;
      this.#markChecked(request);
      await this.#check(request, node, budget, until).catch((error: unknown) => {
        this.#context.log({
          level: 'warn',
          event: 'reference_check_failed',
          node: node.name,
          reason: failureReason(error),
        });
      });
    }
  }

  #isDue(id: string): boolean {
    const { requests, now } = this.#context;
    return isTimeOver(requests.checkedAt(id) + ASKED_CHECK_MS, ASKED_CHECK_MS, now());
  }

  /** Reads one node's list for a reference; the next check uses the next node. */
  async #check(
    { reference }: PaymentRequest,
    node: TreasuryNode,
    budget: RunBudget,
    until: number,
  ): Promise<void> {
    let reads = Math.min(READS_PER_REFERENCE, budget.reads);
    const read = (page: { limit: number; before?: string }) =>
      node.signaturesFor(reference, { ...page, commitment: 'finalized' });
    for await (const { entries } of pagesDown(read, MAX_PAGES)) {
      for (const { signature, err } of entries) {
        if (err !== null || this.#unread.isKnown(signature)) continue;
        if (reads === 0) return;
        reads--;
        budget.reads--;
        if (!(await this.#unread.read(signature, node.name))) return;
      }
      if (this.#context.now() > until) return;
    }
  }

  /** The requests of one run: those that callers read, the most overdue, and the newest. */
  #due(by: 'alarm' | 'cron'): Map<string, PaymentRequest> {
    const found = new Map<string, PaymentRequest>();
    const { requests: store } = this.#context;
    for (const id of this.#asked) {
      if (found.size >= ASKED_PER_RUN) break;
      const request = store.get(id);
      if (request?.state !== 'open') this.#asked.delete(id);
      else if (this.#isDue(id)) found.set(id, request);
    }
    const others = [...store.leastChecked(OVERDUE_PER_RUN[by]), ...store.newest(NEWEST_PER_RUN)];
    for (const request of others) if (this.#isDue(request.id)) found.set(request.id, request);
    return found;
  }

  #markChecked({ id }: PaymentRequest): void {
    this.#asked.delete(id);
    this.#context.requests.noteChecked(id, this.#context.now());
  }
}
