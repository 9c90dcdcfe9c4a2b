/**
 * Payments that matched no request. They stay in the list of treasury payments; only the operator's command turns one
 * into a refund.
 * @module
 */

import { isReserve } from '../kernel/begin-operation.ts';
import { olderRefusal } from '../kernel/birth.ts';
import { debtOf } from '../kernel/operator-commands.ts';
import type { Debt, OpsAnswer } from '../operator-api.ts';
import type { PaymentContext } from './context.ts';
import { oweRefund } from './owed.ts';
import { nameOf } from './request-store.ts';
import { DUST, mayBeReturned, type NoMatch } from './treasury-payment.ts';
import type { TreasuryPayment, UnmatchedPayment } from './treasury-store.ts';

const SHOWN = 200;

/** A payment that nothing has used, that is not our own, and that cannot be money returned by a bridge. */
export function findUnmatched(context: PaymentContext, signature: string): UnmatchedPayment | undefined {
  const { journal, treasury } = context;
  const payment = treasury.unmatched(signature);
  if (!payment || journal.userOf(`payment:${signature}`) !== undefined) return undefined;
  if (payment.payer === payment.payee || isReserve(context, payment.payer)) return undefined;
  // The lost journal may have used or returned an older payment.
  if (olderRefusal(journal, payment, undefined)) return undefined;
  return mayBeReturnedNow(context, payment) ? undefined : payment;
}

export const mayBeReturnedNow = ({ journal }: PaymentContext, payment: TreasuryPayment): boolean =>
  mayBeReturned(
    payment,
    journal.open().filter(({ signer }) => signer === payment.payee),
  );

/** Income without a purpose is not an error, but a customer may have paid the wrong amount. */
export function reportUnmatched(
  { log }: PaymentContext,
  { signature, lamports: amount }: TreasuryPayment,
  reason: NoMatch,
): void {
  if (amount <= DUST) return;
  const level = reason === 'several_requests' ? 'alarm' : 'warn';
  log({ level, event: 'payment_unmatched', signature, lamports: amount.toString(), reason });
}

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
  debtOf(
    'payment_unmatched',
    largest(context).map(({ signature: id, lamports: atoms, blockTime }) => ({
      id,
      reason: 'no_request',
      atoms,
      sinceMs: blockTime === null ? null : blockTime * 1_000,
      awaitsOperator: true,
    })),
  );

export function listUnmatched(context: PaymentContext): OpsAnswer {
  const rows = largest(context).map(({ signature, blockTime, lamports, payer }) => {
    const since = blockTime === null ? null : new Date(blockTime * 1_000).toISOString();
    return { payment: signature, lamports: lamports.toString(), payer, since };
  });
  const message = `${rows.length} payments matched nothing. \`refund <payment>\` returns one to its payer.`;
  return { ok: true, message, rows };
}

function largest(context: PaymentContext): UnmatchedPayment[] {
  const found: UnmatchedPayment[] = [];
  for (const { signature } of context.treasury.unmatchedBySize()) {
    found.push(...[findUnmatched(context, signature) ?? []].flat());
    if (found.length === SHOWN) break;
  }
  return found;
}
