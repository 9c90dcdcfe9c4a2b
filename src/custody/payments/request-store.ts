/**
 * Payment requests and the refunds of payments that bought nothing: rows of the custodian's own database, their
 * D1 rows, and their public views.
 * @module
 */
import type { RequestView } from '../api.ts';
import type { Journal } from '../kernel/journal.ts';
import type { MirrorSource, ModuleTools } from '../kernel/module.ts';
import type { Storage } from '../kernel/ports.ts';
import type { OpenSales } from '../limits.ts';
import { RowStore } from '../row-store.ts';
import type { TreasuryPayment, TreasuryStore } from './treasury-store.ts';

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS requests (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    fee TEXT NOT NULL,
    reference TEXT NOT NULL UNIQUE,
    client TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    closes_at INTEGER NOT NULL,
    row TEXT NOT NULL
  )`,
  'CREATE INDEX IF NOT EXISTS requests_open ON requests (state, closes_at)',
  'CREATE INDEX IF NOT EXISTS requests_by_fee ON requests (fee, state)',
  'CREATE INDEX IF NOT EXISTS requests_closing ON requests (closes_at)',
  'CREATE INDEX IF NOT EXISTS requests_created ON requests (created_at)',
  // Sums of costs read this index alone, however long the texts of the requests are.
  `CREATE INDEX IF NOT EXISTS requests_cost ON requests (state, kind, id, json_extract(row, '$.subject.costLamports'))`,
  `CREATE TABLE IF NOT EXISTS refunds (
    signature TEXT PRIMARY KEY,
    request_id TEXT NOT NULL,
    state TEXT NOT NULL,
    row TEXT NOT NULL
  )`,
] as const;

/** open: awaits payment; paid: its work is under way; completed: done; expired: no payment came. */
export type RequestState = 'open' | 'paid' | 'completed' | 'expired';

/** JSON text and numbers; amounts are decimal text. */
export type PaymentRequest = {
  /** UUID: public. */
  readonly id: string;
  readonly kind: 'token' | 'listing';
  readonly state: RequestState;
  /** The purchased work, in the kind's own shape. */
  readonly subject: Readonly<Record<string, unknown>>;
  /** Lamports to pay; the last four digits distinguish open requests. */
  readonly fee: string;
  /** The Solana Pay reference: an address among the accounts of the payment. */
  readonly reference: string;
  readonly client: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** A late payment is accepted until then. */
  readonly closesAt: number;
  /** Lamports received so far, and the payments that brought them. */
  readonly received: string;
  readonly parts: readonly PaymentPart[];
  readonly paymentSignature: string | null;
  readonly payer: string | null;
  /** A transaction that a caller has sent and no quorum shows as final yet, and when it was first named. Not mirrored in D1. */
  readonly reported: { readonly signature: string; readonly at: number } | null;
  readonly paidAt: number | null;
  readonly completedAt: number | null;
  readonly tokenId: number | null;
  /** Reason why its work waits, or null. */
  readonly reason: string | null;
  /** Incremented with every change. */
  readonly changes: number;
};

/** Lamports that a creation may take from the reserve: rent and fees. */
export const creationCost = (subject: PaymentRequest['subject']): bigint =>
  BigInt(String(subject.costLamports));

/** The name under which a payment is consumed for this request. */
export const purposeOf = ({ kind, id }: Pick<PaymentRequest, 'kind' | 'id'>): string => `${kind}:${id}`;

/** A payment that counts towards its request. */
export type PaymentPart = {
  readonly signature: string;
  readonly lamports: string;
  readonly payer: string | null;
  readonly slot: string;
  /** Unix seconds. */
  readonly blockTime: number | null;
};

export const partOf = ({ signature, lamports, payer, slot, blockTime }: TreasuryPayment): PaymentPart => ({
  signature,
  lamports: lamports.toString(),
  payer,
  slot: slot.toString(),
  blockTime,
});

/** A payment, or part of one, that bought nothing. */
export type RefundDue = {
  /** The payment's signature; a later refund of the same payment appends `.2` and so on. */
  readonly id: string;
  /** Of the payment. */
  readonly signature: string;
  readonly requestId: string;
  /** The request for which the payment is consumed. */
  readonly purpose: string;
  readonly lamports: string;
  readonly payer: string | null;
  readonly reason: 'overpaid' | 'late' | 'double' | 'underpaid' | 'failed';
  /** held: due, but a lost journal may have paid it; begun: an operation pays it. */
  readonly state: 'due' | 'held' | 'begun' | 'paid';
  /** Number of operations started for it. */
  readonly operations: number;
  readonly operationId: string | null;
  /** The transaction that paid the refund. */
  readonly refundSignature: string | null;
  readonly createdAt: number;
  readonly paidAt: number | null;
  /** Incremented with every change. */
  readonly changes: number;
};

/** Rows of storage version 1 lack `reported`. */
const decodeRequest = (text: string): PaymentRequest => ({
  ...{ reported: null },
  ...(JSON.parse(text) as PaymentRequest),
});
const decodeRefund = (text: string): RefundDue => JSON.parse(text) as RefundDue;

/** Unix milliseconds in the column `at` of the only row; undefined if it is null. */
function timeOf(exec: Storage['exec'], query: string): number | undefined {
  const at = exec(query)[0]?.at;
  return at === null || at === undefined ? undefined : Number(at);
}

export class RequestStore {
  readonly #exec: Storage['exec'];
  readonly #requests: RowStore<PaymentRequest>;
  readonly #refunds: RowStore<RefundDue>;

  constructor({ exec, transaction }: Storage) {
    transaction(() => {
      for (const statement of SCHEMA) exec(statement);
    });
    this.#exec = exec;
    this.#requests = new RowStore(exec, 'requests', decodeRequest);
    this.#refunds = new RowStore(exec, 'refunds', decodeRefund);
  }

  put(request: PaymentRequest): void {
    this.#exec(
      `INSERT INTO requests (id, kind, state, fee, reference, client, created_at, closes_at, row)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state, row = excluded.row`,
      request.id,
      request.kind,
      request.state,
      request.fee,
      request.reference,
      request.client,
      request.createdAt,
      request.closesAt,
      JSON.stringify(request),
    );
  }

  get(id: string): PaymentRequest | undefined {
    return this.#requests.first('WHERE id = ?', id);
  }

  byReference(reference: string): PaymentRequest | undefined {
    return this.#requests.first('WHERE reference = ?', reference);
  }

  /** Open requests of exactly this fee. */
  openByFee(fee: string): PaymentRequest[] {
    return this.#requests.all("WHERE fee = ? AND state = 'open'", fee);
  }

  /** Open requests that closed before a time, in Unix milliseconds. */
  closed(before: number, limit: number): PaymentRequest[] {
    return this.#requests.all("WHERE state = 'open' AND closes_at < ? LIMIT ?", before, limit);
  }

  /** Creation time of the newest open request, in Unix milliseconds. */
  newestOpen() {
    return timeOf(this.#exec, "SELECT MAX(created_at) AS at FROM requests WHERE state = 'open'");
  }

  /** Creation time of the oldest stored request. */
  oldestRequest() {
    return timeOf(this.#exec, 'SELECT MIN(created_at) AS at FROM requests');
  }

  /** When the last request closed or closes. */
  lastClosing() {
    return timeOf(this.#exec, 'SELECT MAX(closes_at) AS at FROM requests');
  }

  /** Token requests whose id follows `id`, in the order of their ids. */
  invoicesAfter(id: string, limit: number): PaymentRequest[] {
    return this.#requests.all("WHERE id > ? AND kind = 'token' ORDER BY id LIMIT ?", id, limit);
  }

  /** The same for listing requests, and for token requests whose token is listed. */
  listingsAfter(id: string, limit: number): PaymentRequest[] {
    return this.#requests.all(
      "WHERE id > ? AND (kind = 'listing' OR state = 'completed') ORDER BY id LIMIT ?",
      id,
      limit,
    );
  }

  /** Paid token requests whose creation has ended. */
  creationsEnded(limit: number): PaymentRequest[] {
    return this.#requests.all(
      `JOIN operations o ON o.id = 'token:' || requests.id
       WHERE requests.state = 'paid' AND o.due_at IS NULL ORDER BY requests.created_at LIMIT ?`,
      limit,
    );
  }

  /** Paid token requests. */
  creationsPaid(): PaymentRequest[] {
    return this.#requests.all("WHERE state = 'paid' AND kind = 'token' ORDER BY created_at");
  }

  /** The number of open token requests, and the lamports that their creations may take from the reserve. */
  openSales(): OpenSales {
    const [row] = this.#exec(
      `SELECT COUNT(*) AS count,
         CAST(COALESCE(SUM(CAST(json_extract(row, '$.subject.costLamports') AS INTEGER)), 0) AS TEXT) AS lamports
       FROM requests WHERE state = 'open' AND kind = 'token'`,
    );
    return { count: BigInt(Number(row?.count)), lamports: BigInt(String(row?.lamports)) };
  }

  /** Open requests of each client. */
  openByClient(): { client: string; count: number }[] {
    return this.#exec("SELECT client, COUNT(*) AS n FROM requests WHERE state = 'open' GROUP BY client").map(
      (row) => ({ client: String(row.client), count: Number(row.n) }),
    );
  }

  /** Deletes expired requests without a payment that closed before a time. */
  purge(before: number): void {
    this.#exec(
      `DELETE FROM requests WHERE state = 'expired' AND closes_at < ?
       AND NOT EXISTS (SELECT 1 FROM refunds WHERE refunds.request_id = requests.id)`,
      before,
    );
  }

  putRefund(refund: RefundDue): void {
    // Despite its name, the column `signature` holds the refund's id, which may end in a number.
    this.#exec(
      `INSERT INTO refunds (signature, request_id, state, row) VALUES (?, ?, ?, ?)
       ON CONFLICT (signature) DO UPDATE SET state = excluded.state, row = excluded.row`,
      refund.id,
      refund.requestId,
      refund.state,
      JSON.stringify(refund),
    );
  }

  refund(id: string): RefundDue | undefined {
    return this.#refunds.first('WHERE signature = ?', id);
  }

  /** All refunds of one payment, in any state. */
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

  /** Refunds whose id follows `id`, in the order of their ids. */
  refundsAfter(id: string, limit: number): RefundDue[] {
    return this.#refunds.all('WHERE signature > ? ORDER BY signature LIMIT ?', id, limit);
  }

  /** Started refunds whose operation has ended. */
  endedRefunds(limit: number): RefundDue[] {
    return this.#refunds.all(
      `JOIN operations o ON o.id = json_extract(refunds.row, '$.operationId')
       WHERE refunds.state = 'begun' AND o.due_at IS NULL ORDER BY refunds.rowid LIMIT ?`,
      limit,
    );
  }

  refundsIn(state: RefundDue['state'], limit: number): RefundDue[] {
    return this.#refunds.all('WHERE state = ? ORDER BY rowid LIMIT ?', state, limit);
  }
}

const REFERENCE_SCHEMA =
  'CREATE TABLE IF NOT EXISTS reference_checks (request_id TEXT PRIMARY KEY, due_at INTEGER NOT NULL)';

/** When the reference of each open request is next checked. */
export class ReferenceStore {
  readonly #exec: Storage['exec'];
  readonly #requests: RowStore<PaymentRequest>;

  /** @param storage with the table of requests */
  constructor({ exec }: Storage) {
    exec(REFERENCE_SCHEMA);
    this.#exec = exec;
    this.#requests = new RowStore(exec, 'requests', decodeRequest);
  }

  /**
   * Open requests whose reference is due for a check, the most overdue first.
   * @param longest the longest wait for a check, in milliseconds
   */
  overdue(now: number, longest: number, limit: number): PaymentRequest[] {
    return this.#requests.all(
      `LEFT JOIN reference_checks c ON c.request_id = requests.id
       WHERE requests.state = 'open' AND (COALESCE(c.due_at, 0) <= ? OR c.due_at > ?) ORDER BY COALESCE(c.due_at, 0), requests.created_at LIMIT ?`,
      now,
      now + longest,
      limit,
    );
  }

  /** The same, the newest request first. */
  newest(now: number, longest: number, limit: number): PaymentRequest[] {
    return this.#requests.all(
      `LEFT JOIN reference_checks c ON c.request_id = requests.id
       WHERE requests.state = 'open' AND (COALESCE(c.due_at, 0) <= ? OR c.due_at > ?) ORDER BY requests.created_at DESC LIMIT ?`,
      now,
      now + longest,
      limit,
    );
  }

  /** The request, if it is open. */
  open(id: string): PaymentRequest | undefined {
    return this.#requests.first("WHERE id = ? AND state = 'open'", id);
  }

  /** @param at Unix milliseconds, whole */
  checkAt(id: string, at: number): void {
    this.#exec(
      `INSERT INTO reference_checks (request_id, due_at) VALUES (?, ?)
       ON CONFLICT (request_id) DO UPDATE SET due_at = excluded.due_at`,
      id,
      at,
    );
  }

  /** Deletes the checks of requests that are not open. */
  purge(): void {
    this.#exec(
      "DELETE FROM reference_checks WHERE request_id NOT IN (SELECT id FROM requests WHERE state = 'open')",
    );
  }
}

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
  const mirrored = { ...request, reported: null };
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

const refundColumns = (refund: RefundDue) => ({
  status: refund.state === 'paid' ? 'paid' : 'due',
  created_at: new Date(refund.createdAt).toISOString(),
  journal: JSON.stringify(refund),
});

export function mirrorRefund(journal: Journal, refund: RefundDue, now: number): void {
  journal.publish('refunds', refund.id, refundColumns(refund), now);
}

const isOlder = (own: { readonly changes: number } | undefined, changes: number): boolean =>
  own === undefined || own.changes < changes;

type MirroredPorts = Pick<ModuleTools, 'journal' | 'now'> & {
  readonly store: RequestStore;
  readonly payments: TreasuryStore;
};

/** Stores a request of D1 and the payments that it counts, so that none of them is booked again. */
function restoreRequest({ store, journal, payments, now }: MirroredPorts, text: string): boolean {
  // The record of a listing that came with its token has no request.
  const { row } = JSON.parse(text) as { row?: PaymentRequest };
  if (!row || !isOlder(store.get(row.id), row.changes)) return false;
  store.put(row);
  const purpose = purposeOf(row);
  for (const part of row.parts) {
    journal.consumeOnce(`payment:${part.signature}`, purpose, now());
    const { signature, payer, blockTime } = part;
    const amounts = { slot: BigInt(part.slot), lamports: BigInt(part.lamports) };
    payments.record({ signature, payer, blockTime, ...amounts }, purpose);
  }
  return true;
}

function restoreRefund({ store, journal, now }: MirroredPorts, text: string): boolean {
  const refund = decodeRefund(text);
  if (!isOlder(store.refund(refund.id), refund.changes)) return false;
  store.putRefund(refund);
  journal.consumeOnce(`payment:${refund.signature}`, refund.purpose, now());
  return true;
}

/** Every row of the requests, tokens and refunds. */
export const mirroredPayments = (p: MirroredPorts, tokens: MirrorSource): readonly MirrorSource[] => [
  {
    table: 'invoices',
    rowsAfter: (id, limit) =>
      p.store.invoicesAfter(id, limit).map((row) => ({ id: row.id, columns: requestColumns(p.store, row) })),
    restore: (journal) => restoreRequest(p, journal),
  },
  {
    table: 'listings',
    rowsAfter: (id, limit) =>
      p.store.listingsAfter(id, limit).map((row) => ({
        id: row.id,
        columns: row.kind === 'token' ? createdListingColumns(row) : requestColumns(p.store, row),
      })),
    restore: (journal) => restoreRequest(p, journal),
  },
  tokens,
  {
    table: 'refunds',
    rowsAfter: (id, limit) =>
      p.store.refundsAfter(id, limit).map((refund) => ({ id: refund.id, columns: refundColumns(refund) })),
    restore: (journal) => restoreRefund(p, journal),
  },
];
