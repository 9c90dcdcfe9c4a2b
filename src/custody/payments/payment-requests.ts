/**
 * Requests that somebody pays for in SOL: a token creation, a listing. A payment belongs to a request only when its
 * transaction carries the request's reference key or moves exactly its own amount; one payment serves one purpose, for
 * ever, over all flows. What bought nothing is owed back and written down.
 * @module
 */
import { encodeBase58, isSignature } from '../../chain/solana/address.ts';
import { lamports } from '../../core/amount.ts';
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
import type { Desk, DeskTools } from '../kernel/desk.ts';
import type { Facts } from '../kernel/operation.ts';
import type { Mirror } from '../kernel/ports.ts';
import type { Sold } from '../kernel/spending-limits.ts';
import { foreignToken, listToken } from '../tokens/d1-rows.ts';
import { mirrorCreatedListing, mirrorRequest, requestView, SHOWN_REFUNDS } from './d1-rows.ts';
import { ownFee } from './own-fee.ts';
import { recognizeRequests, repairRequests, restoreRequests } from './recovery.ts';
import { createRefundDesk, DUST, type RefundPorts } from './refunds.ts';
import { refundDue, usedElsewhere } from './refusals.ts';
import { openRequestStore, type PaymentRequest, partOf } from './request-store.ts';
import { createTreasuryScan, type PaymentTaker, type TreasuryScanPorts } from './treasury-scan.ts';
import { openTreasuryStore, type TreasuryPayment } from './treasury-store.ts';

export type PaymentDeskPorts = Pick<
  TreasuryScanPorts,
  'treasuryAddress' | 'reserveAddress' | 'signatures' | 'transaction'
> &
  Pick<RefundPorts, 'maxRefundsDay' | 'heldPayers'> & {
    /** So many random bytes. */
    readonly randomBytes: (length: number) => Uint8Array;
    readonly randomId: () => string;
    /** The mint that an invoice, and only it, can make. */
    readonly mintAddress: (invoiceId: string) => string;
    /** What the on-chain uri of a mint points to. */
    readonly metadataUri: (mint: string) => string;
    /** Lamports that a creation may take from the reserve, rent and fees. */
    readonly creationCost: (subject: Readonly<Record<string, unknown>>) => bigint;
  };

const OPEN_PER_CLIENT = 10;
const OPEN_IN_ALL = 500;
const LIFE_MS = 30 * 60_000;
/** A payment that is this late still counts: wallets and finality take their time. */
const GRACE_MS = 10 * 60_000;
const KEPT_MS = 7 * DAY_MS;
/** Payments that may wait for the rest of a fee. */
const MAX_PARTS = 50;
const SCAN_MS = 2_000;
/** A payment by exact amount may carry a block time a little before the request: clocks differ. */
const CLOCK_SKEW_MS = 30_000;
const BATCH = 10;

export type PaymentDesk = ReturnType<typeof createPaymentDesk>;

