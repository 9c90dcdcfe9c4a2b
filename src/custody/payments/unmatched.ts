/**
 * Payments that matched no request. They stay in the list of treasury payments; only the operator's command turns one
 * into a refund.
 * @module
 */
import { birthOf } from '../kernel/birth.ts';
import type { Debt, OpsAnswer } from '../operator-api.ts';
import type { PaymentContext } from './context.ts';
import { oweRefund } from './owed.ts';
import { nameOf } from './request-store.ts';
import { awaitedReturns } from './treasury-payment.ts';
import type { NotReturned, UnmatchedPayment } from './treasury-store.ts';

const SHOWN = 200;

/** Payments that are our own, that a bridge may have returned, or that the lost journal may have used or returned. */
const notReturned = ({ journal, reserveAddress }: PaymentContext): NotReturned => [
  Number(birthOf(journal)?.slot ?? -1),
  JSON.stringify([reserveAddress, ...journal.signers()]),
  JSON.stringify(awaitedReturns(journal.open())),
];

/** A payment above dust that nothing has used and that the operator may return to its payer. */
export const findUnmatched = (context: PaymentContext, signature: string): UnmatchedPayment | undefined =>
  context.treasury.unmatched(notReturned(context), signature);

/** Makes a payment a debt to its payer. Nothing else can use the payment from then on. */
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

/** The largest payments that matched no request, and the oldest transactions of the treasury that could not be booked. */
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
  const unread = ` ${unbooked.length} transactions without an amount could not be booked; a confirm still books one.`;
  return {
    ok: true,
    message: unbooked.length > 0 ? matched + unread : matched,
    rows: [...unmatched, ...unbooked],
  };
}
