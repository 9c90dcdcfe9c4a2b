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
import { mayBeReturned } from './treasury-payment.ts';
import type { UnmatchedPayment } from './treasury-store.ts';

/** Maximum payments in one list for the operator. */
const SHOWN = 200;

/** A payment that nothing has used, that is not our own, and that cannot be money returned by a bridge. */
export function findUnmatched(context: PaymentContext, signature: string): UnmatchedPayment | undefined {
  const { journal, treasury, treasuryAddress, now } = context;
  const payment = treasury.unmatched(signature);
  if (!payment || journal.usedBy(`payment:${signature}`) !== undefined) return undefined;
  if (payment.payer === treasuryAddress || isReserve(context, payment.payer)) return undefined;
  // The lost journal may have used or returned an older payment.
  if (olderRefusal(journal, payment, undefined)) return undefined;
  const swaps = journal.open().filter(({ signer }) => signer === treasuryAddress);
  return mayBeReturned(payment, swaps, now()) ? undefined : payment;
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

/** Largest first. */
function largest(context: PaymentContext): UnmatchedPayment[] {
  const found: UnmatchedPayment[] = [];
  for (const { signature } of context.treasury.unmatchedBySize()) {
    found.push(...[findUnmatched(context, signature) ?? []].flat());
    if (found.length === SHOWN) break;
  }
  return found;
}
