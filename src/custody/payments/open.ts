/**
 * Opens a payment request. Its fee differs from the fees of all requests that are open or were closed in the last two
 * hours.
 * @module
 */
import { encodeBase58 } from '../../chain/solana/address.ts';
import { lamports } from '../../core/amount.ts';
import { BUDGETS } from '../../core/call-limits.ts';
import { HOUR_MS, REQUEST_LIFE_MS } from '../../core/durations.ts';
import { type UpstreamFailure, upstreamFailure } from '../../core/errors.ts';
import { ownFee } from '../../core/own-fee.ts';
import type { OpenRequest, Refusal, RequestOpened } from '../api.ts';
import { onBalance, refused, upstreamRefusal } from '../kernel/begin-operation.ts';
import type { Balance } from '../kernel/spending-limits.ts';
import type { PaymentContext } from './context.ts';
import { requestView, saveRequest } from './request-records.ts';
import { costOf, type PaymentRequest } from './request-store.ts';

export async function openRequest(context: PaymentContext, asked: OpenRequest): Promise<RequestOpened> {
  // A payment could not be served, and after a theft of the key the treasury may belong to the thief.
  const stopped = await context.stopBeginning(asked.kind);
  if (stopped !== undefined) return refused(salesPaused(stopped));
  const { work } = context.products[asked.kind];
  // A request without work does not cost the reserve lamports.
  if (!work) return storeRequest(context, asked);
  const cost = await work.costOf(asked.subject).catch(upstreamFailure);
  if (typeof cost === 'object') return refused(upstreamRefusal(cost));
  const opened = await onBalance(context, (balance) => {
    const refusal = saleRefusal(context, asked, balance, cost);
    return refusal ? refused(refusal) : storeRequest(context, asked);
  });
  return 'result' in opened ? opened.result : refused(upstreamRefusal(opened));
}

export function storeRequest(context: PaymentContext, asked: OpenRequest): RequestOpened {
  const { products, requests, storage, randomBytes, now } = context;
  if (!requests.openBudget(now()).check(asked.client, now()).ok)
    return refused(tooManyOpen('Too many requests await payment. Pay one of them or let it expire first.'));
  const fee = ownFee(asked.baseFeeLamports, {
    randomBytes,
    isTaken: (amount) => requests.hasFee(amount, now() - FEE_KEPT_MS),
  });
  if (fee === undefined)
    return refused(tooManyOpen('No unique payment amount is available right now. Retry in a minute.'));
  const unavailable = products[asked.kind].refusal(asked.subject);
  if (unavailable) return refused(unavailable);
  const request = storage.transaction(() => saveRequest(context, newRequest(context, asked, fee)));
  return { type: 'opened', request: requestView(request, [], now()) };
}

function saleRefusal(
  { bounds, requests, journal, reserveAddress, now }: PaymentContext,
  { kind, subject }: OpenRequest,
  balance: Balance,
  cost: bigint,
): Refusal | undefined {
  // The API calculates the price from the rent that one node shows.
  if (cost !== costOf(subject)) return upstreamRefusal(RENT_DIFFERS);
  const sale = { kind, cost: lamports(cost), open: requests.openSales(kind, now()) };
  return bounds.saleRefusal(sale, balance, journal.counting(reserveAddress, now(), kind), now());
}

function newRequest(
  { products, randomId, randomBytes, treasuryAddress: payee, now }: PaymentContext,
  { kind, subject, client }: OpenRequest,
  fee: bigint,
): PaymentRequest {
  const id = randomId();
  const createdAt = now();
  return {
    id,
    kind,
    state: 'open',
    subject: products[kind].open({ id, subject }, createdAt),
    payee,
    fee: fee.toString(),
    reference: encodeBase58(randomBytes(32)),
    client,
    createdAt,
    expiresAt: createdAt + REQUEST_LIFE_MS,
    // Payments are accepted even after the shown expiry, because wallets and finality take time.
    closesAt: createdAt + BUDGETS.open_requests.windowMs,
    received: '0',
    parts: [],
    paymentSignature: null,
    reported: null,
    paidAt: null,
    completedAt: null,
    tokenId: null,
    creations: 1,
    reason: null,
  };
}

const salesPaused = (reason: string): Refusal => ({
  code: 'SALES_PAUSED',
  message: 'Sales are paused, because signing is stopped. Nothing was charged.',
  retryAfterSeconds: 300,
  details: { reason },
});

const RENT_DIFFERS: UpstreamFailure = { reason: 'rent_differs', upstream: 'solana-rpc' };

const tooManyOpen = (message: string): Refusal => ({
  code: 'TOO_MANY_OPEN_REQUESTS',
  message,
  retryAfterSeconds: 600,
  details: { limit: 'open_requests' },
});

/** A closed request's exact fee is not reused for this long, so a late payment cannot pay for another request. */
const FEE_KEPT_MS = 2 * HOUR_MS;
