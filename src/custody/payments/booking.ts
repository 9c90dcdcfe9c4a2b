/**
 * Reads finalized transactions and books each payment once. A transaction that cannot be read is recorded and
 * retried, so that it does not block others.
 * @module
 */
import type { ListingFacts } from '../../chain/solana/listed-token.ts';
import { lamportsChange } from '../../chain/solana/transaction.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import { type Backoff, backoff } from '../kernel/agenda.ts';
import type { ModuleTools } from '../kernel/module.ts';
import { orUnreadable } from '../kernel/solana-view.ts';
import { DUST } from './payment-matching.ts';
import type { PaymentPorts } from './payment-requests.ts';
import type { Queued, TreasuryPayment, TreasuryStore } from './treasury-store.ts';

export type BookingPorts = Pick<PaymentPorts, 'treasuryAddress' | 'transaction'> &
  Pick<ModuleTools, 'storage' | 'now' | 'log'> & {
    /** Whether an address is the reserve's, now or earlier. */
    readonly isReserve: (address: string) => boolean;
    readonly payments: TreasuryStore;
    /** Whether a transaction is from before the journal began anew. */
    readonly isOlder: (transaction: ChainTransaction) => boolean;
    /** Decides the purpose of a payment and books it, inside the storage transaction. */
    readonly take: (
      payment: TreasuryPayment,
      transaction: ChainTransaction,
      checked: CheckedListing | undefined,
    ) => BookingResult | Undecided;
    /** Reads the token that a payment would list now; undefined if it lists none. @throws AppError UPSTREAM_FAILED */
    readonly check: (
      payment: TreasuryPayment,
      transaction: ChainTransaction,
    ) => Promise<CheckedListing | undefined>;
  };

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

/** The purpose of a payment; null when it has none, with the reason if a customer seems to have paid. */
export type BookingResult = {
  readonly purpose: string | null;
  readonly reason?: 'several_requests';
};

/** What the chain says of a mint immediately before its listing. */
export type CheckedListing = { readonly mint: string; readonly facts: ListingFacts };

/**
 * Why a payment is not booked yet. `may_be_returned`: it may be money that a bridge returned, which is known once the swap has
 * settled. `listing_unchecked`: it would list a token that was not read before.
 */
export type Undecided = 'may_be_returned' | 'listing_unchecked';

/** Why a transaction is not booked, and the text that is stored and logged. */
type Unread = {
  readonly why: 'upstream' | 'unreadable' | 'absent' | 'listing' | 'unbooked' | Undecided;
  readonly text: string;
};
const plainly = (why: Unread['why']): Unread => ({ why, text: why });

export class Booking {
  readonly #p: BookingPorts;

  constructor(p: BookingPorts) {
    this.#p = p;
  }

