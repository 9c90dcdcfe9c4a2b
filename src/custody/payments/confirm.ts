/**
 * Confirms the payment of a request: waits until the transaction that a caller names is final, books it, and waits for
 * the work that it pays for. The searches for payments book what they find with `bookPayment` too.
 *
 * A payment is for the request whose reference its transaction contains. Without a reference, it is for the only open
 * request of exactly its amount. `book` writes all rows of a payment in one storage transaction, each with its row for
 * D1. "name" is the row `payment:<signature>` of the table `once`, which only one request can use:
 *
 * | a payment that | effect | rows |
 * |---|---|---|
 * | is short | added to the request, which waits for the rest | name, treasury, request |
 * | completes the fee | the work begins; what needs none is delivered at once | those, operation or delivery |
 * | is more than the fee | the same, and the excess is owed back | those, refund |
 * | completes it for what is not for sale any more | the request ends; each part is owed back | those, refunds |
 * | is late, double, or one part too many | owed back whole; its request stays as it is | name, treasury, refund |
 * | matches no request, or names several | only the operator can return it | treasury |
 * | is our own, or older than the journal | none | treasury |
 * | may be money that a bridge returned | none yet: asked again when the swap has ended | none |
 * | was used before | none; the caller of another request gets `PAYMENT_ALREADY_USED` | none, or treasury |
 *
 * Only a payment with the reference can be short, too much, late or double: without it, it is exact, in time and for an
 * open request, or it matches none. When the operation of a paid request ends, `endWork` writes the request and what it
 * delivers, or the refunds, in the transaction that ends the operation; after a change of the key it begins another.
 *
 * A crash loses nothing: before the storage transaction no row exists, and the caller or a search books the payment
 * again; after it the executor continues the operation from its row.
 * @module
 */
import { isSignature } from '../../chain/solana/address.ts';
import { lamports } from '../../core/amount.ts';
import { forCaller } from '../../providers/admission.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { ConfirmRequest, PaymentConfirmed, Refusal } from '../api.ts';
import { isReserve, queueOperation, refused } from '../kernel/begin-operation.ts';
import { lostRequestRefusal, olderRefusal } from '../kernel/birth.ts';
import type { Operation } from '../kernel/operation.ts';
import { isRotated, reasonText } from '../kernel/reason.ts';
import type { LookedUp } from '../nodes/signature-lookups.ts';
import type { Checked, Product } from '../product.ts';
import {
  INVALID_SIGNATURE,
  inProgress,
  MAY_BE_RETURNED,
  missing,
  NOT_FOUND,
  notFinal,
  notForRequest,
  PAYMENT_FAILED,
  REFUND_DUE,
  usedElsewhere,
} from './confirm-refusals.ts';
import type { PaymentContext } from './context.ts';
import { oweRefund, oweRest } from './owed.ts';
import { reasonOf, saveRequest, viewOf } from './request-records.ts';
import { costOf, nameOf, type PaymentRequest, partOf, type RefundDue, workId } from './request-store.ts';
import { DUST, mayBeReturned, paidAtOf, treasuryPayment } from './treasury-payment.ts';
import type { TreasuryPayment } from './treasury-store.ts';

/** Longest wait for a payment that no node shows. Nodes show one within two seconds after it was sent. */
const UNKNOWN_MS = 15_000;
/** Maximum reads of a purchase. */
const MAX_SALE_READS = 3;
/** A block's time may be earlier than its request by this much. */
const CLOCK_SKEW_MS = 30_000;
/** Maximum payments towards one fee, so that a request's row stays small. */
const MAX_PARTS = 50;

