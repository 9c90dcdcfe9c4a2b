/**
 * A creation over the API that happens at most once. Every call carries an Idempotency-Key: the caller's, an unresolved
 * one of the same call, or a new one.
 * @module
 */
import type { ApiRequest } from './api-client.ts';
import { type Failure, ToolFailure } from './failure.ts';
import type { ToolContext } from './tools/tool.ts';

export type Creation = {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The key that the caller passed. */
  readonly idempotencyKey: string | undefined;
};

/**
 * The body of the answer, with its key and whether it is a stored answer.
 * @throws ToolFailure, with the key when the outcome is not known
 */
export async function createOnce(
  { path, body, idempotencyKey: given }: Creation,
  { api, keys, client, signal }: ToolContext,
): Promise<Readonly<Record<string, unknown>>> {
  const call = `${client}\n${path}\n${JSON.stringify(body)}`;
  const key = given ?? keys.take(call);
  const request: ApiRequest = { method: 'POST', path, body, idempotencyKey: key, ...(signal && { signal }) };
  try {
    const answer = await api.call(request);
    // An answer without an id, or one that the caller no longer waits for, leaves the outcome unknown to the caller.
    if (typeof answer.body.id === 'string' && !signal?.aborted) keys.release(call, key);
    return { ...answer.body, idempotencyKey: key, replayed: answer.replayed };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    const { failure } = error;
    if (!isOutcomeUnknown(failure)) {
      keys.release(call, key);
      throw error;
    }
    throw new ToolFailure({
      ...failure,
      idempotencyKey: key,
      next_step: `${failure.next_step} When you call again, pass idempotencyKey "${key}": with it the creation happens at most once.`,
    });
  }
}

/** An unexpected failure may follow the signature of a transaction. */
const isOutcomeUnknown = ({ retryable, action }: Failure): boolean =>
  (retryable && action !== 'retry_with_new_key') || action === 'report_request_id';
