import {
  createInvoice,
  ErrorCode,
  getSwapEstimate,
  getSwapMinimum,
  searchTokens,
} from '../generated/orval/api';
import { type Order, type Outcome, refusalOf, SWAP_SOL, TOO_MUCH_SOL } from './outcome';

/** The client takes its base URL from the document. */
export async function callAll(_baseUrl: string, order: Order): Promise<Outcome> {
  const min = await getSwapMinimum();
  const estimate = await getSwapEstimate({ amountSol: SWAP_SOL });
  const invoice = await createInvoice(order);
  const search = await searchTokens();
  const refused = await getSwapEstimate({ amountSol: TOO_MUCH_SOL });
  for (const { status, data } of [min, estimate, invoice, search])
    if (status !== 200) throw new Error(JSON.stringify(data));
  if (min.status !== 200 || estimate.status !== 200) throw new Error('no swap');
  if (invoice.status !== 200 || search.status !== 200) throw new Error('no token');
  if (refused.status !== 400 || refused.data.error_code !== ErrorCode.INSUFFICIENT_BALANCE)
    throw new Error(JSON.stringify(refused.data));
  return {
    minAmountSol: min.data.minAmountSol,
    estimatedBtcSats: estimate.data.estimatedBtcSats,
    creatable: estimate.data.creatable,
    invoiceId: invoice.data.invoice_id,
    found: search.data.tokens.map(({ mint_address }) => mint_address),
    refusal: refusalOf(refused.data),
  };
}
