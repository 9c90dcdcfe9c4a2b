/**
 * JSON-RPC batches, which only one version of the protocol has.
 * @module
 * @see https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
 */
export const BATCH_VERSION = '2025-03-26';
/** JSON-RPC 2.0. */
export const INVALID_REQUEST = -32_600;
/** Each member is a call, so an unlimited batch would evade the call limit. */
const MAX_BATCH = 10;

/** Why a batch is refused, if it is. @param version of the protocol */
export function batchRefusal(batch: readonly unknown[], version: string): string | undefined {
  if (version !== BATCH_VERSION) return `Protocol ${version} has no batches: send one message.`;
  return batch.length > MAX_BATCH ? `A batch has at most ${MAX_BATCH} messages.` : undefined;
}
