/**
 * Transactions that nodes list and that have not been read yet. Each is queued, read and recorded once. A transaction
 * that cannot be read is retried and does not block others.
 * @module
 */
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import { type Backoff, failureFacts } from '../kernel/agenda.ts';
import { orUnreadable } from '../nodes/history.ts';
import type { Undecided } from './confirm.ts';
import type { PaymentContext } from './context.ts';

/** Number of transactions that one run of the search may still read. */
export type RunBudget = { reads: number };

/** A part of a run starts no more reads after this many milliseconds, because the timer's other work is waiting. */
export const PART_MS = 2_000;

/**
 * Maximum queued transactions for each node. At this limit, further entries of its list are queued only after some have
 * been read.
 */
const MAX_QUEUED = 20_000;
/** Agenda name of transactions whose first read failed. */
export const UNREAD = 'unread';
/** Waits between checks of a transaction that cannot be read or decided yet. */
const LOOKS: Backoff = { first: 2_000, most: HOUR_MS };
/**
 * Waits between checks after `LIFE_MS`. The checks go on, because a later release may read or record the transaction.
 */
const LATE_LOOKS: Backoff = { first: DAY_MS, most: DAY_MS };
/** Number of reads that one run of the timer starts at once. */
export const READ_AGAIN = 8;
/** Other nodes may just be behind, so a transaction is reported after this many checks: about four minutes. */
const LOOKS_BEFORE_ALARM = 7;
/** A transaction that nodes list but no quorum returns within this time was dropped or invented. */
const LIFE_MS = { absent: DAY_MS, waiting: 30 * DAY_MS, undecided: 30 * DAY_MS } as const;

const STATES = {
  absent: 'absent',
  unreadable: 'waiting',
  may_be_returned: 'undecided',
  request_changed: 'undecided',
} as const;

type QueueContext = Pick<
  PaymentContext,
  'agenda' | 'storage' | 'treasury' | 'treasuryAddress' | 'transaction' | 'now' | 'log'
>;

export type Book = (transaction: ChainTransaction) => Promise<Undecided | undefined>;

export class UnreadTransactions {
  readonly #context: QueueContext;
  readonly #book: Book;

  constructor(context: QueueContext, book: Book) {
    this.#context = context;
    this.#book = book;
  }

  /**
   * Reads a listed transaction and records it, or plans the next read.
   * @param source the node that listed it
   * @returns false if the read failed
   */
  async read(signature: string, source: string): Promise<boolean> {
    const { agenda } = this.#context;
    let transaction: ChainTransaction | null | 'unreadable';
    try {
      transaction = await orUnreadable(this.#context.transaction(signature));
    } catch (error) {
      this.#failed(signature, source, error);
      return false;
    }
    try {
      const why = transaction === 'unreadable' ? transaction : await this.#bookShown(transaction);
      if (why) this.#lookAgain(signature, source, why);
      else {
        agenda.plan(UNREAD, signature, null);
        this.#context.treasury.deleteUnread(signature);
      }
    } catch (error) {
      // A mint may change so often that a quorum of nodes never shows the same state. Other payments must not wait for
      // it.
      this.#failed(signature, source, error);
    }
    return true;
  }

  async #bookShown(transaction: ChainTransaction | null): Promise<'absent' | Undecided | undefined> {
    // For the same signature, a node may show an earlier no-op (SIMD-0290) instead of the listed success.
    return transaction === null || transaction.failed ? 'absent' : this.#book(transaction);
  }

