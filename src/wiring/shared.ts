import { isTimeOver } from '../core/due-time.ts';

/** All calls within `forMs` of a read share its result, even if it is a failure. */
export function shared<T>(read: () => Promise<T>, forMs: number, now: () => number): () => Promise<T> {
  let latest: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    if (!latest || isTimeOver(latest.at + forMs, forMs, now())) latest = { at: now(), value: read() };
    return latest.value;
  };
}
