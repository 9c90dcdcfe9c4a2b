/**
 * The one tool that spends. Every creation carries an Idempotency-Key; a key whose outcome never reached the caller is
 * used again for the same amount, so that a model that lost the answer and calls again moves nothing twice.
 * @module
 */
import type { Api } from './api-client.ts';
import { type Failure, ToolFailure } from './failure.ts';

type CreateInput = {
  /** Plain decimal in its one spelling. */
  readonly amountSol: string;
  readonly dry_run?: boolean | undefined;
  readonly idempotencyKey?: string | undefined;
};

type Context = { readonly api: Api; readonly signal?: AbortSignal };

/** Keys made here by amount, while nobody has been told what became of them. */
const unresolved = new Map<string, string>();

export async function createSwap(
  { amountSol, dry_run: dryRun, idempotencyKey: given }: CreateInput,
  { api, signal }: Context,
): Promise<Readonly<Record<string, unknown>>> {
  const request = { method: 'POST', path: '/api/swap/create', ...(signal && { signal }) } as const;
  if (dryRun) {
    const { body } = await api.call({ ...request, body: { amountSol, dry_run: true } });
    return { ...body, idempotencyKey: null, replayed: false };
  }
  const key = given ?? unresolved.get(amountSol) ?? `mcp-${crypto.randomUUID()}`;
  if (given === undefined) unresolved.set(amountSol, key);
  try {
    const { body, replayed } = await api.call({ ...request, body: { amountSol }, idempotencyKey: key });
    // An answer that names no swap, or that the caller gave up waiting for, is not one that it knows.
    if (typeof body.id === 'string' && !signal?.aborted) forget(amountSol, key);
    return { ...body, idempotencyKey: key, replayed };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    const { failure } = error;
    const again = leavesItOpen(failure);
    if (!again) forget(amountSol, key);
    throw new ToolFailure({
      ...failure,
      ...(again
        ? {
            idempotencyKey: key,
            next_step: `${failure.next_step} When you call again, pass idempotencyKey "${key}": with it the swap happens at most once.`,
          }
        : {}),
    });
  }
}

/** What nobody expected may have happened after the swap was signed. */
const leavesItOpen = ({ retryable, action }: Failure): boolean =>
  (retryable && action !== 'retry_with_new_key') || action === 'report_request_id';

function forget(amountSol: string, key: string): void {
  if (unresolved.get(amountSol) === key) unresolved.delete(amountSol);
}
