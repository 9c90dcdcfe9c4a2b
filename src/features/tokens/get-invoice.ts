/**
 * The current state of an invoice, from D1 and the custodian. Callers poll an open invoice, and one custodian serves
 * all of them, so an isolate reads an invoice at most once per second.
 * @module
 */
import { AppError } from '../../core/errors.ts';
import type { CustodianApi, RequestView } from '../../custody/api.ts';
import type { Cache } from '../../http/cached.ts';
import type { TokenStore } from './token-store.ts';

export type GetInvoiceDeps = {
  readonly tokens: Pick<TokenStore, 'invoice'>;
  readonly custody: Pick<CustodianApi, 'findRequest'>;
  /** This isolate's memory only. */
  readonly memory: Pick<Cache, 'read'>;
};

const ONE_SECOND = { freshMs: 1_000, revalidateMs: 0, staleMs: 0 };
/** Maximum completed invoices whose ids one isolate keeps. */
const MAX_COMPLETED = 1_000;

export type InvoiceReader = ReturnType<typeof createInvoiceReader>;

export function createInvoiceReader({ tokens, custody, memory }: GetInvoiceDeps) {
  /** Invoices that D1 has shown as completed. That state is final, so the custodian is not called for them. */
  const completed = new Set<string>();
  /** Part of the memory's keys: a read that began before a confirmation is not reused after it. */
  let confirmations = 0;

  function keepCompleted(id: string): void {
    completed.add(id);
    const [oldest] = completed;
    if (completed.size > MAX_COMPLETED && oldest !== undefined) completed.delete(oldest);
  }

  /**
   * While an invoice is open, the custodian's record is newer than D1's. If one of the two is unavailable, the
   * other one is used.
   * @throws AppError NOT_FOUND; CUSTODIAN_UNAVAILABLE when it does not answer and D1 has no such invoice
   */
  async function current(id: string): Promise<RequestView> {
    const early = completed.has(id) ? undefined : custody.findRequest(id);
    // It may fail before D1 has answered.
    early?.catch(() => undefined);
    const mirrored = await tokens.invoice(id).catch(() => undefined);
    if (mirrored?.status === 'completed') {
      keepCompleted(id);
      return mirrored;
    }
    const known = await (early ?? custody.findRequest(id)).catch((error: unknown) => {
      if (mirrored) return null;
      throw error;
    });
    const request = known ?? mirrored;
    if (request?.kind !== 'token') throw new AppError('NOT_FOUND', 'There is no invoice with this id.');
    return request;
  }

  return {
    current,

    /** The state at most a second ago, and never before the last confirmation in this isolate. @throws AppError */
    async recent(id: string): Promise<RequestView> {
      return (await memory.read(`invoice:${confirmations}:${id}`, ONE_SECOND, () => current(id))).value;
    },

    /** Call after each attempt to confirm a payment, because a refused one may have booked it. */
    noteConfirmation(): void {
      confirmations += 1;
    },
  };
}
