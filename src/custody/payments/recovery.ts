/**
 * Restores requests, payments, tokens and refunds from D1 after the journal was lost or rolled back. The
 * treasury walk finds payments that D1 never received. A booked payment is never booked again.
 * @module
 */
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { Journal } from '../kernel/journal.ts';
import { eachRecord } from '../kernel/outbox.ts';
import type { Mirror, Storage } from '../kernel/ports.ts';
import type { Recognized } from '../kernel/reconcile.ts';
import { DUST } from './payment-matching.ts';
import type { TokenPort } from './payment-requests.ts';
import { refundOfMemo } from './refund-operation.ts';
import {
  decodeRefund,
  type PaymentPart,
  type PaymentRequest,
  purposeOf,
  type RequestStore,
} from './request-store.ts';
import type { TreasuryStore } from './treasury-store.ts';

export type RequestRecoveryPorts = {
  readonly mirror: Pick<Mirror, 'recordsAfter'>;
  readonly journal: Journal;
  readonly storage: Storage;
  readonly store: RequestStore;
  readonly payments: TreasuryStore;
  readonly tokens: Pick<TokenPort, 'restore'>;
  readonly now: () => number;
};

const isOlder = (own: { readonly changes?: number } | undefined, changes: number | undefined): boolean =>
  own === undefined || (own.changes ?? 0) < (changes ?? 0);

/**
 * Restores rows that D1 has in a newer state. Returns the number of changed rows. @throws when D1 cannot be
 * read
 */
export async function restoreRequests(p: RequestRecoveryPorts): Promise<number> {
  const { mirror, journal, storage, store, now } = p;
  let restored = 0;
  const put = (write: () => void): void => {
    storage.transaction(write);
    restored++;
  };
  for (const table of ['invoices', 'listings'] as const) {
    await eachRecord(mirror, table, (text) => {
      // The record of a listing that came with its token has no request.
      const { row } = JSON.parse(text) as { row?: PaymentRequest };
      if (row && isOlder(store.get(row.id), row.changes)) put(() => restoreRequest(p, row));
    });
  }
  restored += await p.tokens.restore(mirror);
  await eachRecord(mirror, 'refunds', (text) => {
    const refund = decodeRefund(text);
    if (!isOlder(store.refund(refund.id), refund.changes)) return;
    put(() => {
      store.putRefund(refund);
      journal.consumeOnce(`payment:${refund.signature}`, refund.purpose, now());
    });
  });
  return restored;
}

/** Restores a request and the payments that it counts, so that none of them is booked again. */
function restoreRequest({ store, journal, payments, now }: RequestRecoveryPorts, row: PaymentRequest) {
  store.put(row);
  const purpose = purposeOf(row);
  for (const part of row.parts ?? []) {
    journal.consumeOnce(`payment:${part.signature}`, purpose, now());
    const { signature, payer, blockTime } = part;
    const amounts = { slot: BigInt(part.slot), lamports: BigInt(part.lamports) };
    payments.record({ signature, payer, blockTime, ...amounts }, purpose);
  }
}

/**
 * D1 may have received a request's row without the refunds recorded with it. The owed amounts are derived
 * from the request again.
 */
export function repairRequests(
  store: RequestStore,
  storage: Storage,
  refunds: {
    owe(request: PaymentRequest, payment: PaymentPart, amount: bigint, reason: 'overpaid'): void;
    oweAll(request: PaymentRequest, reason: 'underpaid' | 'failed'): void;
    owedOf(signature: string): bigint;
  },
): void {
  for (const request of store.inState('expired', -1)) {
    const reason = request.paymentSignature === null ? 'underpaid' : 'failed';
    storage.transaction(() => refunds.oweAll(request, reason));
  }
  for (const request of [...store.inState('paid', -1), ...store.inState('completed', -1)]) {
    const last = request.parts.find(({ signature }) => signature === request.paymentSignature);
    const excess = BigInt(request.received) - BigInt(request.fee);
    if (!last || excess <= DUST || refunds.owedOf(last.signature) > 0n) continue;
    storage.transaction(() => refunds.owe(request, last, excess, 'overpaid'));
  }
}

/** Recognizes a lost reserve transaction from requests and refunds. */
export const recognizeRequests =
  (store: RequestStore) =>
  (transaction: ChainTransaction, memo: string | undefined): Recognized | undefined => {
    const refund = refundOfMemo(memo);
    if (refund !== undefined && memo !== undefined) return { id: memo, kind: 'refund', plan: { refund } };
    const request = store.byMint(transaction.accounts);
    return request && { id: `token:${request.id}`, kind: 'token', plan: { invoiceId: request.id } };
  };
