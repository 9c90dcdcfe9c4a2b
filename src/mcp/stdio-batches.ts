/**
 * Batches over stdio, which the SDK's transport cannot read: their messages are passed on one by one, and each gets its own
 * response.
 * @module
 */
import { Transform } from 'node:stream';
import { tryJson } from '../core/json.ts';
import { batchRefusal, INVALID_REQUEST } from './batches.ts';

/** @param write writes to the client */
export function withoutBatches(write: (line: string) => void): Transform {
  const decoder = new TextDecoder();
  let rest = '';
  /** That of the handshake. Later protocols have none. */
  let version = '2026-07-28';

  function messagesOf(line: string): readonly string[] {
    if (line.includes('"initialize"')) version = versionOf(tryJson(line)) ?? version;
    const batch = line.trimStart().startsWith('[') ? tryJson(line) : undefined;
    if (!Array.isArray(batch)) return [line];
    const message = batchRefusal(batch, version);
    if (message === undefined) return batch.map((member) => JSON.stringify(member));
    write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: INVALID_REQUEST, message } })}\n`);
    return [];
  }

  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      done(
        null,
        lines
          .flatMap(messagesOf)
          .map((line) => `${line}\n`)
          .join(''),
      );
    },
  });
}

function versionOf(message: unknown): string | undefined {
  const version: unknown = Object(Object(message).params).protocolVersion;
  return typeof version === 'string' ? version : undefined;
}
