/**
 * What a payment can buy. A domain supplies one product for each kind of payment request. The payments module uses only
 * this interface.
 * @module
 */
import type { RecordTable, RequestKind } from '../core/record-tables.ts';
import type { Refusal, RequestView } from './api.ts';
import type { Facts, OperationKind } from './kernel/operation.ts';
import type { Columns } from './kernel/ports.ts';

/** The purchase that a request names, as plain JSON in the product's own shape. */
export type Subject = RequestView['subject'];

export type Order = { readonly id: string; readonly subject: Subject };

/** What the chain shows about the purchase, right before a payment buys it. */
export type Checked =
  /** `subject`: members that are stored with the request. */
  | { readonly type: 'possible'; readonly subject: Subject }
  | { readonly type: 'refused'; readonly reason: string };

/** Reads whether an order is still for sale. @throws AppError UPSTREAM_FAILED */
export type SaleCheck = (order: Order) => Promise<Checked>;

/** An operation that a payment starts. */
export type Work = {
  readonly kind: OperationKind;
  /** Lamports that it costs now, according to a quorum of nodes. @throws AppError UPSTREAM_FAILED */
  costOf(subject: Subject): Promise<bigint>;
  /** The plan besides `invoiceId`, the id of the request. */
  planOf(order: Order): Facts;
};

/** Every decision about a kind of request. There are no defaults, so a new kind must make each decision. */
export type Product = {
  /** Columns of a request's D1 row besides `id`, `revision`, `created_at` and `journal`. */
  columns(view: RequestView): Columns;
  /** A second D1 row for a completed request, with a different view of it. */
  readonly completedRecord: {
    readonly table: RecordTable;
    viewOf(view: RequestView): RequestView;
    /** @param view of `viewOf` */
    columns(view: RequestView): Columns;
  } | null;
  /** Why this cannot be bought now; undefined if it is for sale. */
  refusal(subject: Subject): Refusal | undefined;
  /** The subject of a new request. Call inside a storage transaction. */
  open(order: Order, now: number): Subject;
  /** Null if a payment can be recorded without a further read. */
  readonly check: SaleCheck | null;
  /** Null if the payment alone completes the request. */
  readonly work: Work | null;
  /** Delivers the purchase and returns the token's number, if there is a token. Call inside a storage transaction. */
  deliver(order: Order, now: number): number | null;
};

export type Products = Readonly<Record<RequestKind, Product>>;
