/**
 * Every change of a payment request: a payment arrives, its work is done or fails, the request expires. One
 * storage transaction contains the change, its D1 update and any refund.
 * @module
 */
import type { ListingFault } from '../../chain/solana/listed-token.ts';
import { lamports } from '../../core/amount.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import { queueOperation } from '../kernel/begin-operation.ts';
import type { ModuleTools } from '../kernel/module.ts';
import type { Facts, Operation } from '../kernel/operation.ts';
import { isRotated, reasonText } from '../kernel/reason.ts';
import type { BookingResult, CheckedListing, Undecided } from './booking.ts';
import { checkPayment, matchRequest, mayBeReturned } from './payment-matching.ts';
import type { PaymentsPorts } from './payment-requests.ts';
import type { Refunds } from './refunds.ts';
import { mirrorCreatedListing, mirrorRequest } from './request-records.ts';
import {
  creationCost,
  creationId,
  type PaymentRequest,
  purposeOf,
  type RequestStore,
} from './request-store.ts';
import type { TreasuryPayment } from './treasury-store.ts';

/** Name in the agenda of requests whose expiry has failed. */
export const EXPIRY = 'expiry';

const UNMATCHED: BookingResult = { purpose: null };

type RequestChangesPorts = Pick<PaymentsPorts, 'tokens' | 'treasuryAddress' | 'listingFacts'> & {
  readonly store: RequestStore;
  readonly refunds: Refunds;
};

export class RequestChanges {
  readonly #tools: ModuleTools;
  readonly #p: RequestChangesPorts;

  constructor(tools: ModuleTools, p: RequestChangesPorts) {
    this.#tools = tools;
    this.#p = p;
  }

