import type { ErrorTable } from '../../core/errors.ts';

export const NOSTR_ERRORS = {
  RELAYS_FAILED: {
    status: 500,
    action: 'retry_later',
    retryable: true,
    meaning: 'No relay answered and no earlier answer is kept; relay_status says how each failed.',
  },
} as const satisfies ErrorTable;
