import { isErrorFromAlias } from '@zodios/core';
import { createApiClient } from '../generated/openapi-zod-client/api';
import { type Order, type Outcome, refusalOf, SWAP_SOL, TOO_MUCH_SOL } from './outcome';

/** Validates each request and response with the schemas of the document. */
export async function callAll(baseUrl: string, order: Order): Promise<Outcome> {
  const client = createApiClient(baseUrl);
  const min = await client.getSwapMinimum();
  const estimate = await client.getSwapEstimate({ queries: { amountSol: SWAP_SOL } });
  const invoice = await client.createInvoice(order);
  const search = await client.searchTokens();
  const refused: unknown = await client.getSwapEstimate({ queries: { amountSol: TOO_MUCH_SOL } }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!isErrorFromAlias(client.api, 'getSwapEstimate', refused)) throw refused;
  const problem = refused.response.data;
  if (!problem) throw refused;
  return {
    minAmountSol: min.minAmountSol,
    estimatedBtcSats: estimate.estimatedBtcSats,
    creatable: estimate.creatable,
    invoiceId: invoice.invoice_id,
    found: search.tokens.map(({ mint_address }) => mint_address),
    refusal: refusalOf(problem),
  };
}
