import type { Lamports } from '../../core/amount.ts';
import { refusalError } from '../../core/errors.ts';
import type { CustodianApi, RequestKey, SwapAnswer, SwapPreview } from '../../custody/api.ts';

export type CreateSwapDeps = { readonly custody: Pick<CustodianApi, 'createSwap' | 'previewSwap'> };

type Request = { readonly amount: Lamports; readonly client: string };

/**
 * Spends reserve SOL. The custodian decides and signs; a repeat with the same key returns the first answer.
 */
export const createSwap = (
  d: CreateSwapDeps,
  { amount, client, key }: Request & { readonly key: RequestKey | undefined },
): Promise<SwapAnswer> => d.custody.createSwap({ amountLamports: amount, client, ...(key ? { key } : {}) });

/** Performs every step except the reservation and the signature. @throws AppError with the refusal's code */
export async function previewSwap(
  d: CreateSwapDeps,
  request: Request,
): Promise<Extract<SwapPreview, { type: 'possible' }>> {
  const preview = await d.custody.previewSwap({ amountLamports: request.amount, client: request.client });
  if (preview.type === 'possible') return preview;
  throw refusalError(preview.refusal);
}
