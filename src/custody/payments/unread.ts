/**
 * Transactions that nodes list and that were not read yet: each is queued, read, and booked once. One that cannot be read is
 * retried, so that it does not block others.
 * @module
 */
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import { type Backoff, backoff } from '../kernel/agenda.ts';
import { orUnreadable } from '../kernel/solana-view.ts';
import type { CheckedPurchase, Undecided } from './confirm.ts';
import type { PaymentContext } from './context.ts';
import type { Queued } from './treasury-store.ts';

/** Transactions that one run of the search may still read. */
export type RunBudget = { reads: number };

/** Each part of a run begins no read after this time in milliseconds, because other work of the alarm waits for the run. */
export const PART_MS = 2_000;

/** Transactions per node that were never read. At this limit the node's list waits. */
const MAX_QUEUED = 20_000;
/** Transactions per node that no quorum shows. Above this limit those that were tried most often are dropped. */
export const MAX_ABSENT = 1_000;
const RETRIES: Backoff = { first: 2_000, most: HOUR_MS };
/** An unread transaction is reported once it has been retried for about four minutes. */
const TRIES_BEFORE_ALARM = 7;
/** A transaction that nodes list but no quorum returns within this time was dropped or invented. */
const ABSENT_LIFE_MS = DAY_MS;
const UNREAD_LIFE_MS = 30 * DAY_MS;

/** Why a transaction is not booked, and the text that is stored and logged. */
type Unread = {
  readonly why: 'upstream' | 'unreadable' | 'absent' | 'listing' | 'unbooked' | Undecided;
  readonly text: string;
};
const plainly = (why: Unread['why']): Unread => ({ why, text: why });

type QueueContext = Pick<PaymentContext, 'storage' | 'treasury' | 'transaction' | 'now' | 'log'>;

/** How a finalized transaction is booked (`confirm.ts`). */
export type Purchases = {
  check(transaction: ChainTransaction): Promise<CheckedPurchase | undefined>;
  book(transaction: ChainTransaction, checked: CheckedPurchase | undefined): Undecided | undefined;
};

export class UnreadTransactions {
  readonly #context: QueueContext;
  readonly #purchases: Purchases;

  constructor(context: QueueContext, purchases: Purchases) {
    this.#context = context;
    this.#purchases = purchases;
  }

  /** Reads and books one transaction. Returns why it is not booked. */
  async #attempt(signature: string): Promise<Unread | undefined> {
    let transaction: ChainTransaction | null | 'unreadable';
    try {
      transaction = await orUnreadable(this.#context.transaction(signature));
    } catch (error) {
      return { why: 'upstream', text: `upstream_${failureReason(error)}` };
    }
    if (transaction === 'unreadable') return plainly('unreadable');
    // A node may show an earlier no-op of the same bytes (SIMD-0290) in place of the listed success.
    if (transaction === null || transaction.failed) return plainly('absent');
    let checked: CheckedPurchase | undefined;
    try {
      checked = await this.#purchases.check(transaction);
    } catch (error) {
      // A mint may change so often that no quorum sees it. Other payments must not wait for it.
      return { why: 'listing', text: `listing_${failureReason(error)}` };
    }
    try {
      const undecided = this.#purchases.book(transaction, checked);
      return undecided && plainly(undecided);
    } catch (error) {
      return { why: 'unbooked', text: `unbooked: ${String(error).slice(0, 200)}` };
    }
  }

