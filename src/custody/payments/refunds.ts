/**
 * Refunds. One is recorded when a payment buys nothing, and paid only on the operator's command. It goes to
 * the payer and repays the payment, both as shown by the finalized chain, once and within the day's limit.
 * @module
 */
import { lamportsChange, MEMO_TRANSFER_FEE } from '../../chain/solana/transaction.ts';
import { lamports } from '../../core/amount.ts';
import { failureReason } from '../../core/errors.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { OpsAnswer } from '../api.ts';
import { beginOperation, type Decision, type NotBegun, spendingRefusal } from '../kernel/begin-operation.ts';
import type { HeldDebts, ModuleTools } from '../kernel/module.ts';
import type { Operation } from '../kernel/operation.ts';
import { mayBePaidBy, RELEASED } from '../kernel/operator-commands.ts';
import { held, reasonText } from '../kernel/reason.ts';
import { blockContradicted } from '../kernel/reconcile.ts';
import { payerOf } from './booking.ts';
import { DUST } from './payment-matching.ts';
import { encodeRefundPlan, refundId } from './refund-operation.ts';
import {
  mirrorRefund,
  mirrorRequest,
  type PaymentRequest,
  purposeOf,
  type RefundDue,
  type RequestStore,
} from './request-store.ts';
import type { TreasuryPayment } from './treasury-store.ts';

export type RefundPorts = {
  readonly treasuryAddress: string;
  /** Payers whose wallet belongs to an exchange and not to the customer. */
  readonly heldPayers: ReadonlySet<string>;
  /** A finalized transaction, or null while the node does not have it. */
  transaction(signature: string): Promise<ChainTransaction | null>;
};

const BATCH = 20;
/** Refunds of one request that one command processes. */
const LISTED = 100;

type Row = NonNullable<OpsAnswer['rows']>[number];