  /**
   * Reads the token that a payment would list. Only a payment that completes a fee causes this read.
   * @throws AppError UPSTREAM_FAILED
   */
  async check(payment: TreasuryPayment, transaction: ChainTransaction): Promise<CheckedListing | undefined> {
    const request = matchRequest(payment, transaction, this.#p.store, this.#tools.now());
    const mint = request && request !== 'several' ? this.#listedBy(request, payment) : undefined;
    return mint === undefined ? undefined : { mint, facts: await this.#p.listingFacts(mint) };
  }

  /** The mint that a payment of this request would list now. */
  #listedBy(request: PaymentRequest, payment: TreasuryPayment): string | undefined {
    const isPaid = checkPayment(request, payment, this.#tools.now()).type === 'paid';
    return request.kind === 'listing' && isPaid ? String(request.subject.mint) : undefined;
  }

  /** Books a payment once in the request to which it belongs. @returns a null purpose if none matches */
  take(
    payment: TreasuryPayment,
    transaction: ChainTransaction,
    checked: CheckedListing | undefined,
  ): BookingResult | Undecided {
    const request = matchRequest(payment, transaction, this.#p.store, this.#tools.now());
    if (request === 'several') return { purpose: null, reason: 'several_requests' };
    if (!request) return UNMATCHED;
    // A payment with our reference is not a sum that a bridge returned, because a bridge adds no reference.
    const isNamed = transaction.accounts.includes(request.reference);
    const swaps = this.#tools.journal.open().filter(({ signer }) => signer === this.#p.treasuryAddress);
    if (!isNamed && mayBeReturned(payment, swaps, this.#tools.now())) return 'may_be_returned';
    const purpose = purposeOf(request);
    const name = `payment:${payment.signature}`;
    if (this.#tools.journal.consumerOf(name) !== undefined) return UNMATCHED;
    const mint = this.#listedBy(request, payment);
    if (mint !== undefined && mint !== checked?.mint) return 'listing_unchecked';
    this.#tools.journal.consumeOnce(name, purpose, this.#tools.now());
    this.#apply(request, payment, mint === undefined ? undefined : checked);
    return { purpose };
  }

  /** Ends the request of a creation that ends. Call inside the storage transaction that ends it. */
  endCreation({ id, state, plan, reason }: Operation): void {
    const request = this.#p.store.get(String(plan.invoiceId));
    if (request?.state !== 'paid' || creationId(request) !== id) return;
    if (state === 'done') this.#complete(request);
    else if (isRotated(reason)) this.plan(this.save({ ...request, creations: request.creations + 1 }));
    else this.#oweAll(this.save({ ...request, state: 'expired', reason: reasonText(reason) }), 'failed');
  }

  /**
   * Ends requests that closed before a time; partial payments are owed back.
   * @param before Unix milliseconds
   */
  expire(before: number, limit: number): void {
    const { agenda, storage } = this.#tools;
    for (const id of agenda.due(EXPIRY, limit))
      if (this.#p.store.get(id)?.state !== 'open') agenda.plan(EXPIRY, id, null);
    const isWaiting = ({ id }: PaymentRequest) =>
      agenda.dueAt(EXPIRY, id) !== undefined && !agenda.isDue(EXPIRY, id);
    const closed = this.#p.store.closed(before, limit + agenda.count(EXPIRY));
    for (const request of closed.filter((each) => !isWaiting(each)).slice(0, limit)) {
      try {
        storage.transaction(() => {
          this.#oweAll(this.save({ ...request, state: 'expired' }), 'underpaid');
          agenda.plan(EXPIRY, request.id, null);
        });
      } catch (error) {
        agenda.failed(EXPIRY, request.id, { error: String(error).slice(0, 200) });
      }
    }
  }

  /** Stores a request and queues its D1 update. Call inside a storage transaction. */
  save(request: PaymentRequest): PaymentRequest {
    const changed = { ...request, changes: request.changes + 1 };
    this.#p.store.put(changed);
    mirrorRequest(this.#tools.journal, this.#p.store, changed, this.#tools.now());
    return changed;
  }

  /** Records a refund of everything that a request received and that is not owed yet. Call inside a storage transaction. */
  #oweAll(request: PaymentRequest, reason: 'underpaid' | 'failed'): void {
    for (const part of request.parts) {
      const rest = BigInt(part.lamports) - this.#p.refunds.owedOf(part.signature);
      this.#p.refunds.owe(request, part, rest, reason);
    }
  }

  /** Lists the token and ends the request. Call inside a storage transaction. */
  #complete(request: PaymentRequest): void {
    const tokenId = this.#p.tokens.list(request, this.#tools.now());
    const done = this.save({
      ...request,
      state: 'completed',
      completedAt: this.#tools.now(),
      tokenId,
      reason: null,
    });
    if (done.kind === 'token') mirrorCreatedListing(this.#tools.journal, done, this.#tools.now());
  }

  /**
   * Queues the creation of a paid request, if it has no operation yet. Its cost is reserved, and no other operation can use
   * it from then on. Call inside the storage transaction that books the payment.
   */
  plan(request: PaymentRequest): void {
    const { id, subject } = request;
    if (this.#tools.journal.get(creationId(request))) return;
    queueOperation(this.#tools, 'token', creationId(request), {
      amount: lamports(0n),
      reserved: lamports(creationCost(subject)),
      plan: { ...(subject as Facts), invoiceId: id },
    });
  }

  /** Applies a payment that was consumed for this request. Call inside a storage transaction. */
  #apply(request: PaymentRequest, payment: TreasuryPayment, checked: CheckedListing | undefined): void {
    const effect = checkPayment(request, payment, this.#tools.now());
    if (effect.type === 'owed') {
      this.#p.refunds.owe(request, payment, payment.lamports, effect.reason);
      return;
    }
    if (effect.type === 'part') this.save(effect.request);
    else if (checked?.facts.type === 'refused') this.#refuse(effect.request, checked.facts.fault);
    else {
      this.#p.refunds.owe(request, payment, effect.excess, 'overpaid');
      const token = checked?.facts.token;
      const changed = this.save({ ...effect.request, subject: { ...request.subject, ...token } });
      if (token) this.#complete(changed);
      else this.plan(changed);
    }
  }

  /** A token that may no longer be listed when it is paid is not listed, and the whole payment is owed back. */
  #refuse(request: PaymentRequest, fault: ListingFault): void {
    const reason = `listing refused: ${fault.type}`;
    this.#oweAll(this.save({ ...request, state: 'expired', reason }), 'failed');
  }
}
