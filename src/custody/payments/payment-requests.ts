/**
 * Payment requests, from the payment to the purchased work: invoices for a token creation and listing requests.
 * A payment belongs to a request if its transaction contains the request's reference or moves exactly its
 * amount. One payment serves one purpose across all flows. A payment that buys nothing is recorded for a refund.
 * @module
 */
import { isSignature } from '../../chain/solana/address.ts';
import { earliest } from '../../core/due-time.ts';
import { DAY_MS } from '../../core/durations.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { ConfirmRequest, OpsAnswer, PaymentConfirmed, Refusal, RequestView } from '../api.ts';
import type { CustodyModule, MirrorSource, ModuleTools } from '../kernel/module.ts';
import { reasonText } from '../kernel/reason.ts';
import type { Sold } from '../limits.ts';
import { type Booking, createBooking, type MayBeReturned, type Taken, treasuryPayment } from './booking.ts';
import { createOpening, type OpeningPorts } from './open-request.ts';
import { DUST, judgePayment, matchRequest, mayBeReturned } from './payment-matching.ts';
import { createPaymentSearch } from './payment-search.ts';
import { createRefundKind, type RefundKindPorts } from './refund-operation.ts';
import { createRefunds, type RefundPorts, type Refunds } from './refunds.ts';
import {
  mirrorCreatedListing,
  mirroredPayments,
  mirrorRequest,
  openReferenceStore,
  openRequestStore,
  type PaymentRequest,
  purposeOf,
  type RequestStore,
  requestView,
  SHOWN_REFUNDS,
} from './request-store.ts';
import { openTreasuryStore, type TreasuryPayment } from './treasury-store.ts';
import type { TreasuryNode } from './treasury-walk.ts';

type Subject = PaymentRequest['subject'];

/** The purchases that requests pay for. The custodian passes in the tokens module. */
export type TokenPort = {
  /** Id of the operation that creates a request's token. */
  creationId(requestId: string): string;
  /** Queues a creation and reserves its cost in lamports. Call inside the storage transaction that books the payment. */
  queueCreation(request: PaymentRequest, cost: bigint): void;
  /** The number of a listed token; undefined for any other mint. */
  listedId(mint: string): number | undefined;
  /** Lists a token and returns its number. Call inside a storage transaction. */
  list(request: PaymentRequest, now: number): number;
  /** The subject of a listing with the token's number. */
  numbered(subject: Subject, now: number): Subject;
  readonly mirrored: MirrorSource;
};

export type PaymentPorts = Pick<RefundPorts, 'heldPayers'> &
  RefundKindPorts &
  OpeningPorts & {
    readonly treasuryAddress: string;
    readonly reserveAddress: string;
    /** Lists of transactions, one per node. */
    readonly nodes: readonly TreasuryNode[];
    /** The finalized transaction shown by a quorum of nodes, or null without a quorum. @throws AppError UPSTREAM_FAILED */
    transaction(signature: string): Promise<ChainTransaction | null>;
    /** A transaction that some node shows as confirmed, or null. It moves no money. */
    confirmedTransaction(signature: string): Promise<ChainTransaction | null>;
    /** Lamports that a creation may take from the reserve: rent and fees. */
    readonly creationCost: (subject: Readonly<Record<string, unknown>>) => bigint;
  };

const KEPT_MS = 7 * DAY_MS;
/** Requests per kind of change in one run. */
const BATCH = 10;
/** Requests that one run may expire: as many as can close at the same time. */
const EXPIRE_BATCH = 200;
/** Ended creations are booked from storage alone. */
const ENDED_BATCH = 100;