export async function confirmPayment(
  context: PaymentContext,
  asked: ConfirmRequest,
): Promise<PaymentConfirmed> {
  const { contact, journal, now, requests } = context;
  const deadline = now() + asked.waitMs;
  const request = requests.get(asked.id);
  if (request?.kind !== asked.kind)
    return refused(lostRequestRefusal(journal, asked.id, contact) ?? NOT_FOUND);
  if (!isSignature(asked.signature)) return refused(INVALID_SIGNATURE);
  const usedBy = journal.usedBy(`payment:${asked.signature}`);
  if (usedBy !== undefined && usedBy !== nameOf(request)) return refused(usedElsewhere(context, usedBy));
  // A payment is booked once it is final, so the payment of a paid request needs no further read.
  const isBooked = usedBy !== undefined && (request.state === 'paid' || request.state === 'completed');
  const refusal = isBooked ? undefined : await bookNamed(context, request, asked);
  return refusal ? refused(refusal) : finishWork(context, asked, deadline);
}

/** Books a named transaction once it is final. @returns why it is not for this request. @throws AppError UPSTREAM_FAILED */
async function bookNamed(
  context: PaymentContext,
  request: PaymentRequest,
  asked: ConfirmRequest,
): Promise<Refusal | undefined> {
  const { contact, journal, requests, treasuryAddress } = context;
  const { signature } = asked;
  const found = await awaitFinal(context, request, asked);
  if (found.type === 'refused') return found.refusal;
  if (found.type !== 'final') return notFinal(found.type);
  const { transaction } = found;
  const older = olderRefusal(journal, transaction, contact);
  if (older) return older;
  // Callers may name any transaction of the chain, so a transaction that pays nothing leaves no row.
  if (treasuryPayment(transaction, treasuryAddress)) {
    const undecided = await forCaller(
      asked.client,
      () => bookPayment(context, transaction),
      () => true,
    );
    if (undecided === 'may_be_returned') return MAY_BE_RETURNED;
    // The payment is final but not booked yet: the caller asks again.
    if (undecided) return notFinal('confirmed');
  }
  // Not booked into this request: nothing may still show it as its payment.
  const current = requests.get(request.id);
  if (current?.reported?.signature === signature) requests.put({ ...current, reported: null });
  if (transaction.failed) return PAYMENT_FAILED;
  const usedBy = journal.usedBy(`payment:${signature}`);
  return usedBy === nameOf(request) ? undefined : notForRequest(context, signature, usedBy);
}

/** Waits for a payment to be final. Once it is confirmed, an open request shows it, so that nobody is asked to pay again. */
async function awaitFinal(
  context: PaymentContext,
  request: PaymentRequest,
  { signature, client, waitMs }: ConfirmRequest,
): Promise<LookedUp> {
  const { lookUp, now, requests, treasuryAddress } = context;
  const asked = { signature, client, waitMs, unknownMs: UNKNOWN_MS };
  if (request.state !== 'open' || request.reported?.signature === signature)
    return lookUp({ ...asked, until: 'final' });
  const deadline = now() + waitMs;
  const found = await lookUp({ ...asked, until: 'confirmed' });
  if (found.type !== 'confirmed' || !found.transaction) return found;
  const payment = treasuryPayment(found.transaction, treasuryAddress);
  const match = payment && matchRequest(context, payment, found.transaction);
  if (typeof match === 'object' && match.id === request.id && match.state === 'open')
    requests.put({ ...match, reported: { signature, at: now() } });
  const leftMs = deadline - now();
  return leftMs > 0 ? lookUp({ ...asked, waitMs: leftMs, until: 'final' }) : found;
}

/** Waits for the work of a paid request. The request's state then determines the response. */
async function finishWork(
  context: PaymentContext,
  { id, signature }: ConfirmRequest,
  deadline: number,
): Promise<PaymentConfirmed> {
  const { finish, now, requests, storage } = context;
  const paid = requests.get(id);
  const leftMs = deadline - now();
  if (leftMs > 0 && paid?.state === 'paid') await finish(workId(paid), leftMs);
  const request = requests.get(id);
  switch (request?.state) {
    case 'completed':
      // Nobody is told of a delivery that a crash of the platform could still undo.
      await storage.sync();
      return { type: 'confirmed', request: viewOf(context, request) };
    case 'open':
      return refused(
        request.parts.some((part) => part.signature === signature) ? missing(request) : REFUND_DUE,
      );
    case 'expired':
      return refused(REFUND_DUE);
    default:
      return refused(inProgress(request ? reasonOf(context, request) : null));
  }
}

