/**
 * Stores payment requests, and the refunds of payments that bought nothing, in the
 * custodian's own database.
 * @module
 */
import { Budget } from '../../core/budget.ts';
import { BUDGETS } from '../../core/call-limits.ts';
import type { RequestKind } from '../../core/record-tables.ts';
import type { Storage } from '../kernel/ports.ts';
import type { OpenSales } from '../limits.ts';
import type { Debt } from '../operator-api.ts';
import type { Subject } from '../product.ts';
import { debtOf, numberOf, RowStore } from '../row-store.ts';
import type { TreasuryPayment } from './treasury-store.ts';

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS requests (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    fee TEXT NOT NULL,
    reference TEXT NOT NULL UNIQUE,
    client TEXT,
    created_at INTEGER NOT NULL,
    closes_at INTEGER NOT NULL,
    checked_at INTEGER NOT NULL DEFAULT 0,
    row TEXT NOT NULL
  )`,
  'CREATE INDEX IF NOT EXISTS requests_open ON requests (state, closes_at)',
  'CREATE INDEX IF NOT EXISTS requests_by_fee ON requests (fee, state)',
  'CREATE INDEX IF NOT EXISTS requests_closing ON requests (closes_at)',
  'CREATE INDEX IF NOT EXISTS requests_created ON requests (created_at)',
  // Sums of costs read only this index, however long the rows of the requests are.
  `CREATE INDEX IF NOT EXISTS requests_sales ON requests (state, kind, closes_at, json_extract(row, '$.subject.costLamports'))`,
  `CREATE TABLE IF NOT EXISTS refunds (
    signature TEXT PRIMARY KEY,
    request_id TEXT NOT NULL,
    state TEXT NOT NULL,
    row TEXT NOT NULL
  )`,
  "CREATE INDEX IF NOT EXISTS refunds_by_request ON refunds (request_id, (state = 'paid'))",
  "CREATE INDEX IF NOT EXISTS refunds_due ON refunds (state) WHERE state = 'due'",
  "CREATE INDEX IF NOT EXISTS requests_checked ON requests (checked_at) WHERE state = 'open'",
] as const;

/**
 * open: awaits payment; paid: its work has started; completed: delivered; expired: bought nothing, and each payment
 * above dust is owed back.
 */
export type RequestState = 'open' | 'paid' | 'completed' | 'expired';

/** JSON strings and numbers; amounts are decimal strings. */
export type PaymentRequest = {
  /** Public UUID. */
  readonly id: string;
  readonly kind: RequestKind;
  readonly state: RequestState;
  readonly subject: Subject;
  /** The treasury that was configured when the request was opened. Only payments to it pay for the request. */
  readonly payee: string;
  /** Lamports to pay; the last five digits distinguish open requests. */
  readonly fee: string;
  /** The Solana Pay reference: an address among the accounts of the payment. */
  readonly reference: string;
  /**
   * The client that opened the request, for its share of the open requests. Null once the request is no longer open.
   */
  readonly client: string | null;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** A payment after `expiresAt` is still accepted until this time. */
  readonly closesAt: number;
  /** Lamports received so far, and the payments that contributed them. */
  readonly received: string;
  readonly parts: readonly PaymentPart[];
  readonly paymentSignature: string | null;
  /** A transaction that a caller has named, while it is not final, and when it was named. Not mirrored in D1. */
  readonly reported: { readonly signature: string; readonly at: number } | null;
  readonly paidAt: number | null;
  readonly completedAt: number | null;
  readonly tokenId: number | null;
  /** Number of the newest creation, from 1. Only a change of the key starts a second creation. */
  readonly creations: number;
  /** Reason why the request's work waits, or null. */
  readonly reason: string | null;
};

/** The newest operation that does the work of a request. */
export const workId = ({ kind, id, creations }: Pick<PaymentRequest, 'kind' | 'id' | 'creations'>): string =>
  creations === 1 ? `${kind}:${id}` : `${kind}:${id}:${creations}`;

/** The name under which the journal records that a request uses a payment, such as `listing:<id>`. */
export const nameOf = ({ kind, id }: { readonly kind: string; readonly id: string }): string =>
  `${kind}:${id}`;

export type PaymentPart = {
  readonly signature: string;
  readonly lamports: string;
  readonly payer: string | null;
};

/**
 * All payments to a treasury up to `readUntil` have been read. A request that closed before `latest` no longer waits
 * for unread payments.
 */
export type TreasuryRead = {
  readonly treasury: string;
  /** Unix milliseconds, as is `latest`. */
  readonly readUntil: number;
  readonly latest: number;
};

export const withPart = (
  request: PaymentRequest,
  { signature, lamports, payer }: TreasuryPayment,
): PaymentRequest => ({
  ...request,
  received: (BigInt(request.received) + lamports).toString(),
  parts: [...request.parts, { signature, lamports: lamports.toString(), payer }],
  reported: null,
});

/** A payment, or part of one, that bought nothing. */
export type RefundDue = {
  /** The payment's signature; a later refund of the same payment appends `.2` and so on. */
  readonly id: string;
  readonly signature: string;
  /** For a payment that matched no request, its signature. */
  readonly requestId: string;
  readonly lamports: string;
  readonly payer: string | null;
  readonly reason: 'overpaid' | 'late' | 'double' | 'underpaid' | 'failed' | 'unmatched';
  /** begun: an operation is paying it. */
  readonly state: 'due' | 'begun' | 'paid';
  readonly operations: number;
  readonly operationId: string | null;
  readonly refundSignature: string | null;
  readonly createdAt: number;
  readonly paidAt: number | null;
  /** Incremented with every change. */
  readonly changes: number;
};

/** Lamports that the work of a request may cost the reserve: rent and fees. */
export const costOf = ({ costLamports }: Subject): bigint => BigInt(String(costLamports));

const decodeRequest = (text: string): PaymentRequest => JSON.parse(text) as PaymentRequest;
const decodeRefund = (text: string): RefundDue => JSON.parse(text) as RefundDue;

export class RequestStore {
  readonly #exec: Storage['exec'];
  readonly #requests: RowStore<PaymentRequest>;
  readonly #refunds: RowStore<RefundDue>;
  /**
   * The budget that all requests that can still be paid use, cached until a request changes. A refused call is free, so
   * it must not read thousands of rows. Do not use it inside a transaction, because a rollback would leave a wrong
   * cache.
   */
  #openBudget: Budget | undefined;
  /** `until`: when the first of the counted requests closes, in Unix milliseconds. */
  readonly #openSales = new Map<RequestKind, { readonly sales: OpenSales; readonly until: number }>();

  constructor({ exec, transaction }: Storage) {
    transaction(() => {
      for (const statement of SCHEMA) exec(statement);
    });
    this.#exec = exec;
    this.#requests = new RowStore(exec, 'requests', decodeRequest);
    this.#refunds = new RowStore(exec, 'refunds', decodeRefund);
  }

  put(changed: PaymentRequest): void {
    const request = changed.state === 'open' ? changed : { ...changed, client: null };
    this.#openBudget = undefined;
    this.#openSales.clear();
    const { id, kind, state, fee, reference, client, createdAt, closesAt } = request;
    const columns = { kind, state, fee, reference, client, created_at: createdAt, closes_at: closesAt };
    this.#requests.put({ id }, columns, request);
  }

  /** Stores which transaction a caller has named, or null. It is not mirrored in D1. */
  putReported(request: PaymentRequest, reported: PaymentRequest['reported']): void {
    this.put({ ...request, reported });
  }

  get(id: string): PaymentRequest | undefined {
    return this.#requests.first('WHERE id = ?', id);
  }

  byReference(reference: string): PaymentRequest | undefined {
    return this.#requests.first('WHERE reference = ?', reference);
  }

  hasFee(fee: string, closedAfter: number): boolean {
    const query = "SELECT 1 FROM requests WHERE fee = ? AND (state = 'open' OR closes_at > ?) LIMIT 1";
    return this.#exec(query, fee, closedAfter).length > 0;
  }

  openByFee(fee: string): PaymentRequest[] {
    return this.#requests.all("WHERE fee = ? AND state = 'open'", fee);
  }

  /**
   * Requests that are still stored as open although their time has ended: before `readUntil` for this treasury, before
   * `latest` for any treasury. Times are Unix milliseconds.
   */
  closed({ treasury, readUntil, latest }: TreasuryRead, limit: number): PaymentRequest[] {
    const where =
      "WHERE state = 'open' AND closes_at < ? AND (closes_at < ? OR json_extract(row, '$.payee') = ?) LIMIT ?";
    return this.#requests.all(where, Math.max(readUntil, latest), latest, treasury, limit);
  }

  /** Creation time of the newest open request, in Unix milliseconds. */
  newestOpen() {
    return numberOf(this.#exec, "SELECT MAX(created_at) AS n FROM requests WHERE state = 'open'");
  }

  oldestRequest() {
    return numberOf(this.#exec, 'SELECT MIN(created_at) AS n FROM requests');
  }

  lastClosing() {
    return numberOf(this.#exec, 'SELECT MAX(closes_at) AS n FROM requests');
  }

  /** Requests after `id`, ordered by id: all whose kind is in `kinds`, completed ones also if it is in `completed`. */
  after(
    id: string,
    limit: number,
    kinds: readonly RequestKind[],
    completed: readonly RequestKind[],
  ): PaymentRequest[] {
    return this.#requests.all(
      `WHERE id > ? AND (kind IN (SELECT value FROM json_each(?))
         OR (state = 'completed' AND kind IN (SELECT value FROM json_each(?)))) ORDER BY id LIMIT ?`,
      id,
      JSON.stringify(kinds),
      JSON.stringify(completed),
      limit,
    );
  }

  /** The number of requests of a kind that can still be paid, and the lamports that their work may take from the reserve. */
  openSales(kind: RequestKind, now: number): OpenSales {
    const known = this.#openSales.get(kind);
    if (known && now < known.until) return known.sales;
    const [row] = this.#exec(
      `SELECT COUNT(*) AS count, MIN(closes_at) AS until,
         CAST(COALESCE(SUM(CAST(json_extract(row, '$.subject.costLamports') AS INTEGER)), 0) AS TEXT) AS lamports
       FROM requests WHERE state = 'open' AND kind = ? AND closes_at > ?`,
      kind,
      now,
    );
    const sales = { count: BigInt(Number(row?.count)), lamports: BigInt(String(row?.lamports)) };
    this.#openSales.set(kind, { sales, until: Number(row?.until ?? Number.POSITIVE_INFINITY) });
    return sales;
  }

  /**
   * While the chain cannot be read, closed requests stay open for up to a day. They do not count, because they can no
   * longer be paid.
   */
  openBudget(now: number): Budget {
    const query =
      "SELECT client, created_at FROM requests WHERE state = 'open' AND closes_at > ? ORDER BY created_at";
    this.#openBudget ??= new Budget(
      BUDGETS.open_requests,
      this.#exec(query, now).map((row) => ({ client: String(row.client), at: Number(row.created_at) })),
    );
    return this.#openBudget;
  }

  /** Open requests, in the order in which their references were last checked; the most overdue comes first. */
  leastChecked(limit: number): PaymentRequest[] {
    return this.#requests.all("WHERE state = 'open' ORDER BY checked_at, created_at LIMIT ?", limit);
  }

  newest(limit: number): PaymentRequest[] {
    return this.#requests.all("WHERE state = 'open' ORDER BY created_at DESC LIMIT ?", limit);
  }

  /** When the reference of a request was last checked, in Unix milliseconds; 0 if never. */
  checkedAt(id: string): number {
    return numberOf(this.#exec, 'SELECT checked_at AS n FROM requests WHERE id = ?', id) ?? 0;
  }

  noteChecked(id: string, at: number): void {
    this.#exec('UPDATE requests SET checked_at = ? WHERE id = ?', Math.floor(at), id);
  }

  /**
   * Deletes expired requests without a payment that closed before a time, the oldest first, at most `limit` of them.
   * @param most maximum number of expired requests that are kept, because callers open them for free
   */
  purge(before: number, most: number, limit: number): void {
    this.#exec(
      `DELETE FROM requests WHERE id IN (
         SELECT id FROM requests WHERE state = 'expired' AND (closes_at < ? OR closes_at <= (
           SELECT closes_at FROM requests WHERE state = 'expired' ORDER BY closes_at DESC LIMIT 1 OFFSET ?))
         AND NOT EXISTS (SELECT 1 FROM refunds WHERE refunds.request_id = requests.id)
         ORDER BY closes_at LIMIT ?)`,
      before,
      most,
      limit,
    );
  }

  putRefund(refund: RefundDue): void {
    // Despite its name, the column `signature` contains the refund's id, which may end in a number.
    const { id: signature, requestId: request_id, state } = refund;
    this.#refunds.put({ signature }, { request_id, state }, refund);
  }

  refund(id: string): RefundDue | undefined {
    return this.#refunds.first('WHERE signature = ?', id);
  }

  refundsOfPayment(signature: string): RefundDue[] {
    // A range query, because the platform rejects a LIKE pattern of more than 50 bytes.
    return this.#refunds.all(
      'WHERE signature = ? OR (signature > ? AND signature < ?) ORDER BY signature',
      signature,
      `${signature}.`,
      `${signature}/`,
    );
  }

  /** Refunds of a request; unpaid ones come first. */
  refundsOf(requestId: string, limit: number): RefundDue[] {
    return this.#refunds.all("WHERE request_id = ? ORDER BY state = 'paid', rowid LIMIT ?", requestId, limit);
  }

  /** Refunds that are owed and whose payment has not started. */
  refundDebt(): Debt {
    return debtOf(
      this.#exec,
      'refund_due',
      `SELECT request_id AS id, json_extract(row, '$.reason') AS reason,
         CAST(json_extract(row, '$.lamports') AS INTEGER) AS atoms, json_extract(row, '$.createdAt') AS since,
         1 AS awaits, rowid AS place
       FROM refunds WHERE state = 'due'`,
    );
  }

  refundsAfter(id: string, limit: number): RefundDue[] {
    return this.#refunds.after('signature', id, limit);
  }
}
