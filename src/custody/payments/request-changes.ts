/**
 * Every change of a payment request: a payment arrives, its work is done or fails, the request expires. One
 * storage transaction contains the change, its D1 update and any refund.
 * @module
 */
import { earliest } from '../../core/due-time.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import { createRowRetries } from '../kernel/background.ts';
import type { Journal } from '../kernel/journal.ts';
import type { MirrorSource } from '../kernel/module.ts';
import type { Log, Mirror, Storage } from '../kernel/ports.ts';
import type { Taken } from './booking.ts';
import { mirrorCreatedListing, mirrorRequest } from './d1-rows.ts';
import { judgePayment, matchRequest } from './payment-matching.ts';
import type { Refunds } from './refunds.ts';
import { type PaymentRequest, purposeOf, type RequestStore } from './request-store.ts';
import type { TreasuryPayment } from './treasury-store.ts';

type Subject = PaymentRequest['subject'];

/** The purchases that requests pay for. The custodian passes in the tokens module. */
export type TokenPort = {
  /** Id of the operation that creates a request's token. */
  creationId(requestId: string): string;
  /** Plans a creation and reserves its cost in lamports. Call inside the storage transaction that books the payment. */
  planCreation(request: PaymentRequest, cost: bigint, now: number): void;
  /** The number of a listed token; undefined for any other mint. */
  listedId(mint: string): number | undefined;
  /** Lists a token and returns its number. Call inside a storage transaction. */
  list(request: PaymentRequest, now: number): number;
  /** The subject of a listing with the token's number. */
  numbered(subject: Subject, now: number): Subject;
  /** Every row, for a D1 that has lost some. */
  readonly mirrored: MirrorSource;
  /** Restores rows from D1 and returns their number. */
  restore(mirror: Pick<Mirror, 'recordsAfter'>): Promise<number>;
};

export type RequestChangesPorts = {
  readonly journal: Journal;
  readonly storage: Storage;
  readonly store: RequestStore;
  readonly refunds: Pick<Refunds, 'owe' | 'owedOf' | 'isReturned'>;
  /** Whether a payment may be the reserve's own money that a bridge returned. */
  readonly mayBeReturned: (payment: TreasuryPayment) => boolean;
  readonly tokens: Pick<TokenPort, 'creationId' | 'planCreation' | 'list'>;
  /** Lamports that a creation may take from the reserve: rent and fees. */
  readonly creationCost: (subject: Subject) => bigint;
  readonly now: () => number;
  readonly log: Log;
};

const UNMATCHED: Taken = { purpose: null };

export function createRequestChanges(p: RequestChangesPorts) {
  const { journal, storage, store, refunds, now } = p;

  const retries = (name: string, read: (limit: number) => readonly PaymentRequest[]) =>
    createRowRetries({ ...p, name, read, idOf: ({ id }) => id });
  const ended = retries('creation_ended', store.creationsEnded);
  const missing = retries('creation_planned', store.creationsMissing);
  /** Requests that closed before this time may expire. Unix milliseconds. */
  let closedBefore = 0;
  const closed = retries('request_expired', (limit) => store.closed(closedBefore, limit));

  function save(request: PaymentRequest): PaymentRequest {
    const changed = { ...request, changes: request.changes + 1 };
    store.put(changed);
    mirrorRequest(journal, store, changed, now());
    return changed;
  }

  /**
   * Records a refund of everything that a request received and that is not owed yet. Call inside a storage
   * transaction.
   */
  function oweAll(request: PaymentRequest, reason: 'underpaid' | 'failed'): void {
    for (const part of request.parts) {
      const rest = BigInt(part.lamports) - refunds.owedOf(part.signature);
      if (rest > 0n) refunds.owe(request, part, rest, reason);
    }
  }

  /** Lists the token and ends the request. Call inside a storage transaction. */
  function complete(request: PaymentRequest): void {
    const tokenId = p.tokens.list(request, now());
    const done = save({ ...request, state: 'completed', completedAt: now(), tokenId, reason: null });
    if (done.kind === 'token') mirrorCreatedListing(journal, done, now());
  }

  const plan = (request: PaymentRequest): void =>
    p.tokens.planCreation(request, p.creationCost(request.subject), now());

  /** Applies a payment that was consumed for this request. Call inside a storage transaction. */
  function apply(request: PaymentRequest, payment: TreasuryPayment): void {
    const effect = judgePayment(request, payment, now());
    if (effect.type === 'owed') {
      refunds.owe(request, payment, payment.lamports, effect.reason);
      return;
    }
    if (effect.type === 'paid' && effect.excess > 0n)
      refunds.owe(request, payment, effect.excess, 'overpaid');
    const changed = save(effect.request);
    if (effect.type === 'part') return;
    if (changed.kind === 'listing') complete(changed);
    else plan(changed);
  }

  return {
    save,
    oweAll,

    /** The purpose of a payment that belongs to a request, booked there once; none for any other payment. */
    take(payment: TreasuryPayment, transaction: ChainTransaction): Taken {
      const request = matchRequest(payment, transaction, store, now());
      if (request === 'several') return { purpose: null, reason: 'several_requests' };
      if (!request) return UNMATCHED;
      // A bridge adds no reference. Once the swap has settled, a confirm books the payment of a customer.
      const isNamed = transaction.accounts.includes(request.reference);
      if (!isNamed && p.mayBeReturned(payment)) return { purpose: null, reason: 'may_be_returned' };
      const purpose = purposeOf(request);
      const name = `payment:${payment.signature}`;
      const consumerOf = journal.consumerOf(name);
      // Consumed by this request: its row was rebuilt from D1, and only the booking of the payment was lost
      // with the journal.
      if (consumerOf !== undefined) return consumerOf === purpose ? { purpose } : UNMATCHED;
      if (refunds.isReturned(payment)) return UNMATCHED;
      journal.consumeOnce(name, purpose, now());
      apply(request, payment);
      return { purpose };
    },

    /**
     * Ends requests whose creation has ended. It only uses storage, so it can process all of them at once.
     */
    settleCreations(limit: number): void {
      ended.run(limit, (request) => {
        const operation = journal.get(p.tokens.creationId(request.id));
        storage.transaction(() => {
          if (operation?.state === 'done') return complete(request);
          oweAll(save({ ...request, state: 'expired', reason: operation?.reason ?? null }), 'failed');
        });
      });
    },

    /** Plans creations of paid requests that have none: rows of an older version, or rows rebuilt from D1. */
    planMissing(limit: number): void {
      missing.run(limit, (request) => storage.transaction(() => plan(request)));
    },

    /** When a creation is next booked or planned, Unix milliseconds; undefined when none is pending. */
    nextAt: () => earliest(ended.nextAt(), missing.nextAt()),

    /**
     * Ends requests that closed before a time; partial payments are owed back.
     * @param before Unix milliseconds
     */
    expire(before: number, limit: number): void {
      closedBefore = before;
      closed.run(limit, (request) =>
        storage.transaction(() => oweAll(save({ ...request, state: 'expired' }), 'underpaid')),
      );
    },
  };
}
