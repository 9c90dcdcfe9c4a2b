import { AppError } from '../../core/errors.ts';
import type { CustodianApi, RequestView } from '../../custody/api.ts';
import type { TokenStore } from './token-store.ts';

export type GetInvoiceDeps = {
  readonly tokens: Pick<TokenStore, 'invoice'>;
  readonly custody: Pick<CustodianApi, 'findRequest'>;
};

/**
 * The state of an invoice now. While it is open, the custodian's record is newer than D1's. If one of the two is
 * unavailable, the other one is used.
 * @throws AppError NOT_FOUND; CUSTODIAN_UNAVAILABLE when it does not answer and D1 has no such invoice
 */
export async function getInvoice({ tokens, custody }: GetInvoiceDeps, id: string): Promise<RequestView> {
  const mirrored = await tokens.invoice(id).catch(() => undefined);
  // A completed invoice never changes again.
  if (mirrored?.status === 'completed') return mirrored;
  const known = await custody.findRequest(id).catch((error: unknown) => {
    if (mirrored) return null;
    throw error;
  });
  const request = known ?? mirrored;
  if (request?.kind !== 'token') throw new AppError('NOT_FOUND', 'There is no invoice with this id.');
  return request;
}
