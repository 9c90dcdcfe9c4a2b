/**
 * Payment requests, from the payment to the purchased work: invoices for a token creation and listing requests. A
 * payment belongs to a request if its transaction contains the request's reference or moves exactly its amount. A
 * payment can have one purpose only, across all flows. A payment that buys nothing is recorded for a refund.
 * @module
 */
import { isSignature } from '../../chain/solana/address.ts';
import type { ListingFacts } from '../../chain/solana/listed-token.ts';
import { DAY_MS } from '../../core/durations.ts';
import { forCaller } from '../../providers/admission.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type {
  ConfirmRequest,
  Debt,
  OpenRequest,
  OpsAnswer,
  PaymentConfirmed,
  Refusal,
  RequestOpened,
  RequestView,
} from '../api.ts';
import { refused } from '../kernel/begin-operation.ts';
import { lostRequest, lostRequestRefusal, olderRefusal } from '../kernel/birth.ts';
import type { CustodyModule, MirrorSource, ModuleTools } from '../kernel/module.ts';
import type { Operation } from '../kernel/operation.ts';
import { reasonText } from '../kernel/reason.ts';
import type { LookedUp, LookUp, Lookup } from '../kernel/signature-lookups.ts';
import type { OpenSales } from '../limits.ts';
import { Booking, type BookingPorts, treasuryPayment } from './booking.ts';
import { type OpeningPorts, openRequest } from './open-request.ts';
import { matchRequest } from './payment-matching.ts';
import { PaymentSearch, SEARCH } from './payment-search.ts';
import { createRefundKind, type RefundKindPorts } from './refund-operation.ts';
import { Refunds } from './refunds.ts';
import { EXPIRY, RequestChanges } from './request-changes.ts';
import { mirroredPayments, requestView, SHOWN_REFUNDS } from './request-records.ts';
import { creationId, type PaymentRequest, purposeOf, RequestStore } from './request-store.ts';
import { TreasuryStore } from './treasury-store.ts';
import type { TreasuryNode } from './treasury-walk.ts';
import { Unmatched } from './unmatched.ts';

type Subject = PaymentRequest['subject'];

/** The tokens with their numbers. The custodian passes in the tokens module. */
export type TokenPort = {
  /** The number of a listed token; undefined for any other mint. */
  listedId(mint: string): number | undefined;
  /** Lists a token and returns its number. Call inside a storage transaction. */
  list(request: PaymentRequest, now: number): number;
  /** Adds the token's number to the subject of a listing. */
  numbered(subject: Subject, now: number): Subject;
  /** Deletes tokens that nothing has listed, and that no request has named since a time. */
  purge(before: number): void;
  readonly mirrored: MirrorSource;
};

export type PaymentPorts = RefundKindPorts &
  OpeningPorts & {
    readonly treasuryAddress: string;
    /** Payers whose wallet belongs to an exchange and not to the customer. */
    readonly heldPayers: ReadonlySet<string>;
    /** Lists of transactions, one per node. */
    readonly nodes: readonly TreasuryNode[];
    /** The finalized transaction shown by a quorum of nodes, or null without a quorum. @throws AppError UPSTREAM_FAILED */
    transaction(signature: string): Promise<ChainTransaction | null>;
    /** Looks up a payment that a caller names. */
    readonly lookUp: LookUp;
    /** What a listing says of a mint now, as a quorum of nodes shows it. @throws AppError UPSTREAM_FAILED */
    listingFacts(mint: string): Promise<ListingFacts>;
  };

/** Longest wait for a payment that no node shows. Nodes show one within two seconds after it was sent. */
const UNKNOWN_MS = 15_000;
/** Maximum reads of a token that a payment would list. */
const MAX_READS = 3;

/** The purpose of the id of a request that only the lost journal had. */
const LOST = 'lost';

const KEPT_MS = 7 * DAY_MS;
/** Maximum expired requests without a payment. */
const MAX_EXPIRED = 20_000;
/** Tokens are kept longer than the requests that may still list them. */
const TOKEN_KEPT_MS = 8 * DAY_MS;
/** Requests that one run may expire: as many as can close at the same time. */
const EXPIRE_BATCH = 200;

export type PaymentsPorts = PaymentPorts & { readonly tokens: TokenPort };

