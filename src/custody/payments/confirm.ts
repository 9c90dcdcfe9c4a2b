/**
 * Confirms the payment of a request. A caller names a transaction (`confirmPayment`), or `payment-search.ts` finds it.
 * Both pass a transaction that a quorum shows as final to `bookPayment`. There `decide` finds its {@link PaymentCase},
 * and `writeRows` writes the rows and the operation in the same storage transaction. A crash leaves all of them or
 * none.
 *
 * If a crash comes before this transaction, a later call or search records the payment. After it, the timer drives the
 * operation, and `executor.ts` stores the signed bytes before it sends them. `endWork` delivers or records a refund, in
 * the transaction that ends the operation. Refunds are only recorded here; the operator pays them.
 *
 * A lying quorum cannot be detected here. In that case, only the limits that are checked before signing bound the loss.
 * `lookUp` and `forCaller` bound the reads for callers.
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
import type { Checked, SaleCheck } from '../product.ts';
import {
  INVALID_SIGNATURE,
  incomplete,
  inProgress,
  MAY_BE_RETURNED,
  NOT_BOOKED_YET,
  NOT_FOUND,
  notFinal,
  notForRequest,
  PAYMENT_FAILED,
  REFUND_DUE,
  usedElsewhere,
} from './confirm-refusals.ts';
import type { PaymentContext } from './context.ts';
import { oweParts, oweRefund, reportUnmatched } from './owed.ts';
import { reasonOf, saveRequest, viewOf } from './request-records.ts';
import { costOf, nameOf, type PaymentRequest, withPart, workId } from './request-store.ts';
import { awaitedReturns, isAfter, mayBeReturned, type NoMatch, readPayment } from './treasury-payment.ts';
import type { TreasuryPayment } from './treasury-store.ts';

/** Maximum wait for a payment that no node shows. Nodes show a payment within two seconds after it was sent. */
const UNKNOWN_MS = 15_000;
/** Maximum checks of the sale while one payment is recorded. */
const MAX_SALE_READS = 3;
/** After this many parts, a request accepts only a part that completes its fee, so that its row stays small. */
const MAX_PARTS = 50;

/**
 * What a final transaction does. `writeRows` lists the rows of each case; the arrow shows what the caller gets. A
 * payment of a different request than the caller's is recorded for that request, and the caller gets
 * PAYMENT_ALREADY_USED.
 */
type PaymentCase =
  /** An earlier call or search has written the rows. -> what that case returned */
  | { readonly type: 'booked' }
  /**
   * Pays a request's exact fee without its reference, so it may be the bridge's refund of an open swap. A later call or
   * search decides. -> PAYMENT_NOT_FINAL
   */
  | { readonly type: 'may_be_returned' }
  /** Completes the fee, but the sale must be checked on the chain first. -> decided again after that read */
  | { readonly type: 'sale_unread'; readonly request: PaymentRequest; readonly check: SaleCheck }
  /**
   * Sent by the treasury or the reserve; in a search also a transaction that pays nothing or predates the journal. ->
   * PAYMENT_NOT_BOUND
   */
  | { readonly type: 'no_payment'; readonly isOwn: boolean }
  /**
   * Does not match exactly one request, for the reason in `NoMatch`. -> PAYMENT_NOT_BOUND; the operator may return it.
   * Or a reward or a swap's refund uses it. -> PAYMENT_ALREADY_USED
   */
  | { readonly type: 'unmatched'; readonly reason: NoMatch }
  /**
   * Short, with the request's reference: the request stays open for the remainder. If that never arrives, `payments.ts`
   * records a refund for each part. -> PAYMENT_INCOMPLETE
   */
  | { readonly type: 'short'; readonly request: PaymentRequest }
  /**
   * Late, double, or one part too many: the whole payment is owed back, and the request does not change. -> depends on
   * the request's state. Open or expired: REFUND_DUE; paid: INVOICE_IN_PROGRESS; completed: confirmed, with the refund
   */
  | { readonly type: 'owed_back'; readonly request: PaymentRequest; readonly reason: OwedBack }
  /**
   * Completes the fee, but the purchase is no longer for sale: the request ends, and each part is owed back. ->
   * REFUND_DUE
   */
  | { readonly type: 'not_for_sale'; readonly request: PaymentRequest; readonly reason: string }
  /** Completes the fee; an excess is owed back. -> INVOICE_IN_PROGRESS until the purchase is delivered, then confirmed */
  | { readonly type: 'fee_paid'; readonly request: PaymentRequest; readonly excess: bigint };

