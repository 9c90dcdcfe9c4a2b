/**
 * JSON-RPC batches, which only one version of the protocol has.
 * @module
 * @see https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
 */
import { tryJson } from '../core/json.ts';

export const BATCH_VERSION = '2025-03-26';
/** Each member is a call, so an unlimited batch would evade the call limit. */
const MAX_BATCH = 10;

export const BATCH_REFUSED = {
  code: -32_600,
  message: `Send one message: only protocol ${BATCH_VERSION} has batches, of at most ${MAX_BATCH}.`,
};

/** @param version of the protocol that the client speaks */
export const isBatchAllowed = (batch: readonly unknown[], version: unknown): boolean =>
  version === BATCH_VERSION && batch.length <= MAX_BATCH;

/**
 * The messages of stdin, one per line. The SDK's transport cannot read a batch, so the messages of a batch are passed
 * on one by one, and each gets its own response. @param write writes to the client
 */
export async function* withoutBatches(
  lines: AsyncIterable<string>,
  write: (line: string) => void,
): AsyncGenerator<string> {
  let version: unknown;
  for await (const line of lines) {
    const message = tryJson(line);
    if (!Array.isArray(message)) {
      version = Object(Object(message).params).protocolVersion ?? version;
      yield `${line}\n`;
    } else if (isBatchAllowed(message, version)) {
      for (const member of message) yield `${JSON.stringify(member)}\n`;
    } else write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: BATCH_REFUSED })}\n`);
  }
}
