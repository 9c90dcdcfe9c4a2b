/**
 * Ends requests that nobody has paid in time.
 * @module
 */
import type { PaymentContext } from './context.ts';
import { oweParts } from './owed.ts';
import { saveRequest } from './request-records.ts';
import type { PaymentRequest, TreasuryRead } from './request-store.ts';

/** Name in the agenda of requests whose expiry has failed. */
export const EXPIRY = 'expiry';

/**
 * Ends requests whose treasury was read up to their end, and those that closed long ago; partial payments are owed back.
 */
export function expireRequests(context: PaymentContext, read: TreasuryRead, limit: number): void {
  const { agenda, requests, storage } = context;
  for (const id of agenda.due(EXPIRY, limit))
    if (requests.get(id)?.state !== 'open') agenda.plan(EXPIRY, id, null);
  const isWaiting = ({ id }: PaymentRequest) =>
    agenda.dueAt(EXPIRY, id) !== undefined && !agenda.isDue(EXPIRY, id);
  const closed = requests.closed(read, limit + agenda.count(EXPIRY));
  for (const request of closed.filter((each) => !isWaiting(each)).slice(0, limit)) {
    try {
      storage.transaction(() => {
        oweParts(context, saveRequest(context, { ...request, state: 'expired' }), 'underpaid');
        agenda.plan(EXPIRY, request.id, null);
      });
    } catch (error) {
      agenda.failed(EXPIRY, request.id, { error: String(error).slice(0, 200) });
    }
  }
}
