/**
 * Payments that matched nothing. They stay in the list of treasury payments; one becomes a refund only on the operator's command.
 * @module
 */
import type { Debt, OpsAnswer } from '../api.ts';
import { olderRefusal } from '../kernel/birth.ts';
import type { ModuleTools } from '../kernel/module.ts';
import { mayBeReturned } from './payment-matching.ts';
import type { PaymentPorts } from './payment-requests.ts';
import { DEBT_EXAMPLES, type Refunds } from './refunds.ts';
import { purposeOf } from './request-store.ts';
import type { TreasuryStore, UnmatchedPayment } from './treasury-store.ts';

type UnmatchedPorts = Pick<ModuleTools, 'journal' | 'storage' | 'now'> &
  Pick<PaymentPorts, 'treasuryAddress'> & {
    readonly payments: TreasuryStore;
    readonly refunds: Refunds;
    /** Whether an address is the reserve's, now or earlier. */
    readonly isReserve: (address: string) => boolean;
  };

/** Payments in one list for the operator. */
const SHOWN = 200;

export class Unmatched {
  readonly #ports: UnmatchedPorts;

  constructor(ports: UnmatchedPorts) {
    this.#ports = ports;
  }

  /** A payment that nothing has used, and that is neither our own nor may be a sum that a bridge returned. */
  find(signature: string): UnmatchedPayment | undefined {
    const { journal, payments, treasuryAddress, isReserve, now } = this.#ports;
    const payment = payments.unmatched(signature);
    if (!payment || journal.consumerOf(`payment:${signature}`) !== undefined) return undefined;
    if (payment.payer === treasuryAddress || isReserve(payment.payer)) return undefined;
    // The lost journal may have used or returned an older payment.
    if (olderRefusal(journal, payment, undefined)) return undefined;
    const swaps = journal.open().filter(({ signer }) => signer === treasuryAddress);
    return mayBeReturned(payment, swaps, now()) ? undefined : payment;
  }

  /** Makes a payment a debt to its payer. Nothing else can use the payment from then on. */
  owe(signature: string): void {
    const { journal, storage, payments, refunds, now } = this.#ports;
    storage.transaction(() => {
      const payment = this.find(signature);
      if (!payment) return;
      const cause = { kind: 'unmatched', id: signature } as const;
      journal.consumeOnce(`payment:${signature}`, purposeOf(cause), now());
      payments.record(payment, purposeOf(cause));
      refunds.owe(cause, payment, payment.lamports, 'unmatched');
    });
  }

  debt(): Debt {
    const unmatched = this.#newest();
    const oldest = unmatched.at(-1)?.blockTime ?? null;
    return {
      name: 'payment_unmatched',
      count: unmatched.length,
      atoms: unmatched.reduce((sum, { lamports }) => sum + lamports, 0n),
      oldestMs: oldest === null ? null : oldest * 1_000,
      awaitOperator: unmatched.length,
      examples: unmatched
        .slice(-DEBT_EXAMPLES)
        .toReversed()
        .map(({ signature }) => ({ id: signature, reason: 'no_request' })),
    };
  }

  list(): OpsAnswer {
    const rows = this.#newest().map(({ signature, blockTime, lamports, payer }) => {
      const since = blockTime === null ? null : new Date(blockTime * 1_000).toISOString();
      return { payment: signature, lamports: lamports.toString(), payer, since };
    });
    const message = `${rows.length} payments matched nothing. \`refund <payment>\` returns one to its payer.`;
    return { ok: true, message, rows };
  }

  /** Newest first. */
  #newest(): UnmatchedPayment[] {
    return this.#ports.payments.newestUnmatched(SHOWN).flatMap(({ signature }) => this.find(signature) ?? []);
  }
}