export function createPayments(
  tools: ModuleTools,
  p: PaymentPorts & {
    readonly tokens: TokenPort;
  },
) {
  const { journal, storage, now, log } = tools;
  const store = openRequestStore(storage);
  const payments = openTreasuryStore(storage);
  const refunds = createRefunds(tools, store, p);
  const changes = createRequestChanges(tools, {
    ...p,
    store,
    refunds,
    mayBeReturned: (payment) =>
      p.treasuryAddress === p.reserveAddress && mayBeReturned(payment, journal.open(), now()),
  });
  const booking = createBooking({ ...p, storage, payments, take: changes.take, now, log });
  const references = openReferenceStore(storage);
  const search = createPaymentSearch({ ...p, journal, store, references, booking, now, log });

  /** While a paid creation waits, its operation has the reason. */
  const reasonOf = ({ id, state, reason }: PaymentRequest): string | null =>
    reason ?? (state === 'paid' ? reasonText(journal.get(p.tokens.creationId(id))?.reason ?? null) : null);

  const viewOf = (request: PaymentRequest): RequestView =>
    requestView({ ...request, reason: reasonOf(request) }, store.refundsOf(request.id, SHOWN_REFUNDS), now());

  /** Continues a paid creation and books its end. */
  async function carryOn(request: PaymentRequest): Promise<void> {
    changes.planMissing(BATCH);
    await tools.drive(p.tokens.creationId(request.id));
    changes.settleCreations(ENDED_BATCH);
  }

  /** One run. Ended creations are booked before any chain read, and no request expires before the chain was read. */
  async function run(by: 'alarm' | 'cron'): Promise<void> {
    changes.settleCreations(ENDED_BATCH);
    changes.planMissing(BATCH);
    refunds.settleEnded();
    const searchAt = by === 'cron' ? search.nextCronRunAt() : search.nextRunAt();
    if (searchAt !== undefined && searchAt <= now()) await search.run(by);
    // A payment that is not read yet may still be in time; one failing node does not keep requests open forever.
    changes.expire(Math.max(search.readUntil(), now() - DAY_MS), EXPIRE_BATCH);
    store.purge(now() - KEPT_MS);
  }

  return {
    kinds: { refund: createRefundKind(p) },

    nextRunAt: () => earliest(changes.nextAt(), refunds.nextAt(), search.nextRunAt()),

    run: () => run('alarm'),

    /** The cron searches for payments, so a request that is never paid causes no other work. */
    onCron: () => run('cron'),

    /** Creations of paid and open requests for which no operation has reserved SOL yet. */
    sold(): Sold {
      const cost = (requests: readonly PaymentRequest[]): bigint =>
        requests.reduce((sum, { subject }) => sum + p.creationCost(subject), 0n);
      const isToken = ({ kind }: PaymentRequest): boolean => kind === 'token';
      const paid = store.creationsMissing(-1);
      const open = store.inState('open', -1).filter(isToken);
      return {
        paid: cost(paid),
        paidCount: BigInt(paid.length),
        open: cost(open),
        openCount: BigInt(open.length),
      };
    },

    open: createOpening(tools, { ...p, store, save: changes.save }),
    confirm: createConfirmation(tools, { ...p, store, booking, viewOf, reasonOf, carryOn }),
    commands: { refund: refunds.refund, fingerprint: async () => fingerprintOf(p.mintAddress) },

    find(id: string): RequestView | null {
      const request = store.get(id);
      return request ? viewOf(request) : null;
    },

    /** Schedules an early search for the payment of an open request that a caller reads. True if the alarm moves. */
    askFor: (id: string): boolean => store.get(id)?.state === 'open' && search.askFor(id),

    mirrored: mirroredPayments({ journal, now, store, payments }, p.tokens.mirrored),
    hold(): void {
      store.creationsMissing(-1).forEach(changes.plan);
      refunds.held.hold();
    },
    held: refunds.held,
  } satisfies CustodyModule & Record<string, unknown>;
}

const UNMATCHED: Taken = { purpose: null };

/**
 * Every change of a payment request: a payment arrives, its work is done or fails, the request expires. One
 * storage transaction contains the change, its D1 update and any refund.
 */
