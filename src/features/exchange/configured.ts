import { AppError } from '../../core/errors.ts';
import { rateLimit } from '../../http/rate-limit.ts';
import type { ChangeNow } from '../../providers/changenow.ts';

/** One count for the four routes: each may cost a call to the provider. */
export const exchangeLimit = rateLimit('exchange');

/** The dependencies once the provider has its key. @throws AppError NOT_CONFIGURED */
export function configured<D extends { changenow: ChangeNow | undefined }>(deps: D) {
  const { changenow } = deps;
  if (changenow) return { ...deps, changenow };
  throw new AppError('NOT_CONFIGURED', 'The exchange is not configured here.', {
    details: { variables: ['CHANGENOW_API_KEY'] },
  });
}
