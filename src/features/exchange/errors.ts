import type { ErrorTable } from '../../core/errors.ts';

export const EXCHANGE_ERRORS = {
  EXCHANGE_CURRENCY_UNKNOWN: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning:
      'The provider has no such currency; details.candidates lists the codes of that ticker by network.',
  },
  EXCHANGE_PAIR_INACTIVE: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: 'The provider does not exchange this pair now.',
  },
  EXCHANGE_AMOUNT_OUT_OF_RANGE: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: 'The amount is below or above what the provider takes; details has minAmount and maxAmount.',
  },
  EXCHANGE_ADDRESS_INVALID: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: 'The provider refuses payoutAddress or refundAddress for its currency.',
  },
  EXCHANGE_REFUSED: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: 'The provider refused the exchange for the reason in details.provider_code; none was created.',
  },
  EXCHANGE_OUTCOME_UNKNOWN: {
    status: 502,
    action: 'retry_with_new_key',
    retryable: false,
    meaning:
      'The provider may have created an exchange whose pay-in address never arrived. No money moved; pay nothing. It ' +
      'lapses unpaid. It is not tried again under this Idempotency-Key: create again with a new one.',
  },
} as const satisfies ErrorTable;