  #failed(signature: string, source: string, error: unknown): void {
    const failures = this.#context.agenda.failed(UNREAD, signature, failureFacts(error));
    this.#keep(signature, source, 'waiting', failures);
  }

  /**
   * Anyone can send a transaction of an unreadable version, and a node can invent entries. So neither is treated as a
   * failure.
   */
  #lookAgain(signature: string, source: string, why: 'unreadable' | 'absent' | Undecided): void {
    const { agenda, log } = this.#context;
    const looks = agenda.postpone(UNREAD, signature, LOOKS);
    // A version stays unreadable until the code changes. In all other cases, a node may just be lagging.
    if (looks === (why === 'unreadable' ? 1 : LOOKS_BEFORE_ALARM))
      log({ level: 'alarm', event: 'payment_unbooked', signature, error: why });
    this.#keep(signature, source, STATES[why], looks);
  }

  /**
   * After its life, an absent transaction is forgotten. Any other may be a payment, which `ops unmatched` shows, so it
   * is read once a day from then on.
   */
  #keep(signature: string, source: string, state: keyof typeof LIFE_MS, count: number): void {
    const { agenda, treasury, now } = this.#context;
    const { firstAt = now(), finalAt = now() } = treasury.unread(signature) ?? {};
    // Age alone is not enough: a clock that jumps ahead by a day makes every row a day old at once.
    const isOver = now() - firstAt > LIFE_MS[state] && count > LOOKS_BEFORE_ALARM;
    if (isOver && state === 'absent') {
      agenda.plan(UNREAD, signature, null);
      treasury.deleteUnread(signature);
      return;
    }
    if (isOver) agenda.postpone(UNREAD, signature, LATE_LOOKS);
    treasury.putUnread({ signature, source, state, finalAt, firstAt });
  }

  /**
   * True if the transaction has been read, or if a failed read will be repeated. False while it only waits in the
   * queue.
   */
  isKnown(signature: string): boolean {
    const { treasury, treasuryAddress } = this.#context;
    return (
      treasury.hasRecord(signature, treasuryAddress) ||
      (treasury.unread(signature)?.state ?? 'queued') !== 'queued'
    );
  }

  /**
   * Queues the transactions of a node's list that have not been read yet.
   * @param since Unix milliseconds; a transaction without a block time is treated as final since then
   * @returns false, and queues nothing, while the queue of this node is full
   */
  queue(entries: readonly SignatureEntry[], source: string, since: number): boolean {
    const { treasury, treasuryAddress, storage, now } = this.#context;
    const fresh = entries.filter(
      ({ err, signature }) => err === null && !treasury.hasRecord(signature, treasuryAddress),
    );
    if (treasury.countQueued(source) + fresh.length > MAX_QUEUED) return false;
    const at = now();
    storage.transaction(() => {
      for (const { signature, blockTime } of fresh.toReversed()) {
        const { state } = treasury.unread(signature) ?? { state: 'queued' };
        const finalAt = blockTime === null ? Math.min(since, at) : blockTime * 1_000;
        treasury.putUnread({ signature, source, state, finalAt, firstAt: at });
      }
    });
    return true;
  }

  /** Reads the newest and the oldest queued transactions of each node, up to the first read that fails. */
  async readQueue(budget: RunBudget): Promise<void> {
    const { treasury, now } = this.#context;
    const until = now() + PART_MS;
    const sources = new Set(treasury.queuedSources());
    if (sources.size === 0) return;
    const share = Math.max(Math.floor(budget.reads / (2 * sources.size)), 1);
    // The nodes take turns, two transactions each. A node's invented entries must not use up the time of the other
    // nodes, and a failed read must not end their turns.
    for (let turn = 0; turn < share; turn++)
      for (const source of sources)
        for (const signature of treasury.endsOfQueue(source)) {
          if (treasury.unread(signature)?.state !== 'queued') continue;
          if (now() > until) return;
          budget.reads--;
          if (await this.read(signature, source)) continue;
          sources.delete(source);
          break;
        }
  }

  async readAgain(signatures: readonly string[]): Promise<void> {
    const { agenda, treasury } = this.#context;
    await Promise.all(
      signatures.map(async (signature) => {
        const known = treasury.unread(signature);
        if (known) await this.read(signature, known.source);
        // The transaction was confirmed or dropped in the meantime.
        else agenda.plan(UNREAD, signature, null);
      }),
    );
  }
}
