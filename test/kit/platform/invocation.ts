/**
 * The limits of an invocation. Its calls no longer settle once its client has left, or 30 seconds after its response.
 * It may make at most 1,000 calls.
 * @see https://developers.cloudflare.com/workers/platform/limits/
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Connections, onConnections } from './connections.ts';

export const WAIT_UNTIL_MS = 30_000;
export const MAX_SUBREQUESTS = 1_000;

type Invocation = {
  subrequests: number;
  /** Calls do not settle from this time on; Unix milliseconds. */
  endsAt: number;
};

const invocations = new AsyncLocalStorage<Invocation>();

const isOver = (invocation: Invocation): boolean => Date.now() >= invocation.endsAt;

/** @param signal aborted when the client leaves */
export function invoke<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const invocation: Invocation = { subrequests: 0, endsAt: Number.POSITIVE_INFINITY };
  signal?.addEventListener('abort', () => {
    invocation.endsAt = Date.now();
  });
  const ended = (): void => {
    invocation.endsAt = Math.min(invocation.endsAt, Date.now() + WAIT_UNTIL_MS);
  };
  return onConnections(new Connections(), () => invocations.run(invocation, work)).finally(ended);
}

/**
 * A call of the current invocation to another service.
 * @throws Error above the number of subrequests
 */
export async function subrequest<T>(call: () => Promise<T>): Promise<T> {
  const invocation = invocations.getStore();
  if (invocation === undefined) return call();
  invocation.subrequests += 1;
  if (invocation.subrequests > MAX_SUBREQUESTS) throw new Error('Too many subrequests.');
  if (isOver(invocation)) return never();
  try {
    const result = await call();
    return isOver(invocation) ? never() : result;
  } catch (error) {
    if (isOver(invocation)) return never();
    throw error;
  }
}

const never = <T>(): Promise<T> => new Promise(() => undefined);