  #postpone(signature: string, source: string, { why, text: reason }: Unread): void {
    const known = this.#context.treasury.unread(signature);
    const tries = (known?.tries ?? 0) + 1;
    const firstAt = known?.firstAt ?? this.#context.now();
    const life = why === 'absent' ? ABSENT_LIFE_MS : UNREAD_LIFE_MS;
    // Age alone is not enough: a clock that jumps ahead by a day makes every row old at once.
    if (this.#context.now() - firstAt > life && tries > TRIES_BEFORE_ALARM) {
      this.#context.treasury.deleteUnread(signature);
      return;
    }
    // An unreadable version or a failed booking lasts until the code changes; other failures may be a lagging
    // node.
    const isLasting = why === 'unreadable' || why === 'unbooked';
    if (tries === (isLasting ? 1 : TRIES_BEFORE_ALARM))
      this.#context.log({ level: 'alarm', event: 'payment_unbooked', signature, error: reason });
    const dueAt = this.#context.now() + backoff(tries, RETRIES);
    const finalAt = known?.finalAt ?? firstAt;
    this.#context.treasury.putUnread({ signature, source, reason, tries, finalAt, firstAt, dueAt });
  }

  /** Whether a transaction was read, or a read has failed and will be repeated. One that is only queued is not known. */
  isKnown(signature: string): boolean {
    const { treasury } = this.#context;
    return treasury.purposeOf(signature) !== undefined || (treasury.unread(signature)?.tries ?? 0) > 0;
  }

  /** Whether a quorum of nodes has shown a listed transaction. */
  isShown({ signature, slot }: SignatureEntry): boolean {
    return this.#context.treasury.isShown(signature, slot);
  }

  /**
   * Queues the transactions of a node's list that were not read yet.
   * @param since Unix milliseconds; a transaction without a block time was not final before
   * @returns false, and queues nothing, while the queue of this node is full
   */
  queue(entries: readonly SignatureEntry[], source: string, since: number): boolean {
    const { treasury, storage, now } = this.#context;
    const fresh = entries.filter(
      ({ err, signature }) => err === null && treasury.purposeOf(signature) === undefined,
    );
    if (treasury.countQueued(source) + fresh.length > MAX_QUEUED) return false;
    const at = now();
    storage.transaction(() => {
      for (const { signature, blockTime } of fresh.toReversed()) {
        const { reason, tries, dueAt } = treasury.unread(signature) ?? { reason: 'new', tries: 0, dueAt: at };
        const finalAt = blockTime === null ? Math.min(since, at) : blockTime * 1_000;
        treasury.putUnread({ signature, source, reason, tries, finalAt, firstAt: at, dueAt });
      }
    });
    return true;
  }

  /** What is queued and was never read; undefined if nothing. */
  queued(): Queued | undefined {
    return this.#context.treasury.queued(this.#context.now());
  }

  /** Reads the newest and the oldest queued transactions of each node. Stops while the nodes fail. */
  async readQueue(budget: RunBudget): Promise<void> {
    const { treasury, now } = this.#context;
    const until = now() + PART_MS;
    const sources = treasury.queuedSources();
    if (sources.length === 0) return;
    const share = Math.max(Math.floor(budget.reads / (2 * sources.length)), 1);
    // Two of each node in turn: a node that invents transactions must not use up the time of the others.
    for (let turn = 0; turn < share; turn++)
      for (const source of sources)
        for (const signature of treasury.endsOfQueue(source)) {
          if (treasury.unread(signature)?.tries !== 0) continue;
          if (now() > until) return;
          budget.reads--;
          if ((await this.read(signature, source)) === 'stop') return;
        }
  }

  /**
   * Reads a listed transaction and books it, or records it for a retry.
   * @param source the node that listed it
   * @returns `stop` if the nodes fail: each further read would fail too
   */
  async read(signature: string, source: string): Promise<'read' | 'stop'> {
    const unread = await this.#attempt(signature);
    if (unread === undefined) {
      this.#context.treasury.deleteUnread(signature);
      return 'read';
    }
    this.#postpone(signature, source, unread);
    return unread.why === 'upstream' ? 'stop' : 'read';
  }

  /** Drops transactions of a node that no quorum shows, if there are too many. Returns whether it dropped any. */
  trimAbsent(source: string): boolean {
    return this.#context.treasury.trimAbsent(source, MAX_ABSENT);
  }

  /** Retries unread transactions that are due. */
  async retry(limit: number): Promise<void> {
    const until = this.#context.now() + PART_MS;
    for (const { signature, source } of this.#context.treasury.unreadDue(
      this.#context.now(),
      RETRIES.most,
      limit,
    )) {
      if (this.#context.now() > until) return;
      const unread = await this.#attempt(signature);
      if (unread === undefined) this.#context.treasury.deleteUnread(signature);
      else this.#postpone(signature, source, unread);
    }
  }
}