/**
 * `late`: in a block after the request closed, or recorded after it expired. `double`: in time, but recorded after the
 * request was paid. `underpaid`: short, after `MAX_PARTS` parts.
 */
type OwedBack = 'late' | 'double' | 'underpaid';
/** The state of a request's purchase on the chain, read before its payment is recorded. */
type SaleRead = Checked & { readonly requestId: string };

export async function confirmPayment(
  context: PaymentContext,
  asked: ConfirmRequest,
): Promise<PaymentConfirmed> {
  const { contact, finish, journal, now, requests } = context;
  const deadline = now() + asked.waitMs;
  const request = requests.get(asked.id);
  if (request?.kind !== asked.kind)
    return refused(lostRequestRefusal(journal, asked.id, contact) ?? NOT_FOUND);
  if (!isSignature(asked.signature)) return refused(INVALID_SIGNATURE);
  const usedBy = journal.userOf(`payment:${asked.signature}`);
  // Used by another request, a reward, a swap's refund, or a refund that the operator owes.
  if (usedBy !== undefined && usedBy !== nameOf(request)) return refused(usedElsewhere(context, usedBy));
  // A payment is used once it is final, so a payment that this request has used needs no further read.
  const refusal = usedBy === undefined ? await bookNamed(context, request, asked) : undefined;
  if (refusal) return refused(refusal);
  const current = requests.get(asked.id);
  const leftMs = deadline - now();
  // This wait makes no calls, so only the edge's rate limit bounds the number of waiting callers.
  if (leftMs > 0 && current?.state === 'paid') await finish(workId(current), leftMs);
  return answer(context, asked);
}

/**
 * The response to a payment of the caller's request. A double payment of a completed request also confirms it, and
 * shows the refund.
 */
async function answer(context: PaymentContext, { id, signature }: ConfirmRequest): Promise<PaymentConfirmed> {
  const request = context.requests.get(id);
  switch (request?.state) {
    case 'completed':
      // A delivery is reported only once a crash of the platform cannot undo it.
      await context.storage.sync();
      return { type: 'confirmed', request: viewOf(context, request) };
    case 'open':
      return refused(
        request.parts.some((part) => part.signature === signature) ? incomplete(request) : REFUND_DUE,
      );
    case 'expired':
      return refused(REFUND_DUE);
    case 'paid':
      return refused(inProgress(reasonOf(context, request)));
    case undefined:
      return refused(NOT_FOUND);
  }
}

/**
 * Waits until the named transaction is final, and records it for the request that it pays, even if the caller named
 * another request.
 * @returns a refusal unless the caller's request has used it
 * @throws AppError UPSTREAM_FAILED
 */
async function bookNamed(
  context: PaymentContext,
  request: PaymentRequest,
  asked: ConfirmRequest,
): Promise<Refusal | undefined> {
  const { contact, journal, requests } = context;
  const { signature } = asked;
  const found = await lookUpPayment(context, request, asked);
  if (found.type === 'refused') return found.refusal;
  if (found.type !== 'final') return notFinal(found.type);
  const { transaction } = found;
  const older = olderRefusal(journal, transaction, contact);
  if (older) return older;
  // Callers can name any transaction on the chain, so a transaction that pays nothing does not get a row.
  if (readPayment(context, transaction).payment.lamports > 0n) {
    // This payment has arrived, so its check of the sale comes before all other callers' calls.
    const undecided = await forCaller(
      asked.client,
      () => bookPayment(context, transaction),
      () => true,
    );
    if (undecided === 'may_be_returned') return MAY_BE_RETURNED;
    if (undecided) return NOT_BOOKED_YET;
  }
  // The transaction is final, so the request no longer shows it as reported.
  const current = requests.get(request.id);
  if (current?.reported?.signature === signature) requests.putReported(current, null);
  if (transaction.failed) return PAYMENT_FAILED;
  const usedBy = journal.userOf(`payment:${signature}`);
  return usedBy === nameOf(request) ? undefined : notForRequest(context, signature, usedBy);
}

/**
 * Waits for the final transaction. Once one node shows it as confirmed, an open request shows it as reported for three
 * minutes, so that the customer does not pay twice. It is not recorded as a payment yet.
 */
