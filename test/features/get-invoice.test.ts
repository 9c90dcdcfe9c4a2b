/** Whether an invoice is read from D1 or from the custodian. */
import { expect, it } from 'vitest';
import type { RequestView } from '../../src/custody/api.ts';
import { type GetInvoiceDeps, getInvoice } from '../../src/features/tokens/get-invoice.ts';
import { viewOf } from './token-service.ts';

const OPEN = viewOf({ kind: 'token', subject: {}, baseFeeLamports: 9n, client: '' });
const COMPLETED: RequestView = { ...OPEN, status: 'completed', detail: 'completed' };

type Sources = {
  mirrored: RequestView | undefined | Promise<RequestView>;
  known: RequestView | null | Promise<RequestView>;
};

function reader(sources: Sources) {
  const deps: GetInvoiceDeps = {
    tokens: {
      invoice: async () => {
        const request = await sources.mirrored;
        return request && { request, bornAt: null };
      },
    },
    custody: { findRequest: async () => sources.known },
    contact: 'mailto:operator@sluice.example',
  };
  return { sources, current: (id: string) => getInvoice(deps, id) };
}

it('calls the custodian again when D1 no longer shows the invoice as completed', async () => {
  const { sources, current } = reader({ mirrored: COMPLETED, known: COMPLETED });
  await current(OPEN.id);
  sources.mirrored = undefined;
  expect(await current(OPEN.id)).toEqual(COMPLETED);
  sources.mirrored = OPEN;
  expect(await current(OPEN.id)).toEqual(COMPLETED);
});
