/**
 * Payment requests: invoices for a token creation and listing requests. A payment belongs to a request if its
 * transaction contains the request's reference or moves exactly its amount. One payment serves one purpose
 * across all flows. A payment that buys nothing is recorded for a refund.
 * @module
 */
import { encodeBase58, isSignature } from '../../chain/solana/address.ts';
import { DAY_MS } from '../../core/limits.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type {
  ConfirmRequest,
  OpenRequest,
  PaymentConfirmed,
  Refusal,
  RequestOpened,
  RequestView,
} from '../api.ts';
import type { CustodyModule, ModuleTools } from '../kernel/module.ts';
import type { Mirror } from '../kernel/ports.ts';
import type { Sold } from '../kernel/spending-limits.ts';
import { creationId, planCreation } from '../tokens/creation-operation.ts';
import { externalToken } from '../tokens/d1-rows.ts';
import { createBooking } from './booking.ts';
import { mirroredPayments, requestView, SHOWN_REFUNDS } from './d1-rows.ts';
import { mayOpen } from './open-shares.ts';
import { ownFee } from './own-fee.ts';
import { createPaymentSearch } from './payment-search.ts';
import { recognizeRequests, repairRequests, restoreRequests } from './recovery.ts';
import { openReferenceStore } from './reference-store.ts';
import { createRefundKind, type RefundKindPorts } from './refund-operation.ts';
import { createRefunds, type RefundPorts } from './refunds.ts';
import { refundDue, tooManyOpen, usedElsewhere } from './refusals.ts';
import { createRequestChanges, purposeOf } from './request-changes.ts';
import { openRequestStore, type PaymentRequest } from './request-store.ts';
import { openTreasuryStore } from './treasury-store.ts';
import type { TreasuryNode } from './treasury-walk.ts';

export type PaymentPorts = Pick<RefundPorts, 'maxRefundsDay' | 'heldPayers'> &
  RefundKindPorts & {
    readonly treasuryAddress: string;
    readonly reserveAddress: string;
    /** Lists of transactions, one per node. */
    readonly nodes: readonly TreasuryNode[];
    /**
     * The finalized transaction shown by a quorum of nodes, or null without a quorum. @throws AppError
     * UPSTREAM_FAILED
     */
    transaction(signature: string): Promise<ChainTransaction | null>;
    readonly randomBytes: (length: number) => Uint8Array;
    readonly randomId: () => string;
    /** The only mint that this invoice can create. */
    readonly mintAddress: (invoiceId: string) => string;
    /** The on-chain uri of a mint. */
    readonly metadataUri: (mint: string) => string;
    /** Lamports that a creation may take from the reserve: rent and fees. */
    readonly creationCost: (subject: Readonly<Record<string, unknown>>) => bigint;
  };

const LIFE_MS = 30 * 60_000;
/** A payment this late still counts: wallets and finality take time. */
const GRACE_MS = 10 * 60_000;
const KEPT_MS = 7 * DAY_MS;
/** Requests per kind of change in one run. */
const BATCH = 10;
/** Requests that one run may expire: as many as can close at the same time. */
const EXPIRE_BATCH = 200;
/** Ended creations are booked from storage alone. */
const ENDED_BATCH = 100;

const refuse = (refusal: Refusal) => ({ type: 'refused' as const, refusal });

export type Payments = ReturnType<typeof createPayments>;

