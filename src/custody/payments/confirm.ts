/**
 * Confirms the payment of a request, from the transaction to the purchased work. A payment belongs to a request if its
 * transaction contains the request's reference or moves exactly its amount. It has one purpose, across all flows. A payment
 * that buys nothing is recorded for a refund. The searches book the payments that they find with `bookPayment` too.
 * @module
 */
import { isSignature } from '../../chain/solana/address.ts';
import { forCaller } from '../../providers/admission.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { ConfirmRequest, PaymentConfirmed, Refusal } from '../api.ts';
import { refused } from '../kernel/begin-operation.ts';
import { lostRequestRefusal, olderRefusal } from '../kernel/birth.ts';
import type { LookedUp, Lookup } from '../kernel/signature-lookups.ts';
import type { Checked } from '../product.ts';
import { isReserve, type PaymentContext } from './context.ts';
import { oweAll, oweRefund } from './owed.ts';
import { reasonOf, saveRequest, viewOf } from './request-records.ts';
import { type PaymentRequest, partOf, purposeOf, type RefundDue, workId } from './request-store.ts';
import { DUST, mayBeReturned, paidAtOf, treasuryPayment } from './treasury-payment.ts';
import type { TreasuryPayment } from './treasury-store.ts';
import { findUnmatched } from './unmatched.ts';
import { beginWork } from './work.ts';

/** Longest wait for a payment that no node shows. Nodes show one within two seconds after it was sent. */
const UNKNOWN_MS = 15_000;
/** Maximum reads of what a payment would buy. */
const MAX_READS = 3;
/** A block's time may be before the request by this much. */
const CLOCK_SKEW_MS = 30_000;
/** Maximum payments towards one fee, so that a request's row stays small. */
const MAX_PARTS = 50;

/** Books the payment that a caller names, and waits for the work that it pays for. */
export async function confirmPayment(
  context: PaymentContext,
  asked: ConfirmRequest,
): Promise<PaymentConfirmed> {
  const { requests, storage, now, finish } = context;
  const deadline = now() + asked.waitMs;
  const refusal = await bindPayment(context, asked);
  if (refusal) return refused(refusal);
  const paid = requests.get(asked.id);
  const left = deadline - now();
  if (left > 0 && paid?.state === 'paid') await finish(workId(paid), left);
  const end = requests.get(asked.id);
  if (end?.state === 'completed') {
    await storage.sync();
    return { type: 'confirmed', request: viewOf(context, end) };
  }
  if (end?.state === 'expired') return refused(refundDue());
  const message = 'The payment is final and the token is being created. Repeat the call or read the invoice.';
  const details = { reason: end ? reasonOf(context, end) : null };
  return refused({ code: 'INVOICE_IN_PROGRESS', message, retryAfterSeconds: 5, details });
}

/** Reason why a transaction does not pay for a request; undefined if it does. @throws AppError UPSTREAM_FAILED */
async function bindPayment(
  context: PaymentContext,
  { id, kind, signature, client, waitMs }: ConfirmRequest,
): Promise<Refusal | undefined> {
  const { journal, requests, contact } = context;
  const request = requests.get(id);
  if (request?.kind !== kind)
    return (
      lostRequestRefusal(journal, id, contact) ?? {
        code: 'NOT_FOUND',
        message: 'No request has this id.',
      }
    );
  if (!isSignature(signature))
    return { code: 'INVALID_SIGNATURE', message: 'tx_signature is not a Solana signature.' };
  const earlier = journal.consumerOf(`payment:${signature}`);
  if (earlier !== undefined && earlier !== purposeOf(request)) return usedElsewhere(context, earlier);
  // A booked payment was final when it was booked.
  if (earlier !== undefined && (request.state === 'paid' || request.state === 'completed')) return undefined;

  const found = await lookUp(context, request, { signature, client, waitMs, unknownMs: UNKNOWN_MS });
  if (found.type === 'refused') return found.refusal;
  if (found.type !== 'final') return notFinal(found.type);
  const { transaction } = found;
  const older = olderRefusal(journal, transaction, contact);
  if (older) return older;

  // Another payment may change what this one would buy while that is read, so it is read again.
  for (let reads = 0; ; ) {
    const undecided = await forCaller(client, () => bookNamed(context, transaction));
    if (undecided === undefined) break;
    if (undecided === 'may_be_returned') return MAY_BE_RETURNED;
    if (++reads >= MAX_READS) return notFinal('confirmed');
  }
  forgetReported(context, id, signature);

  if (transaction.failed) return { code: 'PAYMENT_FAILED', message: 'This transaction failed on the chain.' };
  const consumer = journal.consumerOf(`payment:${transaction.signature}`);
  if (consumer !== purposeOf(request)) return notBound(context, transaction.signature, consumer);
  const current = requests.get(id);
  // The request's state determines the response to the caller.
  if (current?.state !== 'open') return undefined;
  if (!current.parts.some((part) => part.signature === transaction.signature)) return refundDue();
  const missing = BigInt(current.fee) - BigInt(current.received);
  const message = `${missing} lamports are missing. Pay them to the same reference.`;
  return { code: 'PAYMENT_INCOMPLETE', message, details: { missingLamports: missing.toString() } };
}

