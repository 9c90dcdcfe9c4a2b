import type { Lamports } from '../../core/amount.ts';
import { AppError } from '../../core/errors.ts';
import type { CustodianApi, Refusal, RequestKey, SwapAnswer, SwapPreview } from '../../custody/api.ts';

export type CreateSwapDeps = { readonly custody: Pick<CustodianApi, 'createSwap' | 'previewSwap'> };

type Request = { readonly amount: Lamports; readonly client: string };

/** Spends reserve SOL. The custodian decides and signs; a repeat with the same key reads the first answer. */
export const createSwap = (
  d: CreateSwapDeps,
  { amount, client, key }: Request & { readonly key: RequestKey | undefined },
): Promise<SwapAnswer> => d.custody.createSwap({ amountLamports: amount, client, ...(key ? { key } : {}) });

/** Everything but the reservation and the signature. @throws AppError with the refusal's code */
export async function previewSwap(
  d: CreateSwapDeps,
  request: Request,
): Promise<Extract<SwapPreview, { type: 'possible' }>> {
  const preview = await d.custody.previewSwap({ amountLamports: request.amount, client: request.client });
  if (preview.type === 'possible') return preview;
  throw refusalError(preview.refusal);
}

/** A refusal with its code, as it is thrown. */
export const refusalError = ({ code, message, retryAfterSeconds, details }: Refusal): AppError =>
  new AppError(code, message, {
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(details ? { details } : {}),
  });
