import type { ErrorTable } from '../../core/errors.ts';

export const POOL_ERRORS = {
  DEX_NON_JSON: {
    status: 502,
    action: 'retry_later',
    retryable: true,
    meaning: 'The pool API answered something that is not JSON; body_preview has its first 500 characters.',
  },
} as const satisfies ErrorTable;
