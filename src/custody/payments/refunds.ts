/**
 * Refunds. One is recorded when a payment buys nothing, and paid only on the operator's command. It goes to
 * the payer that the finalized chain shows, at most once and within the day's limit.
 * @module
 */
import { lamportsChange, MEMO_TRANSFER_FEE } from '../../chain/solana/transaction.ts';
import { lamports } from '../../core/amount.ts';
import { failureReason } from '../../core/errors.ts';
import type { Debt, OpsAnswer } from '../api.ts';
import { beginOperation, type Decision, type NotBegun, spendingRefusal } from '../kernel/begin-operation.ts';
import type { ModuleTools } from '../kernel/module.ts';
import type { Operation } from '../kernel/operation.ts';
import { reasonText } from '../kernel/reason.ts';
import { payerOf } from './booking.ts';
import { DUST } from './payment-matching.ts';
import type { PaymentPorts } from './payment-requests.ts';
import { refundId } from './refund-operation.ts';
import { mirrorRequest, refundColumns } from './request-records.ts';
import { type PaymentRequest, purposeOf, type RefundDue, type RequestStore } from './request-store.ts';
import type { TreasuryPayment } from './treasury-store.ts';

type RefundPorts = Pick<PaymentPorts, 'treasuryAddress' | 'heldPayers' | 'transaction'>;

/** Debts that the operator's view names. */
export const DEBT_EXAMPLES = 5;
/** Maximum refunds of one request that one command processes. */
const LISTED = 100;

/** The request of a payment; for a payment that matched none, `unmatched` and its signature. */
type Cause = { readonly kind: PaymentRequest['kind'] | 'unmatched'; readonly id: string };

type Row = NonNullable<OpsAnswer['rows']>[number];

/** Records and pays refunds. */
export class Refunds {
  readonly #tools: ModuleTools;
  readonly #store: RequestStore;
  readonly #p: RefundPorts;

  constructor(tools: ModuleTools, store: RequestStore, p: RefundPorts) {
    this.#tools = tools;
    this.#store = store;
    this.#p = p;
  }

  debt(): Debt {
    const due = this.#store.refundsDue();
    return {
      name: 'refund_due',
      count: due.length,
      atoms: due.reduce((sum, { lamports: owed }) => sum + BigInt(owed), 0n),
      oldestMs: due[0]?.createdAt ?? null,
      awaitOperator: due.length,
      examples: due.slice(0, DEBT_EXAMPLES).map(({ requestId, reason }) => ({ id: requestId, reason })),
    };
  }