/** The rows of refunds: what is owed, and the end of the operations that pay it. */
function createRefundRows({ journal, storage, retries, now, log }: ModuleTools, store: RequestStore) {
  const operationOf = ({ operationId }: RefundDue): Operation | undefined =>
    operationId === null ? undefined : journal.get(operationId);

  /** Stores a refund and queues the D1 update with its request. Call inside a transaction. */
  function save(refund: RefundDue): RefundDue {
    const changed = { ...refund, changes: refund.changes + 1 };
    store.putRefund(changed);
    mirrorRefund(journal, changed, now());
    const request = store.get(refund.requestId);
    if (request) mirrorRequest(journal, store, request, now());
    return changed;
  }

  const owedOf = (signature: string): bigint =>
    store.refundsOfPayment(signature).reduce((sum, refund) => sum + BigInt(refund.lamports), 0n);

  /** Records the part of a payment that is owed back, unless it is dust. Call inside a transaction. */
  function owe(
    request: PaymentRequest,
    payment: Pick<TreasuryPayment, 'signature' | 'payer'>,
    amount: bigint,
    reason: RefundDue['reason'],
  ): void {
    if (amount <= DUST) return;
    const { signature, payer } = payment;
    const earlier = store.refundsOfPayment(signature);
    // One transaction refunds everything owed of one payment, unless a part is already under way.
    const open = earlier.find(({ state, operations }) => state === 'due' && operations === 0);
    const fresh: RefundDue = {
      id: earlier.length === 0 ? signature : `${signature}.${earlier.length + 1}`,
      signature,
      requestId: request.id,
      purpose: purposeOf(request),
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
    const refund = open ?? fresh;
    save({ ...refund, reason, lamports: (BigInt(refund.lamports) + amount).toString() });
    log({ level: 'alarm', event: 'refund_due', request: request.id, lamports: amount.toString(), reason });
  }

  /** Books the end of a refund's operation. */
  function settle(refund: RefundDue, operation: Operation): void {
    if (operation.state !== 'done' && operation.state !== 'failed') return;
    storage.transaction(() => {
      const stored = store.refund(refund.id);
      if (stored?.state !== 'begun' || stored.operationId !== operation.id) return;
      if (operation.state === 'failed') {
        save({ ...stored, state: 'due' });
        log({
          level: 'alarm',
          event: 'refund_failed',
          operation: operation.id,
          reason: reasonText(operation.reason),
        });
        return;
      }
      const refundSignature = operation.signing?.signature ?? null;
      const paidAt = operation.landing?.blockTime ? operation.landing.blockTime * 1_000 : now();
      save({ ...stored, state: 'paid', refundSignature, paidAt });
    });
  }

  const ended = retries.rows({ name: 'refund_ended', read: store.endedRefunds, idOf: ({ id }) => id });

  const settleEnded = (): void =>
    ended.run(BATCH, (refund) => {
      const operation = operationOf(refund);
      if (operation) settle(refund, operation);
    });

  return { save, owedOf, owe, operationOf, settleEnded, nextAt: ended.nextAt };
}

/** Refunds that a lost journal may have paid. */
function createHeldRefunds(
  tools: Pick<ModuleTools, 'journal' | 'now'>,
  store: RequestStore,
  { save, operationOf }: Pick<ReturnType<typeof createRefundRows>, 'save' | 'operationOf'>,
) {
  const { journal, now } = tools;
  return {
    hold(): void {
      for (const refund of [...store.refundsIn('due', -1), ...store.refundsIn('begun', -1)]) {
        const paying = refund.state === 'begun' ? [refund.operationId] : [];
        blockContradicted(tools, (number) => refundId(refund.id, number), refund.operations, paying);
        const operation = operationOf(refund);
        const isPaying = refund.state === 'begun' && operation !== undefined && operation.state !== 'failed';
        if (!isPaying) save({ ...refund, state: 'held' });
      }
    },

    list: () =>
      store.refundsIn('held', -1).map((refund) => ({
        id: heldId(refund),
        kind: 'refund',
        state: 'held',
        reason: reasonText(held('reconciled')),
        lamports: refund.lamports,
        createdAt: new Date(refund.createdAt).toISOString(),
      })),

    release(id, as) {
      const refund = store.refundsIn('held', -1).find((each) => heldId(each) === id);
      if (!refund) return undefined;
      const by = journal.blockedBy(refundId(refund.id, 1));
      if (as === 'owed' && by !== undefined) return mayBePaidBy(by);
      save(as === 'owed' ? { ...refund, state: 'due' } : { ...refund, state: 'paid', paidAt: now() });
      return RELEASED[as];
    },
  } satisfies HeldDebts & Record<string, unknown>;
}

const heldId = ({ id }: RefundDue): string => `refund:${id}`;

export type Refunds = ReturnType<typeof createRefunds>;

export function createRefunds(tools: ModuleTools, store: RequestStore, p: RefundPorts) {
  const { now } = tools;
  const booked = createRefundRows(tools, store);
  const { save, owedOf, operationOf, settleEnded } = booked;

  /** The intent to pay a refund, or why it is not paid. */
  function decide(asked: RefundDue): Decision<string> {
    const refund = store.refund(asked.id);
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
        plan: encodeRefundPlan({ refund: refund.id, payment, payer }),
        store: () => void save({ ...refund, state: 'begun', operations, operationId }),
      },
    };
  }

  /** Reason why the finalized chain does not support a refund, or undefined. */
  async function objection(refund: RefundDue): Promise<string | undefined> {
    const transaction = await p.transaction(refund.signature);
    if (!transaction || transaction.failed) return 'the chain does not show this payment';
    const credit = lamportsChange(transaction, p.treasuryAddress) ?? 0n;
    if (owedOf(refund.signature) > credit) return 'the recorded refund is larger than the payment';
    if (payerOf(transaction, p.treasuryAddress) !== refund.payer) return 'the chain shows a different payer';
    return undefined;
  }

  /** Pays one refund and describes the result. */
  async function pay(refund: RefundDue): Promise<string> {
    if (refund.payer === null) return 'several accounts paid: send it by hand';
    if (p.heldPayers.has(refund.payer))
      return "an exchange's wallet paid: ask the customer and send it by hand";
    let why: string | undefined;
    try {
      why = await objection(refund);
    } catch (error) {
      why = `the chain cannot be read (${failureReason(error)})`;
    }
    if (why !== undefined) return `not paid: ${why}`;
    const id = refundId(refund.id, refund.operations + 1);
    const begun = await beginOperation(tools, 'refund', id, () => decide(refund));
    if (begun.type === 'refused') return notPaid(begun.why, now());
    if (begun.type === 'declined') return begun.declined;
    await tools.drive(id);
    settleEnded();
    return 'on its way';
  }

  /** Pays a refund that is due, and describes the state of any other. */
  async function progressOf(refund: RefundDue): Promise<string> {
    if (refund.state === 'due') return pay(refund);
    if (refund.state === 'held')
      return `not paid: held; if an explorer shows no payment, retry ${heldId(refund)}`;
    const reason = reasonText(operationOf(refund)?.reason ?? null);
    return reason ? `on its way (${reason})` : 'on its way';
  }

  return {
    owe: booked.owe,
    owedOf,
    held: createHeldRefunds(tools, store, booked),
    settleEnded,

    /**
     * When the end of a refund's operation is next booked, Unix milliseconds; undefined when none is pending.
     */
    nextAt: booked.nextAt,

    /** Pays the refunds of a request or of one payment. */
    async refund(id: string): Promise<OpsAnswer> {
      const found = [...store.refundsOf(id, LISTED), ...store.refundsOfPayment(id)].map((row) => row.id);
      if (found.length === 0) return { ok: false, message: 'No refund was ever owed for this.' };
      const rows: Row[] = [];
      let ok = true;
      for (const name of found) {
        // Another call may have paid this refund while the previous one was processed.
        const refund = store.refund(name);
        if (!refund) continue;
        const outcome = await progressOf(refund);
        const after = store.refund(refund.id) ?? refund;
        ok &&= after.state !== 'due' && after.state !== 'held';
        rows.push({
          payment: after.signature,
          reason: after.reason,
          lamports: after.lamports,
          payer: after.payer,
          outcome: after.state === 'paid' ? 'paid' : outcome,
          operation: after.operationId,
          refund: after.refundSignature ?? operationOf(after)?.signing?.signature ?? null,
        });
      }
      const message = ok
        ? 'All owed refunds are paid or on the way.'
        : 'Some refunds are not paid; see the rows.';
      return { ok, message, rows };
    },
  };
}

function notPaid(why: NotBegun, now: number): string {
  switch (why.code) {
    case 'STOPPED':
      return `not paid: signing is stopped (${why.reason})`;
    case 'UNREADABLE':
      return `not paid: the chain cannot be read (${why.reason})`;
    case 'BLOCKED':
      return `not paid: ${mayBePaidBy(why.by).message}`;
    default:
      return `not paid: ${spendingRefusal(why, now).message}`;
  }
}
