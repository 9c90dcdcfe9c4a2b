import type { ErrorTable } from '../../core/errors.ts';

export const POOL_ERRORS = {
  DEX_NON_JSON: {
    status: 502,
    action: 'retry_later',
    retryable: true,
    meaning: 'The pool API returned something other than JSON; body_preview has its first 500 characters.',
  },
} as const satisfies ErrorTable;