/** Why a payment is not booked yet. */
export type Undecided =
  /** The payment may be money that a bridge returned. This is known once the swap has settled. */
  | 'may_be_returned'
  /** Between the read of the purchase and the booking, the payment came to match another request. */
  | 'request_changed';

/** Books one finalized transaction; a second call has no effect. @throws AppError UPSTREAM_FAILED */
export async function bookPayment(
  context: PaymentContext,
  transaction: ChainTransaction,
): Promise<Undecided | undefined> {
  if (transaction.failed) return undefined;
  let sale: SaleRead | undefined;
  // Book; if the chain must be read first, read it and book again. The storage transaction is synchronous.
  for (let reads = 0; ; reads++) {
    const left = context.storage.transaction(() => book(context, transaction, sale));
    if (typeof left !== 'object') return left;
    if (reads === MAX_SALE_READS) return 'request_changed';
    sale = { ...(await left.check(left.request)), requestId: left.request.id };
  }
}

/** What the chain showed about a request's purchase before the booking of its payment. */
type SaleRead = Checked & { readonly requestId: string };

/** The payment completes this request's fee, so the chain must be read first: is the purchase still for sale? */
type SaleUnread = {
  readonly request: PaymentRequest;
  readonly check: NonNullable<Product['check']>;
};

/**
 * Decides what a final payment does, and writes its rows. Call inside a storage transaction.
 * @param sale the newest read of the purchase
 * @returns undefined once it is booked; otherwise it has written nothing
 */
function book(
  context: PaymentContext,
  transaction: ChainTransaction,
  sale: SaleRead | undefined,
): SaleUnread | 'may_be_returned' | undefined {
  const { journal, now, products, treasury, treasuryAddress } = context;
  const { accounts, signature, signers } = transaction;
  if (treasury.usedBy(signature) !== undefined) return undefined;
  const payment = treasuryPayment(transaction, treasuryAddress);
  const isOwn = signers.some((signer) => signer === treasuryAddress || isReserve(context, signer));
  // An earlier journal, now lost, may have booked an older payment.
  if (!payment || isOwn || olderRefusal(journal, transaction, undefined))
    return void treasury.record(payment ?? { ...transaction, lamports: 0n, payer: null }, null);

  const match = matchRequest(context, payment, transaction);
  if (typeof match === 'string') return void bookUnmatched(context, payment, match);
  // A bridge adds no reference to money that it returns to the treasury.
  const swaps = journal.open().filter(({ signer }) => signer === treasuryAddress);
  if (!accounts.includes(match.reference) && mayBeReturned(payment, swaps, now())) return 'may_be_returned';
  if (journal.usedBy(`payment:${signature}`) !== undefined)
    return void bookUnmatched(context, payment, 'no_request');

  // A payment in time for a request that has ended is late too.
  const isLate = match.state === 'expired' || paidAtOf(payment, now()) > match.closesAt;
  if (isLate) return void bookOwed(context, payment, match, 'late');
  if (match.state !== 'open') return void bookOwed(context, payment, match, 'double');
  const request = withPart(match, payment);
  const excess = BigInt(request.received) - BigInt(request.fee);
  if (excess < 0n && request.parts.length > MAX_PARTS)
    return void bookOwed(context, payment, match, 'underpaid');
  if (excess < 0n) return void bookFor(context, payment, request);

  const { check } = products[request.kind];
  if (check && sale?.requestId !== request.id) return { request, check };
  const paid = { ...request, paymentSignature: signature, paidAt: now() };
  if (sale?.type === 'refused') {
    const ended = bookFor(context, payment, { ...paid, state: 'expired', reason: sale.reason });
    return void oweRest(context, ended, 'failed');
  }
  const subject = { ...request.subject, ...sale?.subject };
  const sold = bookFor(context, payment, { ...paid, subject, state: 'paid' });
  if (excess > 0n) oweRefund(context, sold.id, payment, excess, 'overpaid');
  beginWork(context, sold);
  return undefined;
}