async function lookUpPayment(
  context: PaymentContext,
  request: PaymentRequest,
  { signature, client, waitMs }: ConfirmRequest,
): Promise<LookedUp> {
  const { lookUp, now, requests } = context;
  const asked = { signature, client, waitMs, unknownMs: UNKNOWN_MS };
  if (request.state !== 'open' || request.reported?.signature === signature)
    return lookUp({ ...asked, until: 'final' });
  const deadline = now() + waitMs;
  const found = await lookUp({ ...asked, until: 'confirmed' });
  if (found.type !== 'confirmed' || !found.transaction) return found;
  const { payment, match } = readPayment(context, found.transaction);
  if (payment.lamports > 0n && typeof match === 'object' && match.id === request.id && match.state === 'open')
    requests.putReported(match, { signature, at: now() });
  const leftMs = deadline - now();
  return leftMs > 0 ? lookUp({ ...asked, waitMs: leftMs, until: 'final' }) : found;
}

/** `request_changed`: after each of `MAX_SALE_READS` checks of the sale, the payment matched a different request. */
export type Undecided = 'may_be_returned' | 'request_changed';

/** Records one final transaction; a second call has no effect. @throws AppError UPSTREAM_FAILED */
export async function bookPayment(
  context: PaymentContext,
  transaction: ChainTransaction,
): Promise<Undecided | undefined> {
  if (transaction.failed) return undefined;
  let sale: SaleRead | undefined;
  // A storage transaction is synchronous, so the chain is read between two of them.
  for (let reads = 0; ; reads++) {
    const paymentCase = context.storage.transaction(() => {
      const { payment, match } = readPayment(context, transaction);
      const decided = decide(context, { payment, match }, transaction, sale);
      writeRows(context, payment, decided);
      return decided;
    });
    if (paymentCase.type === 'may_be_returned') return 'may_be_returned';
    if (paymentCase.type !== 'sale_unread') return undefined;
    if (reads === MAX_SALE_READS) return 'request_changed';
    sale = { ...(await paymentCase.check(paymentCase.request)), requestId: paymentCase.request.id };
  }
}

/**
 * Decides from stored rows and the read of the sale; does not write.
 * @param match the request whose reference the transaction has or, without one, whose exact fee it pays
 * @param sale the newest read of the purchase
 */
function decide(
  context: PaymentContext,
  { payment, match }: { readonly payment: TreasuryPayment; readonly match: PaymentRequest | NoMatch },
  transaction: ChainTransaction,
  sale: SaleRead | undefined,
): PaymentCase {
  const { journal, products, treasury } = context;
  const { accounts, signature, signers } = transaction;
  if (treasury.hasRecord(signature, payment.payee)) return { type: 'booked' };
  const isOwn = signers.some((signer) => signer === payment.payee || isReserve(context, signer));
  if (payment.lamports === 0n || isOwn || olderRefusal(journal, transaction, undefined))
    return { type: 'no_payment', isOwn: isOwn && payment.lamports > 0n };

  if (typeof match === 'string') return { type: 'unmatched', reason: match };
  // Bridges do not add a reference to money that they return to the treasury.
  if (!accounts.includes(match.reference) && mayBeReturned(payment, awaitedReturns(journal.open())))
    return { type: 'may_be_returned' };
  // A reward or a swap's refund has used this payment.
  if (journal.userOf(`payment:${signature}`) !== undefined)
    return { type: 'unmatched', reason: 'no_request' };

  // For an expired request, a payment in a block before it closed is late too.
  if (match.state === 'expired' || isAfter(payment, match.closesAt))
    return { type: 'owed_back', request: match, reason: 'late' };
  if (match.state !== 'open') return { type: 'owed_back', request: match, reason: 'double' };
  const request = withPart(match, payment);
  const excess = BigInt(request.received) - BigInt(request.fee);
  if (excess < 0n && match.parts.length >= MAX_PARTS)
    return { type: 'owed_back', request: match, reason: 'underpaid' };
  if (excess < 0n) return { type: 'short', request };

  const { check, refusal } = products[request.kind];
  const notForSale = refusal(request.subject);
  if (notForSale) return { type: 'not_for_sale', request, reason: notForSale.code };
  const saleOfRequest = sale?.requestId === request.id ? sale : undefined;
  if (check && !saleOfRequest) return { type: 'sale_unread', request, check };
  if (saleOfRequest?.type === 'refused')
    return { type: 'not_for_sale', request, reason: saleOfRequest.reason };
  const subject = { ...request.subject, ...saleOfRequest?.subject };
  return { type: 'fee_paid', request: { ...request, subject }, excess };
}

