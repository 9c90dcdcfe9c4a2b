import { notConfigured } from '../../core/errors.ts';
import { CALL_LIMITS } from '../../core/limits.ts';
import { rateLimit } from '../../http/rate-limit.ts';
import type { ChangeNow } from '../../providers/changenow.ts';

/** One count for all four routes: each may cost a call to the provider. */
export const exchangeLimit = rateLimit('exchange');
export const createLimit = rateLimit('exchange', { exchanges_per_hour: CALL_LIMITS.exchanges_per_hour });

/** The dependencies with a configured provider. @throws AppError NOT_CONFIGURED */
export function configured<D extends { changenow: ChangeNow | undefined }>(deps: D) {
  const { changenow } = deps;
  if (changenow) return { ...deps, changenow };
  throw notConfigured(['CHANGENOW_API_KEY']);
}
