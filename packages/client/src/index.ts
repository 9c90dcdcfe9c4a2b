/**
 * Client of the Sluice API: a typed method for each operation, generated and stored idempotency keys, waiting, and
 * failures as values. It has no dependency and runs wherever `fetch` does.
 * @module
 */
import {
  type Answer,
  type Call,
  type CallOptions,
  type ClientOptions,
  createCall,
  type Input,
  type OperationName,
  type Operations,
  type Result,
} from './call.ts';
import { memoryKeys } from './keys.ts';
import { type ExchangeStatus, type Invoice, OPERATIONS, type SwapStatus } from './operations.ts';
import {
  type IsOver,
  type ListName,
  pages,
  type ReadName,
  type UntilOptions,
  until,
  type Waited,
} from './reads.ts';

export type {
  Answer,
  Call,
  CallOptions,
  ClientOptions,
  Failure,
  Input,
  OperationName,
  Result,
} from './call.ts';
export { createCall } from './call.ts';
export type { KeyStore } from './keys.ts';
export { memoryKeys, newKey } from './keys.ts';
export type * from './operations.ts';
export type { ListName, ReadName, Unfinished, UntilOptions, Waited } from './reads.ts';

type Method<Name extends OperationName> =
  Record<string, never> extends Input<Name>
    ? (input?: Input<Name>, options?: CallOptions) => Promise<Result<Name>>
    : (input: Input<Name>, options?: CallOptions) => Promise<Result<Name>>;

export type EndedSwap = SwapStatus & { readonly status: 'finished' | 'failed' };

/** A method for each operation. */
type Methods = { readonly [Name in keyof Operations]: Method<Name> };

/** No method throws or rejects. */
export type Client = Methods & {
  /** Any operation by its name. */
  readonly call: Call;
  /** Waits until a swap is finished or failed. @param id from `createSwap` */
  waitForSwap(id: string, options?: UntilOptions<SwapStatus>): Promise<Waited<'getSwapStatus', EndedSwap>>;
  /** Waits until an invoice is completed, expired, or to be refunded. @param id `invoice_id` from `createInvoice` */
  waitForInvoice(id: string, options?: UntilOptions<Invoice>): Promise<Waited<'getInvoice'>>;
  /** Waits until an exchange ends. @param id from `createExchange` */
  waitForExchange(id: string, options?: UntilOptions<ExchangeStatus>): Promise<Waited<'getExchangeStatus'>>;
  /**
   * Repeats a read until `isOver`, by `Prefer: wait` where the service supports it, else by polling. Temporary
   * failures are retried.
   */
  until<Name extends ReadName, Over extends Answer<Name> = Answer<Name>>(
    name: Name,
    input: Input<Name>,
    isOver: IsOver<Name, Over>,
    options?: UntilOptions<Answer<Name>>,
  ): Promise<Waited<Name, Over>>;
  /** The pages of a list, for `for await`. Ends after the last page, or after a failure. */
  pages<Name extends ListName>(
    name: Name,
    input?: Input<Name>,
    options?: CallOptions,
  ): AsyncGenerator<Result<Name>, void, undefined>;
};

const isSwapOver = (swap: SwapStatus): swap is EndedSwap => swap.status !== 'waiting';
const isInvoiceOver = ({ detail }: Invoice): boolean =>
  ['completed', 'expired', 'refund_due'].includes(detail);
const isExchangeOver = ({ status }: ExchangeStatus): boolean => !['waiting', 'pending'].includes(status);

export function createClient(options: ClientOptions): Client {
  const call = createCall({ ...options, keys: options.keys ?? memoryKeys() });
  const wait: Client['until'] = async (name, input, isOver, limits = {}) => {
    try {
      return await until(call, name, input, isOver, limits);
    } catch (cause) {
      return { ok: false, failure: { kind: 'invalid', cause }, headers: null };
    }
  };
  const methods = Object.fromEntries(
    Object.keys(OPERATIONS).map((name) => [
      name,
      (input: never, given?: CallOptions) => call(name as OperationName, input ?? {}, given),
    ]),
  ) as Methods;
  return {
    ...methods,
    call,
    until: wait,
    waitForSwap: (id, limits) => wait('getSwapStatus', { id }, isSwapOver, limits),
    waitForInvoice: (id, limits) => wait('getInvoice', { id }, isInvoiceOver, limits),
    waitForExchange: (id, limits) => wait('getExchangeStatus', { id }, isExchangeOver, limits),
    pages: (name, input = {}, given) => pages(call, name, input, given),
  };
}