/** Waits for a payment to be final. Once it is confirmed, an open request shows it. */
async function lookUp(
  context: PaymentContext,
  request: PaymentRequest,
  asked: Omit<Lookup, 'until'>,
): Promise<LookedUp> {
  const isNew = request.state === 'open' && request.reported?.signature !== asked.signature;
  if (!isNew) return context.lookUp({ ...asked, until: 'final' });
  const deadline = context.now() + asked.waitMs;
  const found = await context.lookUp({ ...asked, until: 'confirmed' });
  if (found.type !== 'confirmed' || !found.transaction) return found;
  keepReported(context, request.id, found.transaction);
  const waitMs = deadline - context.now();
  return waitMs > 0 ? context.lookUp({ ...asked, waitMs, until: 'final' }) : found;
}

/**
 * Keeps a confirmed payment of the request until it is final, so that another reader is not asked to pay again. A
 * transaction that pays for something else changes nothing.
 */
function keepReported(context: PaymentContext, id: string, transaction: ChainTransaction): void {
  const { signature } = transaction;
  const { requests, treasuryAddress, now } = context;
  const payment = treasuryPayment(transaction, treasuryAddress);
  const paid = payment && matchRequest(context, payment, transaction);
  if (!paid || paid === 'several' || paid.id !== id || paid.state !== 'open') return;
  if (paid.reported?.signature !== signature) requests.put({ ...paid, reported: { signature, at: now() } });
}

/** Forgets a reported transaction once it is final: it is booked by then, or pays nothing. */
function forgetReported({ requests }: PaymentContext, id: string, signature: string): void {
  const request = requests.get(id);
  if (request?.reported?.signature === signature) requests.put({ ...request, reported: null });
}

/**
 * Why a payment is not booked yet. `may_be_returned`: it may be money that a bridge returned, which is known once the swap has
 * settled. `listing_unchecked`: what it would buy was not read before.
 */
export type Undecided = 'may_be_returned' | 'listing_unchecked';

/** What the chain shows of the purchase of a request immediately before it is booked. */
export type CheckedPurchase = Checked & { readonly request: string };

/**
 * Reads what a payment would buy. Only a payment that completes a fee causes this read.
 * @throws AppError UPSTREAM_FAILED
 */
export async function checkPurchase(
  context: PaymentContext,
  transaction: ChainTransaction,
): Promise<CheckedPurchase | undefined> {
  const payment = treasuryPayment(transaction, context.treasuryAddress);
  const request = payment && matchRequest(context, payment, transaction);
  if (!request || request === 'several') return undefined;
  const { check } = context.products[request.kind];
  if (!check || effectOf(request, payment, context.now()).type !== 'paid') return undefined;
  return { ...(await check(request)), request: request.id };
}

/** Books a finalized transaction that a caller names. One that pays nothing leaves no row. @throws AppError UPSTREAM_FAILED */
async function bookNamed(
  context: PaymentContext,
  transaction: ChainTransaction,
): Promise<Undecided | undefined> {
  if (!treasuryPayment(transaction, context.treasuryAddress)) return undefined;
  const undecided = bookPayment(context, transaction, await checkPurchase(context, transaction));
  if (undecided === undefined) context.treasury.deleteUnread(transaction.signature);
  return undecided;
}