export function createPayments(
  tools: ModuleTools,
  p: PaymentPorts & {
    readonly mirror: Pick<Mirror, 'recordsAfter'>;
    /** Carries a planned operation as far as it can go now. */
    readonly drive: (id: string) => Promise<void>;
  },
) {
  const { journal, storage, now, log } = tools;
  const store = openRequestStore(storage);
  const payments = openTreasuryStore(storage);
  const refunds = createRefunds(tools, store, p);
  const changes = createRequestChanges({
    journal,
    storage,
    store,
    refunds,
    planCreation: (request) => planCreation(journal, request, p.creationCost(request.subject), now()),
    now,
    log,
  });
  const booking = createBooking({ ...p, storage, payments, take: changes.take, now, log });
  const references = openReferenceStore(storage);
  const search = createPaymentSearch({ ...p, journal, store, references, booking, now, log });

  /** While a paid creation waits, its operation has the reason. */
  const reasonOf = ({ id, state, reason }: PaymentRequest): string | null =>
    reason ?? (state === 'paid' ? (journal.get(creationId(id))?.reason ?? null) : null);

  const viewOf = (request: PaymentRequest): RequestView =>
    requestView({ ...request, reason: reasonOf(request) }, store.refundsOf(request.id, SHOWN_REFUNDS));

  function open(asked: OpenRequest): RequestOpened {
    if (!mayOpen(asked.client, store.openByClient()))
      return refuse(tooManyOpen('Too many requests await payment. Pay one of them or let it expire first.'));
    const fee = ownFee(asked.baseFeeLamports, {
      randomBytes: p.randomBytes,
      isTaken: (lamports) => store.openByFee(lamports).length > 0,
    });
    if (fee === undefined)
      return refuse(tooManyOpen('No unique payment amount is available right now. Retry in a minute.'));
    const known = asked.kind === 'listing' ? store.tokenByMint(String(asked.subject.mint)) : undefined;
    if (known?.listedAt) {
      const details = { tokenId: known.tokenId };
      return refuse({ code: 'ALREADY_LISTED', message: 'This token is already listed.', details });
    }
    const request = storage.transaction(() => changes.save(newRequest(asked, fee)));
    return { type: 'opened', request: requestView(request, []) };
  }

  function newRequest(asked: OpenRequest, fee: bigint): PaymentRequest {
    const id = p.randomId();
    const mint = p.mintAddress(id);
    const createdAt = now();
    return {
      id,
      kind: asked.kind,
      state: 'open',
      subject:
        asked.kind === 'token'
          ? { ...asked.subject, mint, uri: p.metadataUri(mint) }
          : externalToken({ store, journal, now: createdAt }, asked.subject),
      fee: fee.toString(),
      reference: encodeBase58(p.randomBytes(32)),
      client: asked.client,
      createdAt,
      expiresAt: createdAt + LIFE_MS,
      closesAt: createdAt + LIFE_MS + GRACE_MS,
      received: '0',
      parts: [],
      paymentSignature: null,
      payer: null,
      paidAt: null,
      completedAt: null,
      tokenId: null,
      reason: null,
      changes: 0,
    };
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
      const message = 'This transaction is not final yet, or it does not exist.';
      return { code: 'PAYMENT_NOT_FINAL', message, retryAfterSeconds: 5 };
    }
    if (transaction.failed)
      return { code: 'PAYMENT_FAILED', message: 'This transaction failed on the chain.' };
    const consumerOf = journal.consumerOf(`payment:${transaction.signature}`);
    if (consumerOf !== purposeOf(request)) return usedElsewhere(consumerOf);
    const current = store.get(request.id);
    if (current?.state !== 'open') return current?.state === 'expired' ? refundDue() : undefined;
    if (!current.parts.some((part) => part.signature === transaction.signature)) return refundDue();
    const missing = BigInt(current.fee) - BigInt(current.received);
    const message = `${missing} lamports are missing. Pay them to the same reference.`;
    return { code: 'PAYMENT_INCOMPLETE', message, details: { missingLamports: missing.toString() } };
  }

  /** Continues a paid creation and books its end. */
  async function carryOn(request: PaymentRequest): Promise<void> {
    changes.planMissing(BATCH);
    await p.drive(creationId(request.id));
    changes.settleCreations(ENDED_BATCH);
  }

  /**
   * One run. Ended creations are booked before any chain read, and no request expires before the chain was
   * read.
   */
  async function run(by: 'alarm' | 'cron'): Promise<void> {
    changes.settleCreations(ENDED_BATCH);
    changes.planMissing(BATCH);
    refunds.settleEnded();
    const searchAt = by === 'cron' ? search.nextCronRunAt() : search.nextRunAt();
    if (searchAt !== undefined && searchAt <= now()) await search.run(by);
    // A payment that is not read yet may still be in time; one failing node does not keep requests open
    // forever.
    changes.expire(Math.max(search.readUntil(), now() - DAY_MS), EXPIRE_BATCH);
    store.purge(now() - KEPT_MS);
  }

  return {
    kinds: { refund: createRefundKind(p) },

    nextRunAt(): number | undefined {
      const times = [changes.nextAt(), refunds.nextAt(), search.nextRunAt()].filter((at) => at !== undefined);
      return times.length === 0 ? undefined : Math.min(...times);
    },

    run: () => run('alarm'),

    /** The cron searches for payments, so a request that is never paid causes no other work. */
    onCron: () => run('cron'),

    /** Creations of paid and open requests for which no operation has reserved anything yet. */
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

    open,
    commands: { refund: refunds.refund },

    find(id: string): RequestView | null {
      const request = store.get(id);
      return request ? viewOf(request) : null;
    },

    /**
     * Schedules an early search for the payment of an open request that a caller reads. True if the alarm
     * moves.
     */
    askFor: (id: string): boolean => store.get(id)?.state === 'open' && search.askFor(id),

    /** Books the payment of a request and begins the work that it pays for. */
    async confirm(
      { id, kind, signature, waitMs }: ConfirmRequest,
      within: <T>(work: Promise<T>, ms: number) => Promise<T | undefined>,
    ): Promise<PaymentConfirmed> {
      const request = store.get(id);
      if (request?.kind !== kind) return refuse({ code: 'NOT_FOUND', message: 'No request has this id.' });
      const refusal = await bind(request, signature);
      if (refusal) return refuse(refusal);
      const paid = store.get(id);
      if (waitMs > 0 && paid?.state === 'paid') await within(carryOn(paid), waitMs);
      const end = store.get(id);
      if (end?.state === 'completed') {
        await storage.sync();
        return { type: 'confirmed', request: viewOf(end) };
      }
      if (end?.state === 'expired') return refuse(refundDue());
      const message =
        'The payment is final and the token is being created. Repeat the call or read the invoice.';
      const details = { reason: end ? reasonOf(end) : null };
      return refuse({ code: 'INVOICE_IN_PROGRESS', message, retryAfterSeconds: 5, details });
    },

    holdSuspect(): void {
      const { owe, owedOf } = refunds;
      repairRequests(store, storage, { owe, owedOf, oweAll: changes.oweAll });
      refunds.holdSuspect();
    },
    mirrored: mirroredPayments(store),
    restore: () => restoreRequests({ mirror: p.mirror, journal, storage, store, payments, now }),
    recognize: recognizeRequests(store),
  } satisfies CustodyModule & Record<string, unknown>;
}
