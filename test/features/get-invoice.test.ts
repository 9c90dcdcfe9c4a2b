/** How often an isolate reads an invoice from D1 and the custodian, and which of the two it uses. */
import { expect, it } from 'vitest';
import type { RequestView } from '../../src/custody/api.ts';
import { type GetInvoiceDeps, getInvoice, getRecentInvoice } from '../../src/features/tokens/get-invoice.ts';
import { Cache } from '../../src/http/cached.ts';
import { viewOf } from './token-service.ts';

const OPEN = viewOf({ kind: 'token', subject: {}, baseFeeLamports: 9n, client: '' });
const COMPLETED: RequestView = { ...OPEN, status: 'completed', detail: 'completed' };

type Sources = {
  mirrored: RequestView | undefined | Promise<RequestView>;
  known: RequestView | null | Promise<RequestView>;
};

function reader(sources: Sources) {
  const time = { now: 0 };
  const asked = { database: 0, custodian: 0 };
  const deps: GetInvoiceDeps = {
    memory: new Cache({ now: () => time.now, defer: () => undefined }),
    tokens: {
      invoice: async () => {
        asked.database += 1;
        return sources.mirrored;
      },
    },
    custody: {
      findRequest: async () => {
        asked.custodian += 1;
        return sources.known;
      },
    },
  };
  const invoices = {
    current: (id: string) => getInvoice(deps, id),
    recent: (id: string) => getRecentInvoice(deps, id, () => getInvoice(deps, id)),
  };
  return { time, asked, sources, invoices };
}

it('reads an open invoice once per second, for any number of callers', async () => {
  const { time, asked, invoices } = reader({ mirrored: undefined, known: OPEN });
  for (time.now = 0; time.now < 3_000; time.now += 100)
    await Promise.all([invoices.recent(OPEN.id), invoices.recent(OPEN.id)]);
  expect(asked).toEqual({ database: 3, custodian: 3 });
});

it('shows the refund of a completed invoice within a second', async () => {
  const { time, sources, invoices } = reader({ mirrored: COMPLETED, known: null });
  await invoices.recent(OPEN.id);
  const refund = { signature: 's', lamports: '1', payer: null, reason: 'double', refundSignature: null };
  sources.mirrored = { ...COMPLETED, refunds: [{ ...refund, status: 'due' }] };
  time.now = 1_000;
  expect((await invoices.recent(OPEN.id)).refunds).toHaveLength(1);
});

it('calls the custodian again when D1 no longer shows the invoice as completed', async () => {
  const { sources, invoices } = reader({ mirrored: COMPLETED, known: COMPLETED });
  await invoices.current(OPEN.id);
  sources.mirrored = undefined;
  expect(await invoices.current(OPEN.id)).toEqual(COMPLETED);
  sources.mirrored = OPEN;
  expect(await invoices.current(OPEN.id)).toEqual(COMPLETED);
});