/**
 * Writes the rows of each case, by table. `once` gives `payment:<signature>` to the request permanently. A row of
 * `treasury_payments` replaces the row of `unread_transactions`. Each row of requests, refunds, operations or tokens
 * also adds its D1 copy to `outbox`. Refunds of dust are not stored. Call inside the storage transaction of the
 * decision.
 */
function writeRows(context: PaymentContext, payment: TreasuryPayment, paymentCase: PaymentCase): void {
  const { treasury } = context;
  const completedBy = { paymentSignature: payment.signature, paidAt: context.now() };
  switch (paymentCase.type) {
    case 'booked':
    case 'may_be_returned':
    case 'sale_unread':
      return;
    case 'no_payment':
      treasury.record(payment, paymentCase.isOwn ? 'own' : null); // treasury_payments
      return;
    case 'unmatched':
      treasury.record(payment, null); // treasury_payments
      reportUnmatched(context, payment, paymentCase.reason);
      return;
    case 'short':
      usePayment(context, payment, paymentCase.request); // once, treasury_payments
      saveRequest(context, paymentCase.request); // requests
      return;
    case 'owed_back':
      usePayment(context, payment, paymentCase.request); // once, treasury_payments
      oweRefund(context, paymentCase.request.id, payment, payment.lamports, paymentCase.reason); // refunds
      return;
    case 'not_for_sale': {
      const { request, reason } = paymentCase;
      usePayment(context, payment, request); // once, treasury_payments
      const expired = saveRequest(context, { ...request, ...completedBy, state: 'expired', reason }); // requests
      oweParts(context, expired, 'failed'); // refunds: one for each part
      return;
    }
    case 'fee_paid': {
      usePayment(context, payment, paymentCase.request); // once, treasury_payments
      const request = saveRequest(context, { ...paymentCase.request, ...completedBy, state: 'paid' }); // requests
      if (paymentCase.excess > 0n) oweRefund(context, request.id, payment, paymentCase.excess, 'overpaid'); // refunds
      beginWork(context, request); // operations, agenda; without work: tokens, requests
    }
  }
}

function usePayment(context: PaymentContext, payment: TreasuryPayment, request: PaymentRequest): void {
  context.journal.useOnce(`payment:${payment.signature}`, nameOf(request), context.now());
  context.treasury.record(payment, nameOf(request));
}

/**
 * Queues the operation of a paid request and thereby reserves its cost. A product without work is delivered at once.
 */
function beginWork(context: PaymentContext, request: PaymentRequest): void {
  const { work } = context.products[request.kind];
  if (!work) deliver(context, request);
  else
    queueOperation(context, request.kind, workId(request), {
      amount: lamports(0n),
      reserved: lamports(costOf(request.subject)),
      plan: { ...work.planOf(request), invoiceId: request.id },
    });
}

/** Rows: tokens, requests. */
function deliver(context: PaymentContext, request: PaymentRequest): void {
  const { products, now } = context;
  const tokenId = products[request.kind].deliver(request, now());
  saveRequest(context, { ...request, state: 'completed', completedAt: now(), tokenId, reason: null });
}

/**
 * Ends the request of an operation. It writes the rows of `deliver`, or requests and a new operation, or requests and
 * refunds. Call inside the storage transaction that ends the operation.
 */
export const endWork =
  (context: PaymentContext) =>
  ({ id, state, plan, reason }: Operation): void => {
    const request = context.requests.get(String(plan.invoiceId));
    if (request?.state !== 'paid' || workId(request) !== id) return;
    if (state === 'done') deliver(context, request);
    // A change of the reserve's key is not a failure: the work starts again as a new operation.
    else if (isRotated(reason))
      beginWork(context, saveRequest(context, { ...request, creations: request.creations + 1 }));
    else {
      const failed = saveRequest(context, { ...request, state: 'expired', reason: reasonText(reason) });
      // `oweParts` subtracts the amount that is already owed as `overpaid`.
      oweParts(context, failed, 'failed');
    }
  };