/**
 * Books one finalized transaction in one storage transaction: the treasury's payment with its purpose, the name
 * `payment:<signature>` that nothing else can use, the request, its refunds, and the operation that it pays for. A second
 * call has no effect.
 */
export function bookPayment(
  context: PaymentContext,
  transaction: ChainTransaction,
  checked: CheckedPurchase | undefined,
): Undecided | undefined {
  const { journal, storage, treasury, treasuryAddress } = context;
  if (transaction.failed) return undefined;
  const payment = treasuryPayment(transaction, treasuryAddress);
  const isOurs = transaction.signers.some(
    (signer) => signer === treasuryAddress || isReserve(context, signer),
  );
  // The lost journal may have used an older payment.
  const isOlder = olderRefusal(journal, transaction, undefined) !== undefined;
  return storage.transaction(() => {
    const known = treasury.purposeOf(transaction.signature);
    if (known) return undefined;
    if (!payment || isOurs || isOlder) {
      treasury.record(payment ?? { ...transaction, lamports: 0n, payer: null }, null);
      return undefined;
    }
    const request = requestOf(context, payment, transaction, checked);
    if (typeof request === 'string' && request !== 'several') return request;
    if (typeof request === 'object') {
      journal.consumeOnce(`payment:${payment.signature}`, purposeOf(request), context.now());
      applyPayment(context, request, payment, checked?.request === request.id ? checked : undefined);
    } else if (known === undefined) reportUnmatched(context, payment, request);
    treasury.record(payment, typeof request === 'object' ? purposeOf(request) : null);
    return undefined;
  });
}

/** The request that a payment pays for; undefined if none. `several` if it has several references. */
function requestOf(
  context: PaymentContext,
  payment: TreasuryPayment,
  transaction: ChainTransaction,
  checked: CheckedPurchase | undefined,
): PaymentRequest | 'several' | Undecided | undefined {
  const { journal, products, treasuryAddress, now } = context;
  const request = matchRequest(context, payment, transaction);
  if (!request || request === 'several') return request;
  // A payment with our reference is not a sum that a bridge returned, because a bridge adds no reference.
  const isNamed = transaction.accounts.includes(request.reference);
  const swaps = journal.open().filter(({ signer }) => signer === treasuryAddress);
  if (!isNamed && mayBeReturned(payment, swaps, now())) return 'may_be_returned';
  if (journal.consumerOf(`payment:${payment.signature}`) !== undefined) return undefined;
  const isPaid = effectOf(request, payment, now()).type === 'paid';
  const isChecked = !products[request.kind].check || checked?.request === request.id;
  return isPaid && !isChecked ? 'listing_unchecked' : request;
}

/**
 * The request that a payment names by reference or by its exact amount. `several` if the payment has several
 * references; undefined if no request matches or the amount fits several.
 */
function matchRequest(
  { requests, now }: PaymentContext,
  payment: TreasuryPayment,
  { accounts }: ChainTransaction,
): PaymentRequest | 'several' | undefined {
  const referenced = accounts.flatMap((account) => requests.byReference(account) ?? []);
  if (referenced.length > 0) return referenced.length === 1 ? referenced[0] : 'several';
  const paidAt = paidAtOf(payment, now());
  const exact = requests
    .openByFee(payment.lamports.toString())
    .filter((request) => paidAt >= request.createdAt - CLOCK_SKEW_MS && paidAt <= request.closesAt);
  return exact.length === 1 ? exact[0] : undefined;
}

/** The effect of a payment on its request. */
type PaymentEffect =
  /** The payment buys nothing and must be refunded. */
  | { readonly type: 'owed'; readonly reason: RefundDue['reason'] }
  /** The payment is added to the request, but the fee is not complete. */
  | { readonly type: 'part'; readonly request: PaymentRequest }
  /** The fee is paid; `excess` lamports are refunded unless they are dust. */
  | { readonly type: 'paid'; readonly request: PaymentRequest; readonly excess: bigint };