/** Uses a payment for a request, and stores the changed request. */
function bookFor(context: PaymentContext, payment: TreasuryPayment, request: PaymentRequest): PaymentRequest {
  usePayment(context, payment, request);
  return saveRequest(context, request);
}

/** Uses a payment for a request, which stays as it is: the whole payment is owed back. */
function bookOwed(
  context: PaymentContext,
  payment: TreasuryPayment,
  request: PaymentRequest,
  reason: RefundDue['reason'],
): void {
  usePayment(context, payment, request);
  oweRefund(context, request.id, payment, payment.lamports, reason);
}

function usePayment(
  { journal, now, treasury }: PaymentContext,
  payment: TreasuryPayment,
  request: PaymentRequest,
): void {
  journal.useOnce(`payment:${payment.signature}`, nameOf(request), now());
  treasury.record(payment, nameOf(request));
}

/** Income without a purpose is not an error, but may be a customer's payment of a wrong amount. */
function bookUnmatched(
  { log, treasury }: PaymentContext,
  payment: TreasuryPayment,
  reason: 'no_request' | 'several_requests',
): void {
  treasury.record(payment, null);
  const { signature, lamports: amount } = payment;
  if (amount <= DUST) return;
  const level = reason === 'several_requests' ? 'alarm' : 'warn';
  log({ level, event: 'payment_unmatched', signature, lamports: amount.toString(), reason });
}

/** The request that a payment names by its reference or, without one, by its exact amount. */
function matchRequest(
  { now, requests }: PaymentContext,
  payment: TreasuryPayment,
  { accounts }: ChainTransaction,
): PaymentRequest | 'no_request' | 'several_requests' {
  const [named, alsoNamed] = accounts.flatMap((account) => requests.byReference(account) ?? []);
  if (named) return alsoNamed ? 'several_requests' : named;
  const paidAt = paidAtOf(payment, now());
  const [exact, alsoExact] = requests
    .openByFee(payment.lamports.toString())
    .filter((request) => paidAt >= request.createdAt - CLOCK_SKEW_MS && paidAt <= request.closesAt);
  return exact && !alsoExact ? exact : 'no_request';
}

const withPart = (request: PaymentRequest, payment: TreasuryPayment): PaymentRequest => ({
  ...request,
  received: (BigInt(request.received) + payment.lamports).toString(),
  parts: [...request.parts, partOf(payment)],
  payer: payment.payer,
  reported: null,
});

/**
 * Queues the operation of a paid request, and reserves its cost; no other operation can use it from then on. Without an
 * operation the request is complete.
 */
function beginWork(context: PaymentContext, request: PaymentRequest): void {
  const { work } = context.products[request.kind];
  if (!work) {
    complete(context, request);
    return;
  }
  queueOperation(context, request.kind, workId(request), {
    amount: lamports(0n),
    reserved: lamports(costOf(request.subject)),
    plan: { ...work.planOf(request), invoiceId: request.id },
  });
}

/** Delivers the purchase, and ends the request. */
function complete(context: PaymentContext, request: PaymentRequest): void {
  const { products, now } = context;
  const tokenId = products[request.kind].deliver(request, now());
  saveRequest(context, { ...request, state: 'completed', completedAt: now(), tokenId, reason: null });
}

/** Ends the request of an operation. Call inside the storage transaction that ends the operation. */
export const endWork =
  (context: PaymentContext) =>
  ({ id, state, plan, reason }: Operation): void => {
    const request = context.requests.get(String(plan.invoiceId));
    if (request?.state !== 'paid' || workId(request) !== id) return;
    if (state === 'done') complete(context, request);
    else if (isRotated(reason))
      beginWork(context, saveRequest(context, { ...request, creations: request.creations + 1 }));
    else {
      const failed = saveRequest(context, { ...request, state: 'expired', reason: reasonText(reason) });
      oweRest(context, failed, 'failed');
    }
  };