function createRequestChanges(
  { journal, storage, retries, now }: ModuleTools,
  p: Pick<PaymentPorts, 'creationCost'> & {
    readonly store: RequestStore;
    readonly refunds: Pick<Refunds, 'owe' | 'owedOf'>;
    readonly tokens: Pick<TokenPort, 'creationId' | 'queueCreation' | 'list'>;
    /** Whether a payment may be the reserve's own money that a bridge returned. */
    readonly mayBeReturned: (payment: TreasuryPayment) => boolean;
  },
) {
  const { store, refunds } = p;

  const rows = (name: string, read: (limit: number) => readonly PaymentRequest[]) =>
    retries.rows({ name, read, idOf: ({ id }) => id });
  const ended = rows('creation_ended', store.creationsEnded);
  const missing = rows('creation_queued', store.creationsMissing);
  /** Requests that closed before this time may expire. Unix milliseconds. */
  let closedBefore = 0;
  const closed = rows('request_expired', (limit) => store.closed(closedBefore, limit));

  function save(request: PaymentRequest): PaymentRequest {
    const changed = { ...request, changes: request.changes + 1 };
    store.put(changed);
    mirrorRequest(journal, store, changed, now());
    return changed;
  }

  /** Records a refund of everything that a request received and that is not owed yet. Call inside a storage transaction. */
  function oweAll(request: PaymentRequest, reason: 'underpaid' | 'failed'): void {
    for (const part of request.parts) {
      const rest = BigInt(part.lamports) - refunds.owedOf(part.signature);
      refunds.owe(request, part, rest, reason);
    }
  }

  /** Lists the token and ends the request. Call inside a storage transaction. */
  function complete(request: PaymentRequest): void {
    const tokenId = p.tokens.list(request, now());
    const done = save({ ...request, state: 'completed', completedAt: now(), tokenId, reason: null });
    if (done.kind === 'token') mirrorCreatedListing(journal, done, now());
  }

  /** Plans a creation and reserves its cost. Call inside a storage transaction. */
  const plan = (request: PaymentRequest): void =>
    p.tokens.queueCreation(request, p.creationCost(request.subject));

  /** Applies a payment that was consumed for this request. Call inside a storage transaction. */
  function apply(request: PaymentRequest, payment: TreasuryPayment): void {
    const effect = judgePayment(request, payment, now());
    if (effect.type === 'owed') {
      refunds.owe(request, payment, payment.lamports, effect.reason);
      return;
    }
    if (effect.type === 'paid') refunds.owe(request, payment, effect.excess, 'overpaid');
    const changed = save(effect.request);
    if (effect.type === 'part') return;
    if (changed.kind === 'listing') complete(changed);
    else plan(changed);
  }

  /**
   * A payment that its request has consumed: the journal was lost, and with it the booking. D1 may have had the refund
   * of a part of it without the request's change. Such a payment is counted by hand, because it may have been used.
   */
  function takenBefore(request: PaymentRequest, { signature, lamports }: TreasuryPayment): Taken {
    const isCounted = request.parts.some((part) => part.signature === signature);
    return isCounted || lamports <= DUST || refunds.owedOf(signature) >= lamports
      ? { purpose: purposeOf(request) }
      : { purpose: null, reason: 'uncounted' };
  }

  return {
    save,
    plan,

    /** The purpose of a payment that belongs to a request, booked there once; none for any other payment. */
    take(payment: TreasuryPayment, transaction: ChainTransaction): Taken | MayBeReturned {
      const request = matchRequest(payment, transaction, store, now());
      if (request === 'several') return { purpose: null, reason: 'several_requests' };
      if (!request) return UNMATCHED;
      // A bridge adds no reference.
      const isNamed = transaction.accounts.includes(request.reference);
      if (!isNamed && p.mayBeReturned(payment)) return 'may_be_returned';
      const purpose = purposeOf(request);
      const name = `payment:${payment.signature}`;
      const consumerOf = journal.consumerOf(name);
      if (consumerOf !== undefined) return consumerOf === purpose ? takenBefore(request, payment) : UNMATCHED;
      journal.consumeOnce(name, purpose, now());
      apply(request, payment);
      return { purpose };
    },

    /**
     * Ends requests whose creation has ended. It only uses storage, so it can process all of them at once.
     */
    settleCreations(limit: number): void {
      ended.run(limit, (request) => {
        const operation = journal.get(p.tokens.creationId(request.id));
        storage.transaction(() => {
          if (operation?.state === 'done') return complete(request);
          oweAll(
            save({ ...request, state: 'expired', reason: reasonText(operation?.reason ?? null) }),
            'failed',
          );
        });
      });
    },

    /** Plans creations of paid requests that have none, such as rows of an older version. */
    planMissing(limit: number): void {
      missing.run(limit, (request) => storage.transaction(() => plan(request)));
    },

    /** When a creation is next booked or planned, Unix milliseconds; undefined when none is pending. */
    nextAt: () => earliest(ended.nextAt(), missing.nextAt()),

    /**
     * Ends requests that closed before a time; partial payments are owed back.
     * @param before Unix milliseconds
     */
    expire(before: number, limit: number): void {
      closedBefore = before;
      closed.run(limit, (request) =>
        storage.transaction(() => oweAll(save({ ...request, state: 'expired' }), 'underpaid')),
      );
    },
  };
}

