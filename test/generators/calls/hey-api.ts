import {
  createInvoice,
  type ErrorCode,
  getSwapEstimate,
  getSwapMinimum,
  searchTokens,
} from '../generated/hey-api';
import { defined, type Order, type Outcome, refusalOf, SWAP_SOL, TOO_MUCH_SOL } from './outcome';

/** Compiles only if the codes are an enum that holds this one. */
const EXPECTED: ErrorCode = 'INSUFFICIENT_BALANCE';

/** The client takes its base URL from the document. */
export async function callAll(_baseUrl: string, order: Order): Promise<Outcome> {
  const min = await getSwapMinimum();
  const estimate = await getSwapEstimate({ query: { amountSol: SWAP_SOL } });
  const invoice = await createInvoice({ body: order });
  const search = await searchTokens();
  const refused = await getSwapEstimate({ query: { amountSol: TOO_MUCH_SOL } });
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
