/** How often an isolate reads an invoice from D1 and the custodian, and which of the two it waits for. */
import { expect, it, vi } from 'vitest';
import type { RequestView } from '../../src/custody/api.ts';
import { createInvoiceReader } from '../../src/features/tokens/get-invoice.ts';
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
  const invoices = createInvoiceReader({
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
  });
  return { time, asked, sources, invoices };
}
const never = new Promise<never>(() => undefined);

it('reads an open invoice once per second, for any number of callers', async () => {
  const { time, asked, invoices } = reader({ mirrored: undefined, known: OPEN });
  for (time.now = 0; time.now < 3_000; time.now += 100)
    await Promise.all([invoices.recent(OPEN.id), invoices.recent(OPEN.id)]);
  expect(asked).toEqual({ database: 3, custodian: 3 });
});

it('calls D1 and the custodian at the same time', () => {
  const { asked, invoices } = reader({ mirrored: never, known: never });
  void invoices.current(OPEN.id);
  expect(asked).toEqual({ database: 1, custodian: 1 });
});

it('does not wait for the custodian when D1 has the completed invoice', async () => {
  const { invoices } = reader({ mirrored: COMPLETED, known: never });
  expect(await invoices.current(OPEN.id)).toEqual(COMPLETED);
});

it('calls the custodian only once for a completed invoice', async () => {
  const { time, asked, invoices } = reader({ mirrored: COMPLETED, known: COMPLETED });
  for (time.now = 0; time.now < 5_000; time.now += 1_000) await invoices.recent(OPEN.id);
  expect(asked).toEqual({ database: 5, custodian: 1 });
});

it('reads a refund of a completed invoice within a second', async () => {
  const { time, sources, invoices } = reader({ mirrored: COMPLETED, known: null });
  await invoices.recent(OPEN.id);
  const refund = { signature: 's', lamports: '1', payer: null, reason: 'double', refundSignature: null };
  sources.mirrored = { ...COMPLETED, refunds: [{ ...refund, status: 'due' }] };
  time.now = 1_000;
  expect((await invoices.recent(OPEN.id)).refunds).toHaveLength(1);
});

it('calls the custodian again when D1 no longer has the completed invoice', async () => {
  const { sources, invoices } = reader({ mirrored: COMPLETED, known: COMPLETED });
  await invoices.current(OPEN.id);
  sources.mirrored = undefined;
  expect(await invoices.current(OPEN.id)).toEqual(COMPLETED);
  sources.mirrored = OPEN;
  expect(await invoices.current(OPEN.id)).toEqual(COMPLETED);
});

it('reuses no read that began before a confirmation', async () => {
  let answer = (_: RequestView): void => undefined;
  const slow = new Promise<RequestView>((resolve) => {
    answer = resolve;
  });
  const { asked, sources, invoices } = reader({ mirrored: undefined, known: slow });
  const before = invoices.recent(OPEN.id);
  await vi.waitFor(() => expect(asked.custodian).toBe(1));
  sources.known = COMPLETED;
  invoices.noteConfirmation();
  const after = invoices.recent(OPEN.id);
  answer(OPEN);
  expect([await before, await after]).toEqual([OPEN, COMPLETED]);
});

it('reports no failure of the custodian when D1 has the completed invoice', async () => {
  const { invoices } = reader({ mirrored: COMPLETED, known: Promise.reject(new Error('down')) });
  expect(await invoices.current(OPEN.id)).toEqual(COMPLETED);
});