  /** Pays the refunds of a request or of one payment. */
  async refund(id: string): Promise<OpsAnswer> {
    const owed = [...this.#store.refundsOf(id, LISTED), ...this.#store.refundsOfPayment(id)];
    const found = new Set(owed.map((row) => row.id));
    if (found.size === 0) return { ok: false, message: 'No refund was ever owed for this.' };
    const rows: Row[] = [];
    let ok = true;
    for (const name of found) {
      // Another call may have paid this refund while the previous one was processed.
      const refund = this.#store.refund(name);
      if (!refund) continue;
      const outcome = await this.#progressOf(refund);
      const after = this.#store.refund(refund.id) ?? refund;
      ok &&= after.state !== 'due';
      rows.push({
        payment: after.signature,
        reason: after.reason,
        lamports: after.lamports,
        payer: after.payer,
        outcome: after.state === 'paid' ? 'paid' : outcome,
        operation: after.operationId,
        refund:
          after.refundSignature ?? this.#tools.journal.get(after.operationId)?.signing?.signature ?? null,
      });
    }
    const message = ok
      ? 'All owed refunds are paid or on the way.'
      : 'Some refunds are not paid; see the rows.';
    return { ok, message, rows };
  }

  /** Stores a refund and queues the D1 update with its request. Call inside a transaction. */
  #save(refund: RefundDue): RefundDue {
    const changed = { ...refund, changes: refund.changes + 1 };
    this.#store.putRefund(changed);
    this.#tools.journal.publish('refunds', changed.id, refundColumns(changed), this.#tools.now());
    const request = this.#store.get(refund.requestId);
    if (request) mirrorRequest(this.#tools.journal, this.#store, request, this.#tools.now());
    return changed;
  }

  /** Lamports of a payment that are recorded as owed back, paid or not. */
  owedOf(signature: string): bigint {
    return this.#store.refundsOfPayment(signature).reduce((sum, refund) => sum + BigInt(refund.lamports), 0n);
  }

  /** Records the part of a payment that is owed back, unless it is dust. Call inside a transaction. */
  owe(
    cause: Cause,
    payment: Pick<TreasuryPayment, 'signature' | 'payer'>,
    amount: bigint,
    reason: RefundDue['reason'],
  ): void {
    if (amount <= DUST) return;
    const { signature, payer } = payment;
    const earlier = this.#store.refundsOfPayment(signature);
    // One transaction refunds everything owed of one payment, unless a part is already under way.
    const open = earlier.find(({ state, operations }) => state === 'due' && operations === 0);
    const fresh: RefundDue = {
      id: earlier.length === 0 ? signature : `${signature}.${earlier.length + 1}`,
      signature,
      requestId: cause.id,
      purpose: purposeOf(cause),
      lamports: '0',
      payer,
      reason,
      state: 'due',
      operations: 0,
      operationId: null,
      refundSignature: null,
      createdAt: this.#tools.now(),
      paidAt: null,
      changes: 0,
    };
    const refund = open ?? fresh;
    this.#save({ ...refund, reason, lamports: (BigInt(refund.lamports) + amount).toString() });
    this.#tools.log({
      level: 'alarm',
      event: 'refund_due',
      request: cause.id,
      lamports: amount.toString(),
      reason,
    });
  }

  /** Books a refund whose operation ends. Call inside the storage transaction that ends it. */
  end({ id, state, plan, reason, signing, landing }: Operation): void {
    const stored = this.#store.refund(String(plan.refund));
    if (stored?.state !== 'begun' || stored.operationId !== id) return;
    if (state === 'failed') {
      this.#save({ ...stored, state: 'due' });
      const facts = { operation: id, reason: reasonText(reason) };
      this.#tools.log({ level: 'alarm', event: 'refund_failed', ...facts });
      return;
    }
    const paidAt = landing?.blockTime ? landing.blockTime * 1_000 : this.#tools.now();
    this.#save({ ...stored, state: 'paid', refundSignature: signing?.signature ?? null, paidAt });
  }

  /** The intent to pay a refund, or why it is not paid. */
  #decide(asked: RefundDue): Decision<string> {
    const refund = this.#store.refund(asked.id);
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
        store: () => void this.#save({ ...refund, state: 'begun', operations, operationId }),
      },
    };
  }

  /** Reason why the finalized chain does not support a refund, or undefined. */
  async #objection(refund: RefundDue): Promise<string | undefined> {
    const transaction = await this.#p.transaction(refund.signature);
    if (!transaction || transaction.failed) return 'the chain does not show this payment';
    const credit = lamportsChange(transaction, this.#p.treasuryAddress) ?? 0n;
    if (this.owedOf(refund.signature) > credit) return 'the recorded refund is larger than the payment';
    if (payerOf(transaction, this.#p.treasuryAddress) !== refund.payer)
      return 'the chain shows a different payer';
    return undefined;
  }

  /** Pays one refund and describes the result. */
  async #pay(refund: RefundDue): Promise<string> {
    if (refund.payer === null) return 'several accounts paid: send it by hand';
    if (this.#p.heldPayers.has(refund.payer))
      return "an exchange's wallet paid: ask the customer and send it by hand";
    let why: string | undefined;
    try {
      why = await this.#objection(refund);
    } catch (error) {
      why = `the chain cannot be read (${failureReason(error)})`;
    }
    if (why !== undefined) return `not paid: ${why}`;
    const id = refundId(refund.id, refund.operations + 1);
    const begun = await beginOperation(this.#tools, 'refund', id, () => this.#decide(refund));
    if (begun.type === 'refused') return notPaid(begun.why, this.#tools.now());
    if (begun.type === 'declined') return begun.declined;
    await this.#tools.drive(id);
    return 'on its way';
  }

  /** Pays a refund that is due, and describes the state of any other. */
  async #progressOf(refund: RefundDue): Promise<string> {
    if (refund.state === 'due') return this.#pay(refund);
    const reason = reasonText(this.#tools.journal.get(refund.operationId)?.reason ?? null);
    return reason ? `on its way (${reason})` : 'on its way';
  }
}

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
