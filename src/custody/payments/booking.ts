/**
 * Reads finalized transactions and books the payment in each once. A transaction that cannot be read is recorded and
 * retried, so that it holds up no other.
 * @module
 */
import { lamportsChange } from '../../chain/solana/balance-change.ts';
import { DAY_MS, HOUR_MS } from '../../core/limits.ts';
import { type ChainTransaction, failureReason } from '../../providers/solana-rpc.ts';
import type { Log, Storage } from '../kernel/ports.ts';
import { orUnreadable } from '../kernel/solana-view.ts';
import type { TreasuryPayment, TreasuryStore } from './treasury-store.ts';

export type BookingPorts = {
  readonly storage: Storage;
  readonly payments: TreasuryStore;
  readonly treasuryAddress: string;
  /** Transactions that it signs are movements of our own, never payments. */
  readonly reserveAddress: string;
  /** Decides the purpose of a payment and books it, inside the storage transaction; null when it matches nothing. */
  readonly take: (payment: TreasuryPayment, transaction: ChainTransaction) => string | null;
  /** A finalized transaction, or null while the nodes do not have it. @throws AppError UPSTREAM_FAILED */
  transaction(signature: string): Promise<ChainTransaction | null>;
  readonly now: () => number;
  readonly log: Log;
};

/** Unread transactions of one node that are kept; at the limit its list is read up to the next that cannot be read. */
const MAX_UNREAD = 1_000;
/** Signatures remembered as read, so that the lists of several nodes cost one read. */
const REMEMBERED = 5_000;
const FIRST_RETRY_MS = 2_000;
/** An unread transaction is reported once it has been retried for about four minutes. */
const ALARM_TRIES = 7;
/** A transaction that nodes list but no quorum has within this time was dropped or invented. */
const ABSENT_LIFE_MS = DAY_MS;
const UNREAD_LIFE_MS = 30 * DAY_MS;

/** `stop`: the nodes fail, or too many transactions wait; the walk keeps its place. */
export type ReadOutcome = 'read' | 'stop';

export type Booking = ReturnType<typeof createBooking>;

export function createBooking(p: BookingPorts) {
  const { payments, now } = p;
  const read = new Set<string>();

  /** Books one payment. A second call changes nothing. */
  function book(transaction: ChainTransaction): void {
    const credit = lamportsChange(transaction, p.treasuryAddress) ?? 0n;
    if (transaction.failed || credit <= 0n) return;
    const payment: TreasuryPayment = {
      signature: transaction.signature,
      slot: transaction.slot,
      blockTime: transaction.blockTime,
      lamports: credit,
      payer: payerOf(transaction, p.treasuryAddress),
    };
    const isOurs = transaction.signers.some(
      (signer) => signer === p.treasuryAddress || signer === p.reserveAddress,
    );
    p.storage.transaction(() => {
      if (payments.get(payment.signature)?.purpose) return;
      payments.record(payment, isOurs ? null : p.take(payment, transaction));
    });
  }

  /** Reads and books one transaction; the reason when it could not be. */
  async function attempt(signature: string): Promise<string | undefined> {
    let transaction: ChainTransaction | null | 'unreadable';
    try {
      transaction = await orUnreadable(p.transaction(signature));
    } catch (error) {
      return `upstream_${failureReason(error)}`;
    }
    if (transaction === 'unreadable') return 'unreadable';
    if (transaction === null) return 'absent';
    try {
      book(transaction);
      return undefined;
    } catch (error) {
      return `unbooked: ${String(error).slice(0, 200)}`;
    }
  }

  function remember(signature: string): void {
    if (read.size >= REMEMBERED) read.clear();
    read.add(signature);
  }

  function postpone(signature: string, source: string, reason: string): void {
    const known = payments.unread(signature);
    const tries = (known?.tries ?? 0) + 1;
    const firstAt = known?.firstAt ?? now();
    const life = reason === 'absent' ? ABSENT_LIFE_MS : UNREAD_LIFE_MS;
    if (now() - firstAt > life) {
      payments.deleteUnread(signature);
      return;
    }
    // An unreadable version or a booking that fails stays so until the code changes; a node may only lag.
    const isLasting = reason === 'unreadable' || reason.startsWith('unbooked');
    if (tries === (isLasting ? 1 : ALARM_TRIES))
      p.log({ level: 'alarm', event: 'payment_unbooked', signature, error: reason });
    const dueAt = now() + Math.min(FIRST_RETRY_MS * 2 ** (tries - 1), HOUR_MS);
    payments.putUnread({ signature, source, reason, tries, firstAt, dueAt });
  }

  return {
    /** Whether nothing is left to read of a listed transaction. */
    isKnown: (signature: string): boolean =>
      read.has(signature) ||
      payments.get(signature) !== undefined ||
      payments.unread(signature) !== undefined,

    /**
     * Reads a listed transaction and books it, or records it for a retry.
     * @param source the node that listed it
     */
    async read(signature: string, source: string): Promise<ReadOutcome> {
      const reason = await attempt(signature);
      if (reason === undefined) {
        remember(signature);
        return 'read';
      }
      if (payments.countUnread(source) >= MAX_UNREAD) {
        p.log({ level: 'alarm', event: 'payments_unread_limit', node: source, limit: MAX_UNREAD });
        return 'stop';
      }
      postpone(signature, source, reason);
      // A failing node would put every transaction of the list on the retry list: stop after the first.
      return reason.startsWith('upstream_') ? 'stop' : 'read';
    },

    /** Tries unread transactions again whose time has come. */
    async retry(limit: number): Promise<void> {
      for (const { signature, source } of payments.unreadDue(now(), limit)) {
        const reason = await attempt(signature);
        if (reason === undefined) payments.deleteUnread(signature);
        else postpone(signature, source, reason);
      }
    },

    /** Books the transaction that a caller names. @throws AppError UPSTREAM_FAILED, or when it cannot be booked */
    async confirm(signature: string): Promise<ChainTransaction | null> {
      const transaction = await p.transaction(signature);
      if (transaction) {
        book(transaction);
        payments.deleteUnread(signature);
      }
      return transaction;
    },
  };
}

/** The only signer whose lamports fell by more than the fee; null when there are several or it was the treasury. */
export function payerOf(transaction: ChainTransaction, treasury: string): string | null {
  const payers = transaction.signers.filter((signer, index) => {
    const change = lamportsChange(transaction, signer) ?? 0n;
    return signer !== treasury && change < (index === 0 ? -transaction.fee : 0n);
  });
  return payers.length === 1 ? (payers[0] ?? null) : null;
}
