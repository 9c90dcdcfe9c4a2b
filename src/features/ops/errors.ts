import type { ErrorTable } from '../../core/errors.ts';

export const OPS_PATH = '/api/ops';

export const OPS_ERRORS = {
  UNAUTHORIZED: {
    status: 401,
    action: 'fix_request',
    retryable: false,
    meaning: 'The operator route needs the operator secret as a bearer token.',
  },
} as const satisfies ErrorTable;
