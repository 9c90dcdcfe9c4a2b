import createClient from 'openapi-fetch';
import type { components, paths } from '../generated/openapi-typescript/schema';
import { defined, type Order, type Outcome, refusalOf, SWAP_SOL, TOO_MUCH_SOL } from './outcome';

/** Compiles only if the codes are an enum that holds this one. */
const EXPECTED: components['schemas']['ErrorCode'] = 'INSUFFICIENT_BALANCE';

export async function callAll(baseUrl: string, order: Order): Promise<Outcome> {
  const api = createClient<paths>({ baseUrl });
  const min = await api.GET('/api/swap/min');
  const estimate = await api.GET('/api/swap/estimate', { params: { query: { amountSol: SWAP_SOL } } });
  const invoice = await api.POST('/api/invoices', { body: order });
  const search = await api.GET('/api/listings/search');
  const refused = await api.GET('/api/swap/estimate', {
    params: { query: { amountSol: TOO_MUCH_SOL } },
  });
  const problem = defined(refused.error, refused.data);
  if (problem.error_code !== EXPECTED) throw new Error(problem.error_code);
  return {
    minAmountSol: defined(min.data, min.error).minAmountSol,
    estimatedBtcSats: defined(estimate.data, estimate.error).estimatedBtcSats,
    creatable: defined(estimate.data, estimate.error).creatable,
    invoiceId: defined(invoice.data, invoice.error).invoice_id,
    found: defined(search.data, search.error).tokens.map(({ mint_address }) => mint_address),
    refusal: refusalOf(problem),
  };
}