export function createPaymentDesk(
  tools: DeskTools,
  p: PaymentDeskPorts & { readonly mirror: Pick<Mirror, 'recordsAfter'> },
) {
  const { journal, storage, now } = tools;
  const store = openRequestStore(storage);
  const payments = openTreasuryStore(storage);
  const refunds = createRefundDesk(tools, store, p);
  const { owe } = refunds;
  const purposeOf = (request: PaymentRequest): string => `${request.kind}:${request.id}`;

  function save(request: PaymentRequest): PaymentRequest {
    const changed = { ...request, changes: request.changes + 1 };
    store.put(changed);
    mirrorRequest(journal, store, changed, now());
    return changed;
  }

  /** Owes back all that a request has received and that is not owed already. Inside a transaction. */
  function oweAll(request: PaymentRequest, reason: 'underpaid' | 'failed'): void {
    for (const part of request.parts) {
      const rest = BigInt(part.lamports) - refunds.owedOf(part.signature);
      if (rest > 0n) owe(request, part, rest, reason);
    }
  }

  /** The one request that a payment belongs to; undefined when none or more than one fits. */
  function belongsTo(payment: TreasuryPayment, transaction: ChainTransaction): PaymentRequest | undefined {
    const referenced = transaction.accounts.flatMap((account) => store.byReference(account) ?? []);
    if (referenced.length > 0) return referenced.length === 1 ? referenced[0] : undefined;
    const paidAt = payment.blockTime === null ? now() : payment.blockTime * 1_000;
    const exact = store
      .openByFee(payment.lamports.toString())
      .filter((request) => paidAt >= request.createdAt - CLOCK_SKEW_MS && paidAt <= request.closesAt);
    return exact.length === 1 ? exact[0] : undefined;
  }

  const taker: PaymentTaker = {
    waitingSince: () => store.oldestOpen(),

    take(payment, transaction) {
      const request = belongsTo(payment, transaction);
      if (!request) return null;
      const purpose = purposeOf(request);
      const name = `payment:${payment.signature}`;
      const claimant = journal.claimant(name);
      // Taken by this request: its booking was lost with a journal that D1 has rebuilt, what came of it was not.
      if (claimant !== undefined) return claimant === purpose ? purpose : null;
      if (refunds.isReturned(payment)) return null;
      journal.claim(name, purpose, now());
      const paidAt = payment.blockTime === null ? now() : payment.blockTime * 1_000;
      if (request.state === 'expired' || paidAt > request.closesAt) {
        owe(request, payment, payment.lamports, 'late');
      } else if (request.state !== 'open') {
        owe(request, payment, payment.lamports, 'double');
      } else {
        receive(request, payment);
      }
      return purpose;
    },
  };

  /** Adds a payment to an open request; pays it off when it is enough. */
  function receive(request: PaymentRequest, payment: TreasuryPayment): void {
    const received = BigInt(request.received) + payment.lamports;
    const missing = BigInt(request.fee) - received;
    // However small its parts, a request's row stays small, and what completes it counts.
    if (missing > 0n && request.parts.length >= MAX_PARTS) {
      owe(request, payment, payment.lamports, 'underpaid');
      return;
    }
    const parts = [...request.parts, partOf(payment)];
    const seen = { ...request, received: received.toString(), parts, payer: payment.payer };
    if (missing > 0n) return void save(seen);
    if (-missing > DUST) owe(request, payment, -missing, 'overpaid');
    const paid = save({ ...seen, state: 'paid', paymentSignature: payment.signature, paidAt: now() });
    if (paid.kind === 'listing') complete(paid);
  }

  /** A token row for what was made or listed, and the request's end. */
  function complete(request: PaymentRequest): void {
    const tokenId = listToken({ store, journal, now: now() }, request);
    const done = save({
      ...request,
      state: 'completed',
      completedAt: now(),
      tokenId,
      reason: null,
    });
    if (done.kind === 'token') mirrorCreatedListing(journal, done, now());
  }

  const ownMint = (id: string, subject: OpenRequest['subject']) => {
    const mint = p.mintAddress(id);
    return { ...subject, mint, uri: p.metadataUri(mint) };
  };

  /** Begins the creation of a paid token, or takes over what became of it. */
  async function create(asked: PaymentRequest): Promise<void> {
    const id = purposeOf(asked);
    const begun = await tools.begin('token', id, () => ({
      ok: true,
      intent: {
        amount: lamports(0n),
        reserved: lamports(p.creationCost(asked.subject)),
        plan: { ...(asked.subject as Facts), invoiceId: asked.id },
        claims: [],
      },
    }));
    // A confirm and the alarm may both have waited here, and the first has brought it to its end.
    const request = store.get(asked.id);
    if (request?.state !== 'paid') return;
    if (begun.type === 'refused') {
      // Asked again every two seconds: only another reason is a change.
      if (request.reason !== begun.refusal.code) save({ ...request, reason: begun.refusal.code });
      return;
    }
    const operation = journal.get(id);
    if (operation?.state === 'done') storage.transaction(() => complete(request));
    if (operation?.state !== 'failed') return;
    storage.transaction(() => {
      const expired = save({ ...request, state: 'expired', reason: operation.reason });
      oweAll(expired, 'failed');
    });
  }

  const isUnderWay = (request: PaymentRequest): boolean =>
    !['done', 'failed', undefined].includes(journal.get(purposeOf(request))?.state);

  /** Paid tokens, those under way last: however many hang, they keep no other waiting. */
  const creatable = (): PaymentRequest[] =>
    store
      .inState('paid', -1)
      .toSorted((a, b) => Number(isUnderWay(a)) - Number(isUnderWay(b)))
      .slice(0, BATCH);

  /** Requests that nobody can pay any more; what arrived in part is owed back. */
  function expire(): void {
    for (const request of store.closed(now(), BATCH)) {
      storage.transaction(() => {
        oweAll(save({ ...request, state: 'expired' }), 'underpaid');
      });
    }
    store.purge(now() - KEPT_MS);
  }

  const scan = createTreasuryScan({
    journal,
    storage,
    payments,
    treasuryAddress: p.treasuryAddress,
    reserveAddress: p.reserveAddress,
    takers: [taker],
    signatures: p.signatures,
    transaction: p.transaction,
    now,
    log: tools.log,
  });

  let lastRun = 0;

  const refuse = (refusal: Refusal) => ({ type: 'refused' as const, refusal });

  const desk = {
    nextAt(): number | undefined {
      const waits =
        store.oldestOpen() !== undefined || store.inState('paid', 1).length > 0 || refunds.isMoving();
      return waits ? lastRun + SCAN_MS : undefined;
    },

    async run(): Promise<void> {
      lastRun = now();
      if (scan.isWaiting()) await scan.run();
      for (const request of creatable()) await create(request);
      refunds.settleEnded();
      expire();
    },

    /** Lamports that creations will cost and that no operation reserves yet: of paid requests, and of open ones. */
    sold(): Sold {
      const cost = (requests: readonly PaymentRequest[]): bigint =>
        requests.reduce((sum, { subject }) => sum + p.creationCost(subject), 0n);
      const isToken = ({ kind }: PaymentRequest): boolean => kind === 'token';
      const paid = store.inState('paid', -1).filter((request) => isToken(request) && !isUnderWay(request));
      return { paid: cost(paid), open: cost(store.inState('open', -1).filter(isToken)) };
    },

    refund: refunds.refund,
    holdDoubtful(): void {
      repairRequests(store, storage, { owe, oweAll, owedOf: refunds.owedOf });
      refunds.holdDoubtful();
    },
    restoreRecords: () =>
      restoreRequests({ mirror: p.mirror, journal, storage, store, payments, walk: scan.walk(), now }),
    recognize: recognizeRequests(store),

    open(asked: OpenRequest): RequestOpened {
      if (store.countOpen(asked.client) >= OPEN_PER_CLIENT || store.countOpen() >= OPEN_IN_ALL) {
        const message = 'Too many requests wait for payment; pay or let them expire first.';
        return refuse({ code: 'TOO_MANY_OPEN_REQUESTS', message, retryAfterSeconds: 600 });
      }
      const { randomBytes } = p;
      const isTaken = (lamports: string): boolean => store.openByFee(lamports).length > 0;
      const fee = ownFee(asked.baseFeeLamports, { randomBytes, isTaken });
      if (fee === undefined) {
        return refuse({
          code: 'TOO_MANY_OPEN_REQUESTS',
          message: 'No amount is free.',
          retryAfterSeconds: 600,
        });
      }
      const known = asked.kind === 'listing' ? store.tokenByMint(String(asked.subject.mint)) : undefined;
      if (known?.listedAt) {
        const details = { tokenId: known.tokenId };
        return refuse({ code: 'ALREADY_LISTED', message: 'This token is listed already.', details });
      }
      const id = p.randomId();
      const request = storage.transaction(() =>
        save({
          id,
          kind: asked.kind,
          state: 'open',
          subject:
            asked.kind === 'token'
              ? ownMint(id, asked.subject)
              : foreignToken({ store, journal, now: now() }, asked.subject),
          fee: fee.toString(),
          reference: encodeBase58(p.randomBytes(32)),
          client: asked.client,
          createdAt: now(),
          expiresAt: now() + LIFE_MS,
          closesAt: now() + LIFE_MS + GRACE_MS,
          received: '0',
          parts: [],
          paymentSignature: null,
          payer: null,
          paidAt: null,
          completedAt: null,
          tokenId: null,
          reason: null,
          changes: 0,
        }),
      );
      return { type: 'opened', request: requestView(request, []) };
    },

    find(id: string): RequestView | null {
      const request = store.get(id);
      return request ? requestView(request, store.refundsOf(id, SHOWN_REFUNDS)) : null;
    },

    /** Books the payment of a request and begins what it buys. */
    async confirm(
      { id, kind, signature, waitMs }: ConfirmRequest,
      within: <T>(work: Promise<T>, ms: number) => Promise<T | undefined>,
    ): Promise<PaymentConfirmed> {
      const request = store.get(id);
      if (request?.kind !== kind) return refuse({ code: 'NOT_FOUND', message: 'No request has this id.' });
      const refusal = await bind(request, signature);
      if (refusal) return refuse(refusal);
      const paid = store.get(id);
      if (waitMs > 0 && paid?.kind === 'token' && paid.state === 'paid') await within(create(paid), waitMs);
      const end = store.get(id);
      if (end?.state === 'completed') {
        await storage.sync();
        return { type: 'confirmed', request: requestView(end, store.refundsOf(id, SHOWN_REFUNDS)) };
      }
      const message =
        'The payment is final and the token is being created. Repeat the call or read the invoice.';
      const details = { reason: end?.reason ?? null };
      return refuse({ code: 'INVOICE_IN_PROGRESS', message, retryAfterSeconds: 5, details });
    },
  } satisfies Desk & Record<string, unknown>;

  /** Why a payment does not pay for a request; undefined when it does. */
  async function bind(request: PaymentRequest, signature: string): Promise<Refusal | undefined> {
    if (!isSignature(signature))
      return { code: 'INVALID_SIGNATURE', message: 'tx_signature is no Solana signature.' };
    // A booked payment was final when it was booked.
    const isBooked = journal.claimant(`payment:${signature}`) === purposeOf(request);
    if (isBooked && (request.state === 'paid' || request.state === 'completed')) return undefined;
    const transaction = await scan.look(signature);
    if (!transaction) {
      const message = 'This transaction is not final yet, or the chain does not know it.';
      return { code: 'PAYMENT_NOT_FINAL', message, retryAfterSeconds: 5 };
    }
    if (transaction.failed)
      return { code: 'PAYMENT_FAILED', message: 'This transaction failed on the chain.' };
    const claimant = journal.claimant(`payment:${transaction.signature}`);
    if (claimant !== purposeOf(request)) return usedElsewhere(claimant);
    const now = store.get(request.id);
    if (now?.state !== 'open') return now?.state === 'expired' ? refundDue() : undefined;
    if (!now.parts.some((part) => part.signature === transaction.signature)) return refundDue();
    const missing = BigInt(now.fee) - BigInt(now.received);
    const message = `${missing} lamports are missing; pay them to the same reference.`;
    return { code: 'PAYMENT_INCOMPLETE', message, details: { missingLamports: missing.toString() } };
  }

  return desk;
}