function effectOf(request: PaymentRequest, payment: TreasuryPayment, now: number): PaymentEffect {
  if (request.state === 'expired' || paidAtOf(payment, now) > request.closesAt)
    return { type: 'owed', reason: 'late' };
  if (request.state !== 'open') return { type: 'owed', reason: 'double' };
  const received = BigInt(request.received) + payment.lamports;
  const missing = BigInt(request.fee) - received;
  if (missing > 0n && request.parts.length >= MAX_PARTS) return { type: 'owed', reason: 'underpaid' };
  const counted = {
    ...request,
    received: received.toString(),
    parts: [...request.parts, partOf(payment)],
    payer: payment.payer,
    reported: null,
  };
  if (missing > 0n) return { type: 'part', request: counted };
  const paid = { ...counted, state: 'paid', paymentSignature: payment.signature, paidAt: now } as const;
  return { type: 'paid', request: paid, excess: -missing };
}

/** Applies a payment that was consumed for this request. Call inside a storage transaction. */
function applyPayment(
  context: PaymentContext,
  request: PaymentRequest,
  payment: TreasuryPayment,
  checked: CheckedPurchase | undefined,
): void {
  const effect = effectOf(request, payment, context.now());
  if (effect.type === 'owed') oweRefund(context, request, payment, payment.lamports, effect.reason);
  else if (effect.type === 'part') saveRequest(context, effect.request);
  else if (checked?.type === 'refused') {
    // What may no longer be sold when it is paid is not sold, and the whole payment is owed back.
    const refusedRequest = { ...effect.request, state: 'expired', reason: checked.reason } as const;
    oweAll(context, saveRequest(context, refusedRequest), 'failed');
  } else {
    oweRefund(context, request, payment, effect.excess, 'overpaid');
    const subject = { ...request.subject, ...checked?.subject };
    beginWork(context, saveRequest(context, { ...effect.request, subject }));
  }
}

/** Logs income without a purpose. It is not an error, but may be a customer's payment of a wrong amount. */
function reportUnmatched(
  { log }: PaymentContext,
  { signature, lamports: amount }: TreasuryPayment,
  request: 'several' | undefined,
): void {
  const facts = { event: 'payment_unmatched', signature, lamports: amount.toString() };
  if (request === 'several') log({ level: 'alarm', ...facts, reason: 'several_requests' });
  else if (amount > DUST) log({ level: 'warn', ...facts, reason: 'no_request' });
}

const notFinal = (chain: 'confirmed' | 'pending' | 'unknown'): Refusal => ({
  code: 'PAYMENT_NOT_FINAL',
  message: 'This transaction is not final yet, or it does not exist.',
  retryAfterSeconds: 5,
  ...(chain === 'unknown' ? { details: { chain } } : {}),
});

const MAY_BE_RETURNED: Refusal = {
  code: 'PAYMENT_NOT_FINAL',
  message:
    'This may be money that a bridge returned. It is booked once the open swap of about that amount has settled.',
  retryAfterSeconds: 60,
};

/** Why a payment does not pay for a request that its caller names. */
function notBound(context: PaymentContext, signature: string, consumer: string | undefined): Refusal {
  const refusal = usedElsewhere(context, consumer);
  const unmatched = consumer === undefined ? findUnmatched(context, signature) : undefined;
  if (!unmatched) return refusal;
  const { payer, lamports: received } = unmatched;
  const message = `${refusal.message} It was received, is not matched, and will be returned by the operator.`;
  return { ...refusal, message, details: { receivedLamports: received.toString(), payer } };
}

const NOT_BOUND: Refusal = {
  code: 'PAYMENT_NOT_BOUND',
  message: "This payment contains neither the request's reference nor exactly its amount.",
};

/** @param consumer purpose of a transaction. One that no caller pays for, such as a bridge's refund, is not a payment */
export function usedElsewhere(
  { products }: Pick<PaymentContext, 'products'>,
  consumer: string | undefined,
): Refusal {
  const [purpose = ''] = consumer?.split(':') ?? [];
  if (![...Object.keys(products), 'asry', 'unmatched'].includes(purpose)) return NOT_BOUND;
  const message = `This payment already serves another purpose (${purpose}).`;
  return { code: 'PAYMENT_ALREADY_USED', message, details: { purpose } };
}

export const refundDue = (): Refusal => ({
  code: 'REFUND_DUE',
  message: 'The payment bought nothing. It is recorded for a refund to its payer.',
});
