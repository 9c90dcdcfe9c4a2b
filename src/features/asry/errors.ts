import type { ErrorTable } from '../../core/errors.ts';

export const ASRY_ERRORS = {
  DEPOSIT_NOT_FOUND: {
    status: 400,
    action: 'check_id',
    retryable: true,
    meaning: 'No node has a transaction with this signature.',
  },
  DEPOSIT_NOT_FINAL: {
    status: 409,
    action: 'retry_later',
    retryable: true,
    meaning:
      'The deposit is not final on the chain yet. Nothing was consumed. Repeat after Retry-After seconds.',
  },
  DEPOSIT_FAILED: {
    status: 400,
    action: 'use_another_deposit',
    retryable: false,
    meaning: 'The transaction failed on the chain.',
  },
  DEPOSIT_NO_CREDIT: {
    status: 400,
    action: 'use_another_deposit',
    retryable: false,
    meaning: "The transaction does not credit the treasury's own USDC or USDT account.",
  },
  DEPOSIT_WRONG_ASSET: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: 'The deposit is in the other asset; details.creditedAsset names it.',
  },
  DEPOSIT_AMOUNT_MISMATCH: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning:
      'The treasury received a different amount than expected; details has both amounts. Nothing was consumed.',
  },
  DEPOSIT_TOO_OLD: {
    status: 400,
    action: 'use_another_deposit',
    retryable: false,
    meaning: 'The deposit is older than the programme or the maximum age.',
  },
  DEPOSIT_TOO_SMALL: {
    status: 400,
    action: 'use_another_deposit',
    retryable: false,
    meaning: 'The deposit is too small to earn anything.',
  },
  DEPOSIT_NOT_ELIGIBLE: {
    status: 400,
    action: 'use_another_deposit',
    retryable: false,
    meaning: 'A transfer by the service itself, or tokens without a sender; details.reason tells them apart.',
  },
  DEPOSIT_HELD: {
    status: 409,
    action: 'contact_operator',
    retryable: false,
    meaning: 'The chain does not show clearly who sent the deposit; details.reason has the reason.',
  },
  DEPOSIT_BOTH_ASSETS: {
    status: 409,
    action: 'contact_operator',
    retryable: false,
    meaning: 'One transaction credits both assets, so the operator must check it.',
  },
  DEPOSIT_ALREADY_USED: {
    status: 409,
    action: 'use_another_deposit',
    retryable: false,
    meaning: 'The transaction has already paid for something else.',
  },
  CLAIM_IN_PROGRESS: {
    status: 409,
    action: 'poll_status',
    retryable: true,
    meaning: 'The whole deposit is claimed and a reward is being paid; details.claim is its record.',
  },
  ALREADY_CLAIMED: {
    status: 409,
    action: 'none',
    retryable: false,
    meaning: 'Nothing is left to claim; details.claim shows the payouts, their times and transactions.',
  },
  REWARD_USD_UNAVAILABLE: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: 'ASRY has no price in this epoch. Omit rewardUsd to get the whole reward.',
  },
  CLAIMS_PAUSED: {
    status: 503,
    action: 'retry_later',
    retryable: true,
    meaning: 'Claims are paused by the operator or by a safety check. Nothing was consumed.',
  },
} as const satisfies ErrorTable;