/** Confirms the payment that a caller names, and waits for the work that it pays for. */
function createConfirmation(
  { journal, storage, now }: Pick<ModuleTools, 'journal' | 'storage' | 'now'>,
  p: Pick<PaymentPorts, 'treasuryAddress' | 'confirmedTransaction'> & {
    readonly store: RequestStore;
    readonly booking: Pick<Booking, 'confirm'>;
    readonly viewOf: (request: PaymentRequest) => RequestView;
    readonly reasonOf: (request: PaymentRequest) => string | null;
    /** Continues a paid creation and books its end. */
    readonly carryOn: (request: PaymentRequest) => Promise<void>;
  },
) {
  const { store, booking } = p;

  /**
   * Keeps a confirmed payment of the request until it is final, so that another reader is not asked to pay again. Any
   * caller may name any signature: one that no node shows, or that pays for something else, changes nothing.
   */
  async function keepReported(id: string, signature: string): Promise<void> {
    const isNew = ({ state, reported }: PaymentRequest) =>
      state === 'open' && reported?.signature !== signature;
    const known = store.get(id);
    if (!known || !isNew(known)) return;
    const transaction = await p.confirmedTransaction(signature);
    const payment = transaction && treasuryPayment(transaction, p.treasuryAddress);
    if (!payment) return;
    const paid = matchRequest(payment, transaction, store, now());
    if (paid && paid !== 'several' && paid.id === id && isNew(paid))
      store.put({ ...paid, reported: { signature, at: now() } });
  }

  /** A reported transaction that is final either counts by now or never will. */
  function forgetReported(id: string, signature: string): void {
    const request = store.get(id);
    if (request?.reported?.signature === signature) store.put({ ...request, reported: null });
  }

  /** Reason why a payment does not pay for a request, or undefined. @throws AppError UPSTREAM_FAILED */
  async function bind(request: PaymentRequest, signature: string): Promise<Refusal | undefined> {
    if (!isSignature(signature))
      return { code: 'INVALID_SIGNATURE', message: 'tx_signature is not a Solana signature.' };
    // A booked payment was final when it was booked.
    const isBooked = journal.consumerOf(`payment:${signature}`) === purposeOf(request);
    if (isBooked && (request.state === 'paid' || request.state === 'completed')) return undefined;
    const transaction = await booking.confirm(signature);
    if (!transaction) {
      await keepReported(request.id, signature);
      const message = 'This transaction is not final yet, or it does not exist.';
      return { code: 'PAYMENT_NOT_FINAL', message, retryAfterSeconds: 5 };
    }
    forgetReported(request.id, signature);
    if (transaction.failed)
      return { code: 'PAYMENT_FAILED', message: 'This transaction failed on the chain.' };
    const consumerOf = journal.consumerOf(`payment:${transaction.signature}`);
    if (consumerOf !== purposeOf(request)) return usedElsewhere(consumerOf);
    const current = store.get(request.id);
    // The response to the caller follows from the state.
    if (current?.state !== 'open') return undefined;
    if (!current.parts.some((part) => part.signature === transaction.signature)) return refundDue();
    const missing = BigInt(current.fee) - BigInt(current.received);
    const message = `${missing} lamports are missing. Pay them to the same reference.`;
    return { code: 'PAYMENT_INCOMPLETE', message, details: { missingLamports: missing.toString() } };
  }

  /** Books the payment of a request and begins the work that it pays for. */
  return async function confirm(
    { id, kind, signature, waitMs }: ConfirmRequest,
    within: <T>(work: Promise<T>, ms: number) => Promise<T | undefined>,
  ): Promise<PaymentConfirmed> {
    const request = store.get(id);
    if (request?.kind !== kind) return refuse({ code: 'NOT_FOUND', message: 'No request has this id.' });
    const refusal = await bind(request, signature);
    if (refusal) return refuse(refusal);
    const paid = store.get(id);
    if (waitMs > 0 && paid?.state === 'paid') await within(p.carryOn(paid), waitMs);
    const end = store.get(id);
    if (end?.state === 'completed') {
      await storage.sync();
      return { type: 'confirmed', request: p.viewOf(end) };
    }
    if (end?.state === 'expired') return refuse(refundDue());
    const message =
      'The payment is final and the token is being created. Repeat the call or read the invoice.';
    const details = { reason: end ? p.reasonOf(end) : null };
    return refuse({ code: 'INVOICE_IN_PROGRESS', message, retryAfterSeconds: 5, details });
  };
}

const refuse = (refusal: Refusal): PaymentConfirmed => ({ type: 'refused', refusal });

/**
 * Purposes that payments to the treasury serve: the prefixes of the names that they consume. The last two are payments
 * that a lost journal has repaid, or may have used.
 */
const PAID_PURPOSES: ReadonlySet<string> = new Set(['token', 'listing', 'asry', 'refund', 'unexplained']);

const notBound = (): Refusal => ({
  code: 'PAYMENT_NOT_BOUND',
  message: "This payment contains neither the request's reference nor exactly its amount.",
});

/**
 * @param consumerOf purpose of a transaction. A purpose that no caller pays for, such as a bridge's refund, is not a
 * payment
 */
export function usedElsewhere(consumerOf: string | undefined): Refusal {
  const [purpose = ''] = consumerOf?.split(':') ?? [];
  if (!PAID_PURPOSES.has(purpose)) return notBound();
  const message = `This payment already serves another purpose (${purpose}).`;
  return { code: 'PAYMENT_ALREADY_USED', message, details: { purpose } };
}

export const refundDue = (): Refusal => ({
  code: 'REFUND_DUE',
  message: 'The payment bought nothing. It is recorded for a refund to its payer.',
});

/** Shows which MINT_KEY_SEED this is, and nothing about it: the address that it derives for an invoice that cannot exist. */
const fingerprintOf = (mintAddress: PaymentPorts['mintAddress']): OpsAnswer => ({
  ok: true,
  message: 'The mint address of the invoice named doctor.',
  rows: [{ setting: 'MINT_KEY_SEED', fingerprint: mintAddress('doctor') }],
});
