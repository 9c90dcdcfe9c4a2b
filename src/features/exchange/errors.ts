import type { ErrorTable } from '../../core/errors.ts';

export const EXCHANGE_ERRORS = {
  EXCHANGE_CURRENCY_UNKNOWN: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning:
      "The provider does not have this currency; details.candidates lists the ticker's codes by network.",
  },
  EXCHANGE_PAIR_INACTIVE: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: 'The provider does not exchange this pair right now.',
  },
  EXCHANGE_AMOUNT_OUT_OF_RANGE: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: "The amount is outside the provider's range; details has minAmount and maxAmount.",
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
      'The provider may have created an exchange, but its pay-in address never arrived. No money moved; pay nothing. The ' +
      'exchange expires unpaid. It is not retried with this Idempotency-Key: create again with a new one.',
  },
} as const satisfies ErrorTable;
