import { AppError, refusalError } from '../../core/errors.ts';
import { olderThanRecords } from '../../core/older-records.ts';
import type { CustodianApi, RequestView } from '../../custody/api.ts';
import type { TokenStore } from './token-store.ts';

export type GetInvoiceDeps = {
  readonly tokens: Pick<TokenStore, 'invoice'>;
  readonly custody: Pick<CustodianApi, 'findRequest'>;
  /** How callers reach the operator. */
  readonly contact: string | undefined;
};

/** `stale` if D1's record is shown because the custodian, whose record may be newer, does not respond. */
export type InvoiceState = { readonly request: RequestView; readonly stale: boolean };

/**
 * The state of an invoice now. While it is open, the custodian's record is newer than D1's. If one of them is
 * unavailable, the other is used.
 * @throws AppError NOT_FOUND; OLDER_THAN_RECORDS for an invoice that a lost journal left open; CUSTODIAN_UNAVAILABLE if
 * the custodian does not respond and D1 lacks the invoice
 */
export async function getInvoice(
  { tokens, custody, contact }: GetInvoiceDeps,
  id: string,
): Promise<InvoiceState> {
  const mirrored = await tokens.invoice(id).catch(() => undefined);
  // A completed invoice never changes again.
  if (mirrored?.request.status === 'completed') return { request: mirrored.request, stale: false };
  if (mirrored && mirrored.bornAt !== null) throw refusalError(olderThanRecords(mirrored.bornAt, contact));
  let stale = false;
  const known = await custody.findRequest(id).catch((error: unknown) => {
    if (!mirrored) throw error;
    stale = true;
    return null;
  });
  const request = known ?? mirrored?.request;
  if (request?.kind !== 'token') throw new AppError('NOT_FOUND', 'There is no invoice with this id.');
  return { request, stale };
}
