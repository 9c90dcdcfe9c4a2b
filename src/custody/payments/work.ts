/**
 * What a payment bought, from its beginning to the end of the request. Each function runs in a storage transaction.
 * @module
 */
import { lamports } from '../../core/amount.ts';
import { queueOperation } from '../kernel/begin-operation.ts';
import type { Operation } from '../kernel/operation.ts';
import { isRotated, reasonText } from '../kernel/reason.ts';
import { workCost } from '../product.ts';
import type { PaymentContext } from './context.ts';
import { oweAll } from './owed.ts';
import { saveRequest } from './request-records.ts';
import { type PaymentRequest, workId } from './request-store.ts';

/**
 * Queues the operation of a paid request, and reserves its cost; no other operation can use it from then on. Without an
 * operation the request is complete.
 */
export function beginWork(context: PaymentContext, request: PaymentRequest): void {
  const { work } = context.products[request.kind];
  if (!work) {
    complete(context, request);
    return;
  }
  if (context.journal.get(workId(request))) return;
  queueOperation(context, request.kind, workId(request), {
    amount: lamports(0n),
    reserved: lamports(workCost(request.subject)),
    plan: work.planOf(request),
  });
}

/** Delivers what was bought, and ends the request. */
function complete(context: PaymentContext, request: PaymentRequest): void {
  const { products, now } = context;
  const tokenId = products[request.kind].deliver(request, now());
  saveRequest(context, { ...request, state: 'completed', completedAt: now(), tokenId, reason: null });
}

/** Ends the request of an operation that ends. */
export function endWork(context: PaymentContext, { id, state, plan, reason }: Operation): void {
  const request = context.requests.get(String(plan.invoiceId));
  if (request?.state !== 'paid' || workId(request) !== id) return;
  if (state === 'done') complete(context, request);
  else if (isRotated(reason))
    beginWork(context, saveRequest(context, { ...request, creations: request.creations + 1 }));
  else
    oweAll(
      context,
      saveRequest(context, { ...request, state: 'expired', reason: reasonText(reason) }),
      'failed',
    );
}
