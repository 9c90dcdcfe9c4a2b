import type { ErrorTable } from '../../core/errors.ts';

export const NOSTR_ERRORS = {
  RELAYS_FAILED: {
    status: 500,
    action: 'retry_later',
    retryable: true,
    meaning: 'No relay answered and no earlier answer is stored; relay_status has each failure.',
  },
} as const satisfies ErrorTable;
