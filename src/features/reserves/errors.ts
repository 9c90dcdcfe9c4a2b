import type { ErrorTable } from '../../core/errors.ts';

export const ABSR_ERRORS = {
  PRICE_DIVERGENT: {
    status: 503,
    action: 'retry_later',
    retryable: true,
    meaning: 'The price venues differ by more than the limit, so no price is returned.',
  },
} as const satisfies ErrorTable;
