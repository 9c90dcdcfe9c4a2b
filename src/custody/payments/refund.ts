/**
 * Pays owed refunds on the operator's command. A refund goes to the payer that the finalized chain shows, at most once and
 * within the day's limit. It is one System transfer whose memo names the payment, so the chain itself records the refund.
 * @module
 */
import { lamportsGained, MEMO_TRANSFER_FEE, memoTransferMessage } from '../../chain/solana/transaction.ts';
import { lamports } from '../../core/amount.ts';
import { failureReason } from '../../core/errors.ts';
import { beginOperation, type Decision, type NotBegun, spendingRefusal } from '../kernel/begin-operation.ts';
import {
  type KindRules,
  type Operation,
  type OperationKind,
  type Prepared,
  plainlyPrepared,
  settlesByLanding,
} from '../kernel/operation.ts';
import { reasonText } from '../kernel/reason.ts';
import type { OpsAnswer } from '../operator-api.ts';
import type { PaymentContext, RefundReads } from './context.ts';
import { owedOf, oweUnmatched, saveRefund } from './owed.ts';
import type { RefundDue } from './request-store.ts';
import { payerOf } from './treasury-payment.ts';

/** Maximum refunds of one request that one command processes. */
const LISTED = 100;

type Row = NonNullable<OpsAnswer['rows']>[number];

/** Pays the refunds of a request or of one payment. A payment that matched no request is first recorded as a debt. */
export async function refundPayments(context: PaymentContext, id: string): Promise<OpsAnswer> {
  const { requests, journal } = context;
  oweUnmatched(context, id);
  const owed = [...requests.refundsOf(id, LISTED), ...requests.refundsOfPayment(id)];
  const found = new Set(owed.map((row) => row.id));
  if (found.size === 0) return { ok: false, message: 'No refund was ever owed for this id.' };
  const rows: Row[] = [];
  let ok = true;
  for (const name of found) {
    // Another call may have paid this refund while the previous one was processed.
    const refund = requests.refund(name);
    if (!refund) continue;
    const outcome = refund.state === 'due' ? await pay(context, refund) : progressOf(context, refund);
    const after = requests.refund(refund.id) ?? refund;
    ok &&= after.state !== 'due';
    rows.push({
      payment: after.signature,
      reason: after.reason,
      lamports: after.lamports,
      payer: after.payer,
      outcome: after.state === 'paid' ? 'paid' : outcome,
      operation: after.operationId,
      refund: after.refundSignature ?? journal.get(after.operationId)?.signing?.signature ?? null,
    });
  }
  const message = ok
    ? 'All owed refunds are paid or being paid.'
    : 'Some refunds are not paid; see the rows.';
  return { ok, message, rows };
}

function progressOf({ journal }: PaymentContext, { operationId }: RefundDue): string {
  const reason = reasonText(journal.get(operationId)?.reason ?? null);
  return reason ? `on its way (${reason})` : 'on its way';
}

async function pay(context: PaymentContext, refund: RefundDue): Promise<string> {
  if (refund.payer === null) return 'several accounts paid: send it by hand';
  if (context.heldPayers.has(refund.payer))
    return "an exchange's wallet paid: ask the customer and send it by hand";
  let why: string | undefined;
  try {
    why = await objection(context, refund);
  } catch (error) {
    why = `the chain cannot be read (${failureReason(error)})`;
  }
  if (why !== undefined) return `not paid: ${why}`;
  const id = refundId(refund.id, refund.operations + 1);
  const begun = await beginOperation(context, 'refund', id, () => decide(context, refund));
  if (begun.type === 'refused') return notPaid(begun.why, context.now());
  if (begun.type === 'declined') return begun.declined;
  await context.drive(id);
  return 'on its way';
}

async function objection(context: PaymentContext, refund: RefundDue): Promise<string | undefined> {
  const payee = context.treasury.payeeOf(refund.signature) ?? context.treasuryAddress;
  const transaction = await context.transaction(refund.signature);
  if (!transaction || transaction.failed) return 'the chain does not show this payment';
  const credit = lamportsGained(transaction, payee);
  if (owedOf(context, refund.signature) > credit) return 'the recorded refund is larger than the payment';
  if (payerOf(transaction, payee) !== refund.payer) return 'the chain shows a different payer';
  return undefined;
}

function decide(context: PaymentContext, asked: RefundDue): Decision<string> {
  const refund = context.requests.refund(asked.id);
  if (refund?.state !== 'due' || refund.changes !== asked.changes || refund.payer === null)
    return { ok: false, declined: 'not paid: the refund has changed in the meantime; list it again' };
  const amount = lamports(BigInt(refund.lamports));
  const operations = refund.operations + 1;
  const operationId = refundId(refund.id, operations);
  const { signature: payment, payer } = refund;
  return {
    ok: true,
    intent: {
      amount,
      reserved: lamports(amount + MEMO_TRANSFER_FEE),
      plan: { refund: refund.id, payment, payer },
      store: () => saveRefund(context, { ...refund, state: 'begun', operations, operationId }),
    },
  };
}

const REFUND_RULES: KindRules = {
  maxAttempts: 5,
  retriesPreparation: true,
  settles: false,
  coveredAt: 'begin',
};

/** @param number from 1; another operation starts only after proof that the previous one moved nothing */
const refundId = (refund: string, number: number): string => `refund:${refund}:${number}`;

/** Prepares a refund's operation from its plan, which fixes all parameters. */
export const createRefundKind = (reads: RefundReads): OperationKind => ({
  rules: REFUND_RULES,

  async prepare({ plan, amount, signer, id }): Promise<Prepared> {
    const payer = String(plan.payer);
    const [balance, least] = await Promise.all([reads.balanceOf(payer), reads.leastBalance()]);
    // The chain rejects a transfer that leaves an account below the rent-exempt minimum.
    if (balance + amount < least) return { ok: false, reason: 'payer_account_closed' };
    const lifetime = await reads.latestBlockhash();
    const transfer = { from: signer, to: payer, amount: lamports(amount), memo: id, lifetime };
    return plainlyPrepared(memoTransferMessage(transfer), lifetime);
  },

  settle: settlesByLanding,
});

/** Records the outcome of a refund's operation. Call inside the storage transaction that ends it. */
export const endRefund =
  (context: PaymentContext) =>
  ({ id, state, plan, reason, signing, landing }: Operation): void => {
    const { requests, log, now } = context;
    const stored = requests.refund(String(plan.refund));
    if (stored?.state !== 'begun' || stored.operationId !== id) return;
    if (state === 'failed') {
      saveRefund(context, { ...stored, state: 'due' });
      log({ level: 'alarm', event: 'refund_failed', operation: id, reason: reasonText(reason) });
      return;
    }
    const paidAt = landing?.blockTime ? landing.blockTime * 1_000 : now();
    saveRefund(context, { ...stored, state: 'paid', refundSignature: signing?.signature ?? null, paidAt });
  };

function notPaid(why: NotBegun, now: number): string {
  switch (why.code) {
    case 'STOPPED':
      return `not paid: signing is stopped (${why.reason})`;
    case 'UNREADABLE':
      return `not paid: the chain cannot be read (${why.reason})`;
    default:
      return `not paid: ${spendingRefusal(why, now).message}`;
  }
}
