import type { Lamports } from '../../core/amount.ts';
import { AppError } from '../../core/errors.ts';
import type { CustodianApi, Refusal, RequestKey, SwapAnswer, SwapPreview } from '../../custody/api.ts';

export type CreateSwapDeps = { readonly custody: Pick<CustodianApi, 'createSwap' | 'previewSwap'> };

type Request = { readonly amount: Lamports; readonly client: string };

/**
 * Spends reserve SOL. The custodian decides and signs; a repeat with the same key reads the first answer.
 * @throws AppError with the refusal's code
 */
export async function createSwap(
  d: CreateSwapDeps,
  request: Request & { readonly key: RequestKey | undefined },
): Promise<Extract<SwapAnswer, { type: 'created' }>> {
  const { amount, client, key } = request;
  const answer = await d.custody.createSwap({ amountLamports: amount, client, ...(key ? { key } : {}) });
  if (answer.type === 'created') return answer;
  throw refusalError(answer.refusal, answer.replayed);
}

/** Everything but the reservation and the signature. @throws AppError with the refusal's code */
export async function previewSwap(
  d: CreateSwapDeps,
  request: Request,
): Promise<Extract<SwapPreview, { type: 'possible' }>> {
  const preview = await d.custody.previewSwap({ amountLamports: request.amount, client: request.client });
  if (preview.type === 'possible') return preview;
  throw refusalError(preview.refusal, false);
}

/** Marks an error as the stored answer of an earlier call. */
export class ReplayedError extends AppError {
  readonly replayed = true;
}

function refusalError(refusal: Refusal, replayed: boolean): AppError {
  const { code, message, retryAfterSeconds, details } = refusal;
  const options = {
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(details ? { details } : {}),
  };
  return replayed ? new ReplayedError(code, message, options) : new AppError(code, message, options);
}
