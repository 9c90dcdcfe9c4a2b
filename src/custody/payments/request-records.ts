/**
 * The public views of payment requests, and the D1 rows of requests, listings and refunds.
 * @module
 */
import { REQUEST_KINDS, REQUEST_TABLES, type RecordTable } from '../../core/record-tables.ts';
import type { RequestView } from '../api.ts';
import type { MirrorSource } from '../kernel/module.ts';
import type { Columns } from '../kernel/ports.ts';
import { reasonText } from '../kernel/reason.ts';
import type { PaymentContext } from './context.ts';
import { type PaymentRequest, type RefundDue, workId } from './request-store.ts';

/** Maximum refunds shown with a request, because repeated payments can create any number of them. */
const SHOWN_REFUNDS = 20;

/** A reported transaction is shown for this long. A transaction lands within 150 blocks, about a minute, or never. */
const REPORTED_MS = 3 * 60_000;

const reportedOf = ({ state, reported }: PaymentRequest, now: number): string | null =>
  state === 'open' && reported !== null && now - reported.at < REPORTED_MS ? reported.signature : null;

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

function detailOf(request: PaymentRequest, refunds: readonly RefundDue[], now: number): string {
  switch (request.state) {
    case 'open':
      return request.received === '0' && reportedOf(request, now) === null ? 'awaiting_payment' : 'seen';
    case 'paid':
      return 'creating';
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
    payee: request.payee,
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

/** Why a request waits. While its work waits, the reason is stored in its operation. */
export function reasonOf({ journal }: PaymentContext, request: PaymentRequest): string | null {
  const { state, reason } = request;
  if (reason !== null || state !== 'paid') return reason;
  return reasonText(journal.get(workId(request))?.reason ?? null);
}

export function viewOf(context: PaymentContext, request: PaymentRequest): RequestView {
  const refunds = context.requests.refundsOf(request.id, SHOWN_REFUNDS);
  return requestView({ ...request, reason: reasonOf(context, request) }, refunds, context.now());
}

/** Stores a request and queues its D1 update. Call inside a storage transaction. */
export function saveRequest(context: PaymentContext, request: PaymentRequest): PaymentRequest {
  context.requests.put(request);
  mirrorRequest(context, request);
  return request;
}

/** The D1 rows of a request: its own and, once it is completed, its product's second row. */
function recordsOf({ products, requests }: PaymentContext, request: PaymentRequest) {
  const row = { ...request, client: null, reported: null };
  const { columns, completedRecord } = products[request.kind];
  const view = requestView(row, requests.refundsOf(request.id, SHOWN_REFUNDS), request.createdAt);
  const rowOf = (table: RecordTable, own: Columns, journal: { view: RequestView; row?: object }) => ({
    table,
    id: request.id,
    columns: { ...own, created_at: view.createdAt, journal: JSON.stringify(journal) },
  });
  const first = rowOf(REQUEST_TABLES[request.kind], columns(view), { view, row });
  if (request.state !== 'completed' || !completedRecord) return [first];
  const shown = completedRecord.viewOf(view);
  return [first, rowOf(completedRecord.table, completedRecord.columns(shown), { view: shown })];
}

export function mirrorRequest(context: PaymentContext, request: PaymentRequest): void {
  for (const { table, id, columns } of recordsOf(context, request))
    context.journal.queue.publish(table, id, columns, context.now());
}

export const refundColumns = (refund: RefundDue) => ({
  status: refund.state === 'paid' ? 'paid' : 'due',
  created_at: new Date(refund.createdAt).toISOString(),
  journal: JSON.stringify(refund),
});

/** Every row of the requests and refunds. @param adopt see {@link MirrorSource} */
export function mirroredPayments(
  context: PaymentContext,
  adopt: (journal: string) => void,
): readonly MirrorSource[] {
  const { products, requests } = context;
  const tables = [...new Set(Object.values(REQUEST_TABLES))];
  return [
    ...tables.map((table) => {
      const own = REQUEST_KINDS.filter((kind) => REQUEST_TABLES[kind] === table);
      const completed = REQUEST_KINDS.filter((kind) => products[kind].completedRecord?.table === table);
      return {
        table,
        rowsAfter: (id: string, limit: number) =>
          requests
            .after(id, limit, own, completed)
            .flatMap((request) => recordsOf(context, request).filter((row) => row.table === table)),
        adopt,
      };
    }),
    {
      table: 'refunds',
      rowsAfter: (id, limit) =>
        requests.refundsAfter(id, limit).map((refund) => ({ id: refund.id, columns: refundColumns(refund) })),
    },
  ];
}
