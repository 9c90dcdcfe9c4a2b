/**
 * The public views of payment requests, and the D1 rows of requests, listings and refunds.
 * @module
 */
import type { RequestView } from '../api.ts';
import type { Journal } from '../kernel/journal.ts';
import type { MirrorSource } from '../kernel/module.ts';
import type { PaymentRequest, RefundDue, RequestStore } from './request-store.ts';

/** Maximum refunds shown with a request: repeated payments can create any number of them. */
export const SHOWN_REFUNDS = 20;

/**
 * A transaction lands within 150 blocks, about a minute, or never. A reported one is shown for this long; then the
 * request awaits a payment again.
 */
const REPORTED_MS = 3 * 60_000;

const reportedOf = ({ state, reported }: PaymentRequest, now: number): string | null =>
  state === 'open' && reported !== null && now - reported.at < REPORTED_MS ? reported.signature : null;

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

function detailOf(request: PaymentRequest, refunds: readonly RefundDue[], now: number): string {
  switch (request.state) {
    case 'open':
      return request.received === '0' && reportedOf(request, now) === null ? 'awaiting_payment' : 'seen';
    case 'paid':
      return request.kind === 'token' ? 'creating' : 'paid';
    case 'completed':
      return 'completed';
    case 'expired':
      return refunds.length > 0 ? 'refund_due' : 'expired';
  }
}

export function requestView(
  request: PaymentRequest,
  refunds: readonly RefundDue[],
  now: number,
): RequestView {
  return {
    id: request.id,
    kind: request.kind,
    status: request.state === 'completed' ? 'completed' : 'pending',
    detail: detailOf(request, refunds, now),
    reason: request.reason,
    subject: request.subject,
    feeLamports: request.fee,
    receivedLamports: request.received,
    reference: request.reference,
    createdAt: new Date(request.createdAt).toISOString(),
    expiresAt: new Date(request.expiresAt).toISOString(),
    paidAt: iso(request.paidAt),
    completedAt: iso(request.completedAt),
    paymentSignature: request.paymentSignature,
    reportedSignature: reportedOf(request, now),
    tokenId: request.tokenId,
    mintAddress: typeof request.subject.mint === 'string' ? request.subject.mint : null,
    refunds: refunds.map(({ signature, lamports, payer, reason, state, refundSignature }) => ({
      signature,
      lamports,
      payer,
      reason,
      status: state === 'paid' ? 'paid' : 'due',
      refundSignature,
    })),
  };
}

function requestColumns(store: RequestStore, request: PaymentRequest) {
  const mirrored = { ...request, client: null, reported: null };
  const view = requestView(mirrored, store.refundsOf(request.id, SHOWN_REFUNDS), request.createdAt);
  const shared = { created_at: view.createdAt, journal: JSON.stringify({ view, row: mirrored }) };
  if (request.kind === 'token') return { status: view.status, ...shared };
  const status = view.status === 'completed' ? 'confirmed' : 'pending';
  return { token_id: Number(request.subject.tokenId), status, ...shared };
}

export function mirrorRequest(
  journal: Journal,
  store: RequestStore,
  request: PaymentRequest,
  now: number,
): void {
  const table = request.kind === 'token' ? 'invoices' : 'listings';
  journal.publish(table, request.id, requestColumns(store, request), now);
}

function createdListingColumns(request: PaymentRequest) {
  const view = { ...requestView(request, [], request.createdAt), kind: 'listing' as const, feeLamports: '0' };
  const columns = { token_id: Number(request.tokenId), status: 'confirmed', created_at: view.createdAt };
  return { ...columns, journal: JSON.stringify({ view }) };
}

/** A token created by the service is listed with its creation; it needs no listing payment. */
export function mirrorCreatedListing(journal: Journal, request: PaymentRequest, now: number): void {
  journal.publish('listings', request.id, createdListingColumns(request), now);
}

export const refundColumns = (refund: RefundDue) => ({
  status: refund.state === 'paid' ? 'paid' : 'due',
  created_at: new Date(refund.createdAt).toISOString(),
  journal: JSON.stringify(refund),
});

/** Every row of the requests, tokens and refunds. */
export const mirroredPayments = (
  store: RequestStore,
  tokens: MirrorSource,
  adopt: (journal: string) => void,
): readonly MirrorSource[] => [
  {
    table: 'invoices',
    rowsAfter: (id, limit) =>
      store.invoicesAfter(id, limit).map((row) => ({ id: row.id, columns: requestColumns(store, row) })),
    adopt,
  },
  {
    table: 'listings',
    rowsAfter: (id, limit) =>
      store.listingsAfter(id, limit).map((row) => ({
        id: row.id,
        columns: row.kind === 'token' ? createdListingColumns(row) : requestColumns(store, row),
      })),
    adopt,
  },
  tokens,
  {
    table: 'refunds',
    rowsAfter: (id, limit) =>
      store.refundsAfter(id, limit).map((refund) => ({ id: refund.id, columns: refundColumns(refund) })),
  },
];
