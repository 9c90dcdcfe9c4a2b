import type { ErrorTable } from '../../core/errors.ts';

export const ANALYTICS_ERRORS = {
  ANALYTICS_WRITE_FAILED: {
    status: 500,
    action: 'retry_later',
    retryable: true,
    meaning: 'The page-view log cannot be written; the view was not counted.',
  },
  ANALYTICS_READ_FAILED: {
    status: 500,
    action: 'retry_later',
    retryable: true,
    meaning: 'The page-view counters cannot be read.',
  },
} as const satisfies ErrorTable;
