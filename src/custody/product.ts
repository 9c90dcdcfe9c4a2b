/**
 * What a payment can buy. A domain supplies one product for each kind of payment request. The payments know nothing
 * else about it.
 * @module
 */
import type { Refusal, RequestKind, RequestView } from './api.ts';
import type { Facts, OperationKind } from './kernel/operation.ts';
import type { Columns, RecordTable } from './kernel/ports.ts';

/** The purchase that a request names, as plain JSON in the product's own shape. */
export type Subject = RequestView['subject'];

/** A payment request, as its product sees it. */
export type Order = { readonly id: string; readonly subject: Subject };

/** The chain's state immediately before a payment buys something. */
export type Checked =
  /** `subject`: members that are stored with the request. */
  | { readonly type: 'possible'; readonly subject: Subject }
  | { readonly type: 'refused'; readonly reason: string };

/** The D1 row of a request. */
export type ProductRecord = {
  readonly table: RecordTable;
  /** Columns besides `id`, `revision`, `created_at` and `journal`. */
  columns(view: RequestView): Columns;
};

/** An operation that a payment begins. */
export type Work = {
  readonly kind: OperationKind;
  planOf(order: Order): Facts;
};

export type Product = {
  readonly record: ProductRecord;
  /** A second row of a completed request, which shows another view of it. */
  readonly completedRecord?: ProductRecord & { viewOf(view: RequestView): RequestView };
  /** Why nobody can buy this now; undefined if it is for sale. */
  refusal(subject: Subject): Refusal | undefined;
  /** The subject of a new request. Call inside a storage transaction. */
  open(order: Order, now: number): Subject;
  /** Absent if nothing has to be read before a payment is booked. @throws AppError UPSTREAM_FAILED */
  check?(order: Order): Promise<Checked>;
  /** Absent if the payment alone completes the request. */
  readonly work?: Work;
  /** Delivers the purchase and returns the token's number, if there is a token. Call inside a storage transaction. */
  deliver(order: Order, now: number): number | null;
};

export type Products = Readonly<Record<RequestKind, Product>>;