  /** Books one payment, unless it must wait. A second call has no effect. */
  #book(transaction: ChainTransaction, checked: CheckedListing | undefined): Undecided | undefined {
    if (transaction.failed) return undefined;
    const payment = treasuryPayment(transaction, this.#p.treasuryAddress);
    // The lost journal may have used an older payment.
    const isOlder = this.#p.isOlder(transaction);
    const isOurs = transaction.signers.some(
      (signer) => signer === this.#p.treasuryAddress || this.#p.isReserve(signer),
    );
    return this.#p.storage.transaction(() => {
      const known = this.#p.payments.purposeOf(transaction.signature);
      if (known) return undefined;
      if (!payment) {
        this.#p.payments.record({ ...transaction, lamports: 0n, payer: null }, null);
        return undefined;
      }
      const taken = isOurs || isOlder ? { purpose: null } : this.#p.take(payment, transaction, checked);
      if (typeof taken === 'string') return taken;
      this.#p.payments.record(payment, taken.purpose);
      if (taken.purpose === null && !isOurs && !isOlder && known === undefined)
        this.#reportUnmatched(payment, taken.reason);
      return undefined;
    });
  }

  /** Logs income without a purpose. It is not an error, but may be a customer's payment of a wrong amount. */
  #reportUnmatched({ signature, lamports }: TreasuryPayment, reason: BookingResult['reason']): void {
    const facts = { signature, lamports: lamports.toString(), reason: reason ?? 'no_request' };
    if (reason !== undefined) this.#p.log({ level: 'alarm', event: 'payment_unmatched', ...facts });
    else if (lamports > DUST) this.#p.log({ level: 'warn', event: 'payment_unmatched', ...facts });
  }

  async #check(transaction: ChainTransaction): Promise<CheckedListing | undefined> {
    const payment = treasuryPayment(transaction, this.#p.treasuryAddress);
    return payment && this.#p.check(payment, transaction);
  }

  /** Reads and books one transaction. Returns why it is not booked. */
  async #attempt(signature: string): Promise<Unread | undefined> {
    let transaction: ChainTransaction | null | 'unreadable';
    try {
      transaction = await orUnreadable(this.#p.transaction(signature));
    } catch (error) {
      return { why: 'upstream', text: `upstream_${failureReason(error)}` };
    }
    if (transaction === 'unreadable') return plainly('unreadable');
    // A node may show an earlier no-op of the same bytes (SIMD-0290) in place of the listed success.
    if (transaction === null || transaction.failed) return plainly('absent');
    let checked: CheckedListing | undefined;
    try {
      checked = await this.#check(transaction);
    } catch (error) {
      // A mint may change so often that no quorum sees it. Other payments must not wait for it.
      return { why: 'listing', text: `listing_${failureReason(error)}` };
    }
    try {
      const undecided = this.#book(transaction, checked);
      return undecided && plainly(undecided);
    } catch (error) {
      return { why: 'unbooked', text: `unbooked: ${String(error).slice(0, 200)}` };
    }
  }

  #postpone(signature: string, source: string, { why, text: reason }: Unread): void {
    const known = this.#p.payments.unread(signature);
    const tries = (known?.tries ?? 0) + 1;
    const firstAt = known?.firstAt ?? this.#p.now();
    const life = why === 'absent' ? ABSENT_LIFE_MS : UNREAD_LIFE_MS;
    // Age alone is not enough: a clock that jumps ahead by a day makes every row old at once.
    if (this.#p.now() - firstAt > life && tries > TRIES_BEFORE_ALARM) {
      this.#p.payments.deleteUnread(signature);
      return;
    }
    // An unreadable version or a failed booking lasts until the code changes; other failures may be a lagging
    // node.
    const isLasting = why === 'unreadable' || why === 'unbooked';
    if (tries === (isLasting ? 1 : TRIES_BEFORE_ALARM))
      this.#p.log({ level: 'alarm', event: 'payment_unbooked', signature, error: reason });
    const dueAt = this.#p.now() + backoff(tries, RETRIES);
    const finalAt = known?.finalAt ?? firstAt;
    this.#p.payments.putUnread({ signature, source, reason, tries, finalAt, firstAt, dueAt });
  }

  /** Whether a transaction was read, or a read has failed and will be repeated. One that is only queued is not known. */
  isKnown(signature: string): boolean {
    const { payments } = this.#p;
    return payments.purposeOf(signature) !== undefined || (payments.unread(signature)?.tries ?? 0) > 0;
  }

  /** Whether a quorum of nodes has shown a listed transaction. */
  isShown({ signature, slot }: SignatureEntry): boolean {
    return this.#p.payments.isShown(signature, slot);
  }

  /**
   * Queues the transactions of a node's list that were not read yet.
   * @param since Unix milliseconds; a transaction without a block time was not final before
   * @returns false, and queues nothing, while the queue of this node is full
   */
  queue(entries: readonly SignatureEntry[], source: string, since: number): boolean {
    const { payments, storage, now } = this.#p;
    const fresh = entries.filter(
      ({ err, signature }) => err === null && payments.purposeOf(signature) === undefined,
    );
    if (payments.countQueued(source) + fresh.length > MAX_QUEUED) return false;
    const at = now();
    storage.transaction(() => {
      for (const { signature, blockTime } of fresh.toReversed()) {
        const { reason, tries, dueAt } = payments.unread(signature) ?? { reason: 'new', tries: 0, dueAt: at };
        const finalAt = blockTime === null ? Math.min(since, at) : blockTime * 1_000;
        payments.putUnread({ signature, source, reason, tries, finalAt, firstAt: at, dueAt });
      }
    });
    return true;
  }

  /** What is queued and was never read; undefined if nothing. */
  queued(): Queued | undefined {
    return this.#p.payments.queued(this.#p.now());
  }

  /** Reads the newest and the oldest queued transactions of each node. Stops while the nodes fail. */
  async readQueue(budget: RunBudget): Promise<void> {
    const { payments, now } = this.#p;
    const until = now() + PART_MS;
    const sources = payments.queuedSources();
    if (sources.length === 0) return;
    const share = Math.max(Math.floor(budget.reads / (2 * sources.length)), 1);
    // Two of each node in turn: a node that invents transactions must not use up the time of the others.
    for (let turn = 0; turn < share; turn++)
      for (const source of sources)
        for (const signature of payments.endsOfQueue(source)) {
          if (payments.unread(signature)?.tries !== 0) continue;
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
      this.#p.payments.deleteUnread(signature);
      return 'read';
    }
    this.#postpone(signature, source, unread);
    return unread.why === 'upstream' ? 'stop' : 'read';
  }

  /** Drops transactions of a node that no quorum shows, if there are too many. Returns whether it dropped any. */
  trimAbsent(source: string): boolean {
    return this.#p.payments.trimAbsent(source, MAX_ABSENT);
  }

  /** Retries unread transactions that are due. */
  async retry(limit: number): Promise<void> {
    const until = this.#p.now() + PART_MS;
    for (const { signature, source } of this.#p.payments.unreadDue(this.#p.now(), RETRIES.most, limit)) {
      if (this.#p.now() > until) return;
      const unread = await this.#attempt(signature);
      if (unread === undefined) this.#p.payments.deleteUnread(signature);
      else this.#postpone(signature, source, unread);
    }
  }

  /**
   * Books a finalized transaction that a caller names. One that pays nothing leaves no row.
   * @throws when it cannot be booked, or its listing cannot be read
   */
  async confirm(transaction: ChainTransaction): Promise<Undecided | undefined> {
    if (!treasuryPayment(transaction, this.#p.treasuryAddress)) return undefined;
    const undecided = this.#book(transaction, await this.#check(transaction));
    if (undecided === undefined) this.#p.payments.deleteUnread(transaction.signature);
    return undecided;
  }
}

/** What a transaction pays to the treasury, or undefined if it failed or pays nothing. */
export function treasuryPayment(
  transaction: ChainTransaction,
  treasury: string,
): TreasuryPayment | undefined {
  const credit = lamportsChange(transaction, treasury) ?? 0n;
  if (transaction.failed || credit <= 0n) return undefined;
  const { signature, slot, blockTime } = transaction;
  return { signature, slot, blockTime, lamports: credit, payer: payerOf(transaction, treasury) };
}

/**
 * The only account that lost more lamports than the fee, if it signed and lost at least those that the treasury gained.
 * Null otherwise: with a wallet of several members, a program owns the money and a member only executes the
 * transaction.
 */
export function payerOf(transaction: ChainTransaction, treasury: string): string | null {
  const { accounts, signers, fee } = transaction;
  const losers = accounts.flatMap((account, index) => {
    const change = lamportsChange(transaction, account) ?? 0n;
    const paid = -change - (index === 0 ? fee : 0n);
    return account !== treasury && paid > 0n ? [{ account, paid }] : [];
  });
  const [payer] = losers;
  const credit = lamportsChange(transaction, treasury) ?? 0n;
  const isPayer = payer && losers.length === 1 && payer.paid >= credit && signers.includes(payer.account);
  return isPayer ? payer.account : null;
}