export class Payments implements CustodyModule {
  readonly kinds: CustodyModule['kinds'];
  readonly commands: Readonly<
    Record<'refund' | 'unmatched' | 'fingerprint', (id: string) => Promise<OpsAnswer>>
  >;
  readonly work: CustodyModule['work'];
  readonly debts: () => readonly Debt[];
  readonly mirrored: readonly MirrorSource[];
  readonly #tools: ModuleTools;
  readonly #p: PaymentsPorts;
  readonly #store: RequestStore;
  readonly #changes: RequestChanges;
  readonly #booking: Booking;
  readonly #search: PaymentSearch;
  readonly #unmatched: Unmatched;

  constructor(tools: ModuleTools, p: PaymentsPorts) {
    const { agenda, journal, storage, reserveAddress, now, log } = tools;
    const store = new RequestStore(storage);
    const payments = new TreasuryStore(storage);
    const refunds = new Refunds(tools, store, p);
    const changes = new RequestChanges(tools, { ...p, store, refunds });
    const take: BookingPorts['take'] = (payment, transaction, checked) =>
      changes.take(payment, transaction, checked);
    const check: BookingPorts['check'] = (payment, transaction) => changes.check(payment, transaction);
    const isReserve = (address: string) => address === reserveAddress || journal.isSigner(address);
    const unmatched = new Unmatched({ ...p, journal, storage, payments, refunds, isReserve, now });
    const isOlder: BookingPorts['isOlder'] = (transaction) =>
      olderRefusal(journal, transaction, undefined) !== undefined;
    const booking = new Booking({ ...p, storage, payments, take, check, isReserve, isOlder, now, log });
    this.#tools = tools;
    this.#p = p;
    this.#store = store;
    this.#changes = changes;
    this.#booking = booking;
    this.#search = new PaymentSearch({ ...p, agenda, journal, store, booking, now, log });
    this.kinds = { refund: { ...createRefundKind(p), onEnd: (operation) => refunds.end(operation) } };
    this.work = {
      [SEARCH]: { limit: 1, run: () => this.#run('alarm') },
      [EXPIRY]: { limit: EXPIRE_BATCH, run: async () => this.#expire() },
    };
    this.debts = () => [refunds.debt(), unmatched.debt()];
    this.commands = {
      refund: (id) => {
        unmatched.owe(id);
        return refunds.refund(id);
      },
      unmatched: async () => unmatched.list(),
      fingerprint: async () => fingerprintOf(p.mintAddress),
    };
    this.mirrored = mirroredPayments(store, p.tokens.mirrored, (text) => {
      const { view } = JSON.parse(text) as { view: RequestView };
      journal.consumeOnce(lostRequest(view.id), LOST, now());
    });
    this.#unmatched = unmatched;
  }

  /** The cron searches for payments, so a request that is never paid causes no other work. */
  async onCron(): Promise<void> {
    if (this.#search.isDue()) await this.#run('cron');
    else this.#expire();
  }

  openSales(): OpenSales {
    return this.#store.openSales();
  }

  open(asked: OpenRequest): RequestOpened {
    const save = (request: PaymentRequest) => this.#changes.save(request);
    const opened = openRequest({ ...this.#tools, ...this.#p, store: this.#store, save }, asked);
    this.#search.plan();
    return opened;
  }

  find(id: string): RequestView | null {
    const request = this.#store.get(id);
    return request ? this.#viewOf(request) : null;
  }

  /** Schedules an early search for the payment of an open request that a caller reads. True if the alarm moves. */
  askFor(id: string): boolean {
    return this.#store.get(id)?.state === 'open' && this.#search.askFor(id);
  }

  /** Books the payment of a request and begins the work that it pays for. */
  async confirm(asked: ConfirmRequest): Promise<PaymentConfirmed> {
    const { id, kind, waitMs } = asked;
    const deadline = this.#tools.now() + waitMs;
    const request = this.#store.get(id);
    if (request?.kind !== kind)
      return refused(
        lostRequestRefusal(this.#tools.journal, id, this.#tools.contact) ?? {
          code: 'NOT_FOUND',
          message: 'No request has this id.',
        },
      );
    const refusal = await this.#bind(request, asked);
    if (refusal) return refused(refusal);
    const paid = this.#store.get(id);
    const left = deadline - this.#tools.now();
    if (left > 0 && paid?.state === 'paid') await this.#tools.finish(creationId(paid), left);
    const end = this.#store.get(id);
    if (end?.state === 'completed') {
      await this.#tools.storage.sync();
      return { type: 'confirmed', request: this.#viewOf(end) };
    }
    if (end?.state === 'expired') return refused(refundDue());
    const message =
      'The payment is final and the token is being created. Repeat the call or read the invoice.';
    const details = { reason: end ? this.#reasonOf(end) : null };
    return refused({ code: 'INVOICE_IN_PROGRESS', message, retryAfterSeconds: 5, details });
  }

  /**
   * Keeps a confirmed payment of the request until it is final, so that another reader is not asked to pay again. A
   * transaction that pays for something else changes nothing.
   */
  #keepReported(id: string, transaction: ChainTransaction): void {
    const { signature } = transaction;
    const payment = treasuryPayment(transaction, this.#p.treasuryAddress);
    const paid = payment && matchRequest(payment, transaction, this.#store, this.#tools.now());
    if (
      paid &&
      paid !== 'several' &&
      paid.id === id &&
      paid.state === 'open' &&
      paid.reported?.signature !== signature
    )
      this.#store.put({ ...paid, reported: { signature, at: this.#tools.now() } });
  }

  /** Forgets a reported transaction once it is final: it is booked by then, or pays nothing. */
  #forgetReported(id: string, signature: string): void {
    const request = this.#store.get(id);
    if (request?.reported?.signature === signature) this.#store.put({ ...request, reported: null });
  }

  /** Reason why a transaction does not pay for a request; undefined if it does. @throws AppError UPSTREAM_FAILED */
  async #bind(
    request: PaymentRequest,
    { signature, client, waitMs }: ConfirmRequest,
  ): Promise<Refusal | undefined> {
    const { journal } = this.#tools;
    if (!isSignature(signature))
      return { code: 'INVALID_SIGNATURE', message: 'tx_signature is not a Solana signature.' };
    const consumer = journal.consumerOf(`payment:${signature}`);
    if (consumer !== undefined && consumer !== purposeOf(request)) return usedElsewhere(consumer);
    // A booked payment was final when it was booked.
    if (consumer !== undefined && (request.state === 'paid' || request.state === 'completed'))
      return undefined;
    const found = await this.#lookUp(request, { signature, client, waitMs, unknownMs: UNKNOWN_MS });
    if (found.type === 'refused') return found.refusal;
    if (found.type !== 'final') return notFinal(found.type);
    const { transaction } = found;
    const older = olderRefusal(journal, transaction, this.#tools.contact);
    if (older) return older;
    // Another payment may change what this one would list while the token is read, so the token is read again.
    for (let reads = 0; ; ) {
      const undecided = await forCaller(client, () => this.#booking.confirm(transaction));
      if (undecided !== 'listing_unchecked') break;
      if (++reads >= MAX_READS) return notFinal('confirmed');
    }
    this.#forgetReported(request.id, signature);
    if (transaction.failed)
      return { code: 'PAYMENT_FAILED', message: 'This transaction failed on the chain.' };
    const consumerOf = journal.consumerOf(`payment:${transaction.signature}`);
    if (consumerOf !== purposeOf(request)) return this.#notBound(transaction.signature, consumerOf);
    const current = this.#store.get(request.id);
    // The request's state determines the response to the caller.
    if (current?.state !== 'open') return undefined;
    if (!current.parts.some((part) => part.signature === transaction.signature)) return refundDue();
    const missing = BigInt(current.fee) - BigInt(current.received);
    const message = `${missing} lamports are missing. Pay them to the same reference.`;
    return { code: 'PAYMENT_INCOMPLETE', message, details: { missingLamports: missing.toString() } };
  }

  /** Why a payment does not pay for a request that its caller names. */
  #notBound(signature: string, consumer: string | undefined): Refusal {
    const refusal = usedElsewhere(consumer);
    const unmatched = consumer === undefined ? this.#unmatched.find(signature) : undefined;
    if (!unmatched) return refusal;
    const { payer, lamports } = unmatched;
    const message = `${refusal.message} It was received, is not matched, and will be returned by the operator.`;
    return { ...refusal, message, details: { receivedLamports: lamports.toString(), payer } };
  }

  /** Waits for a payment to be final. Once it is confirmed, an open request shows it. */
  async #lookUp(request: PaymentRequest, asked: Omit<Lookup, 'until'>): Promise<LookedUp> {
    const isNew = request.state === 'open' && request.reported?.signature !== asked.signature;
    if (!isNew) return this.#p.lookUp({ ...asked, until: 'final' });
    const deadline = this.#tools.now() + asked.waitMs;
    const found = await this.#p.lookUp({ ...asked, until: 'confirmed' });
    if (found.type !== 'confirmed' || !found.transaction) return found;
    this.#keepReported(request.id, found.transaction);
    const waitMs = deadline - this.#tools.now();
    return waitMs > 0 ? this.#p.lookUp({ ...asked, waitMs, until: 'final' }) : found;
  }

  /** Why a request waits. While a paid creation waits, the reason is stored in its operation. */
  #reasonOf(request: PaymentRequest): string | null {
    const { state, reason } = request;
    if (reason !== null || state !== 'paid') return reason;
    return reasonText(this.#tools.journal.get(creationId(request))?.reason ?? null);
  }

  #viewOf(request: PaymentRequest): RequestView {
    const refunds = this.#store.refundsOf(request.id, SHOWN_REFUNDS);
    return requestView({ ...request, reason: this.#reasonOf(request) }, refunds, this.#tools.now());
  }

  /** Ends the request of a creation that ends. Call inside the storage transaction that ends it. */
  endCreation(operation: Operation): void {
    this.#changes.endCreation(operation);
  }

  /** Searches for payments. No request expires before the chain was read. */
  async #run(by: 'alarm' | 'cron'): Promise<void> {
    try {
      await this.#search.run(by);
    } finally {
      this.#search.plan();
    }
    this.#expire();
  }

  /**
   * A payment that was not read yet may be in time. A request therefore expires only when all payments up to its end were
   * read, or a day after its end even if a node fails.
   */
  #expire(): void {
    this.#changes.expire(Math.max(this.#search.readUntil(), this.#tools.now() - DAY_MS), EXPIRE_BATCH);
    this.#store.purge(this.#tools.now() - KEPT_MS, MAX_EXPIRED);
    this.#p.tokens.purge(this.#tools.now() - TOKEN_KEPT_MS);
  }
}

const notFinal = (chain: 'confirmed' | 'pending' | 'unknown'): Refusal => ({
  code: 'PAYMENT_NOT_FINAL',
  message: 'This transaction is not final yet, or it does not exist.',
  retryAfterSeconds: 5,
  ...(chain === 'unknown' ? { details: { chain } } : {}),
});

/** The purposes of payments to the treasury, without the part after the colon. */
const PAID_PURPOSES: ReadonlySet<string> = new Set(['token', 'listing', 'asry', 'unmatched']);

const NOT_BOUND: Refusal = {
  code: 'PAYMENT_NOT_BOUND',
  message: "This payment contains neither the request's reference nor exactly its amount.",
};

/**
 * @param consumerOf purpose of a transaction. A purpose that no caller pays for, such as a bridge's refund, is not a
 * payment
 */
export function usedElsewhere(consumerOf: string | undefined): Refusal {
  const [purpose = ''] = consumerOf?.split(':') ?? [];
  if (!PAID_PURPOSES.has(purpose)) return NOT_BOUND;
  const message = `This payment already serves another purpose (${purpose}).`;
  return { code: 'PAYMENT_ALREADY_USED', message, details: { purpose } };
}

export const refundDue = (): Refusal => ({
  code: 'REFUND_DUE',
  message: 'The payment bought nothing. It is recorded for a refund to its payer.',
});

/** Identifies MINT_KEY_SEED without revealing it: the address that it derives for an invoice that cannot exist. */
const fingerprintOf = (mintAddress: PaymentPorts['mintAddress']): OpsAnswer => ({
  ok: true,
  message: 'The mint address of the invoice named doctor.',
  rows: [{ setting: 'MINT_KEY_SEED', fingerprint: mintAddress('doctor') }],
});
