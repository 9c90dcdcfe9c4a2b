/**
 * Payments that bought nothing. If a request's payment or a part of it bought nothing, a refund is recorded in the
 * storage transaction that finds this. A payment that matched no request becomes a refund only through the operator's
 * command.
 * @module
 */
import { birthOf } from '../kernel/birth.ts';
import type { Debt, OpsAnswer } from '../operator-api.ts';
import type { PaymentContext } from './context.ts';
import { mirrorRequest, refundColumns } from './request-records.ts';
import { nameOf, type PaymentRequest, type RefundDue } from './request-store.ts';
import { awaitedReturns, DUST, type NoMatch } from './treasury-payment.ts';
import { MOST_UNREAD, type NotReturned, type TreasuryPayment } from './treasury-store.ts';

/** Stores a refund and queues the D1 update with its request. Call inside a transaction. */
export function saveRefund(context: PaymentContext, refund: RefundDue): void {
  const { requests, journal, now } = context;
  const changed = { ...refund, changes: refund.changes + 1 };
  requests.putRefund(changed);
  journal.queue.publish('refunds', changed.id, refundColumns(changed), now());
  const request = requests.get(refund.requestId);
  if (request) mirrorRequest(context, request);
}

/** Lamports of a payment that are recorded as owed back, including refunds already paid. */
export const owedOf = ({ requests }: PaymentContext, signature: string): bigint =>
  requests.refundsOfPayment(signature).reduce((sum, refund) => sum + BigInt(refund.lamports), 0n);

/**
 * Records the part of a payment that is owed back, unless the part is dust. Call inside a transaction.
 * @param requestId the request of the payment; the payment's signature if it matched none
 */
export function oweRefund(
  context: PaymentContext,
  requestId: string,
  { signature, payer }: Pick<TreasuryPayment, 'signature' | 'payer'>,
  amount: bigint,
  reason: RefundDue['reason'],
): void {
  if (amount <= DUST) return;
  const { requests, now, log } = context;
  const earlier = requests.refundsOfPayment(signature);
  // One transaction refunds all that is owed of one payment, except a part whose refund has already started.
  const open = earlier.find(({ state, operations }) => state === 'due' && operations === 0);
  const refund: RefundDue = open ?? {
    id: earlier.length === 0 ? signature : `${signature}.${earlier.length + 1}`,
    signature,
    requestId,
    lamports: '0',
    payer,
    reason,
    state: 'due',
    operations: 0,
    operationId: null,
    refundSignature: null,
    createdAt: now(),
    paidAt: null,
    changes: 0,
  };
  saveRefund(context, { ...refund, reason, lamports: (BigInt(refund.lamports) + amount).toString() });
  log({ level: 'alarm', event: 'refund_due', request: requestId, lamports: amount.toString(), reason });
}

/**
 * Records each part as owed to its payer, minus the amount that is already owed of it. Call inside a storage
 * transaction.
 */
export function oweParts(
  context: PaymentContext,
  request: PaymentRequest,
  reason: 'underpaid' | 'failed',
): void {
  for (const part of request.parts)
    oweRefund(context, request.id, part, BigInt(part.lamports) - owedOf(context, part.signature), reason);
}

const SHOWN = 200;

/**
 * Excludes our own payments, money that a bridge may have returned, and payments that the lost journal may have used or
 * returned.
 */
const notReturned = ({ journal, reserveAddress }: PaymentContext): NotReturned => [
  Number(birthOf(journal)?.slot ?? -1),
  JSON.stringify([reserveAddress, ...journal.signers()]),
  JSON.stringify(awaitedReturns(journal.open())),
];

/** An unused payment above dust that the operator may return. */
export const findUnmatched = (context: PaymentContext, signature: string): TreasuryPayment | undefined =>
  context.treasury.unmatched(notReturned(context), signature);

/** Turns a payment into a debt to its payer. From then on the payment cannot be used otherwise. */
export function oweUnmatched(context: PaymentContext, signature: string): void {
  const { journal, storage, treasury, now } = context;
  storage.transaction(() => {
    const payment = findUnmatched(context, signature);
    if (!payment) return;
    const name = nameOf({ kind: 'unmatched', id: signature });
    journal.useOnce(`payment:${signature}`, name, now());
    treasury.record(payment, name);
    oweRefund(context, signature, payment, payment.lamports, 'unmatched');
  });
}

export const unmatchedDebt = (context: PaymentContext): Debt =>
  context.treasury.unmatchedDebt(notReturned(context));

/** The largest payments that matched no request, and the newest treasury transactions that could not be recorded. */
export function listUnmatched(context: PaymentContext): OpsAnswer {
  const { treasury } = context;
  const { count } = unmatchedDebt(context);
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  const unbooked = treasury.unbooked(SHOWN).map(({ signature, firstAt }) => {
    return { payment: signature, lamports: null, payer: null, since: iso(firstAt) };
  });
  const unmatched = treasury
    .largestUnmatched(notReturned(context), SHOWN)
    .map(({ signature, blockTime, lamports, payer }) => {
      const since = iso(blockTime === null ? null : blockTime * 1_000);
      return { payment: signature, lamports: lamports.toString(), payer, since };
    });
  const matched = `${count} payments matched nothing. \`refund <payment>\` returns one to its payer.`;
  const unread = ` ${treasury.countUnbooked()} transactions could not be recorded; rows without an amount are the newest. A confirm call can still record one. At most ${MOST_UNREAD.waiting} of each node are kept.`;
  return {
    ok: true,
    message: unbooked.length > 0 ? matched + unread : matched,
    rows: [...unmatched, ...unbooked],
  };
}

/** Income without a purpose is not an error, but a customer may have paid the wrong amount. */
export function reportUnmatched(
  { log }: PaymentContext,
  { signature, lamports: sum }: TreasuryPayment,
  reason: NoMatch,
): void {
  if (sum <= DUST) return;
  const level = reason === 'several_requests' ? 'alarm' : 'warn';
  log({ level, event: 'payment_unmatched', signature, lamports: sum.toString(), reason });
}
