import type { ErrorTable } from '../../core/errors.ts';

export const SWAP_ERRORS = {
  INSUFFICIENT_BALANCE: {
    status: 400,
    action: 'top_up_wallet',
    retryable: false,
    meaning: "The reserve's SOL balance, less floor, reservations and network fee, is below the amount.",
  },
  AMOUNT_TOO_SMALL: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: "Below minAmountSol of GET /api/swap/min, or below the bridge's minimum.",
  },
  AMOUNT_TOO_LARGE: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: "Above the cap of one swap (details.maxAmountLamports), or above the bridge's current maximum.",
  },
  SWAP_LIMIT_REACHED: {
    status: 503,
    action: 'retry_later',
    retryable: true,
    meaning:
      'A cap has no room: details.limit is hour, day, unsettled or cost_day. Retry after Retry-After seconds.',
  },
  SWAPS_PAUSED: {
    status: 503,
    action: 'retry_later',
    retryable: true,
    meaning: 'Swaps are paused by the operator or by a safety check; details.reason tells them apart.',
  },
  QUOTE_BUDGET_SPENT: {
    status: 503,
    action: 'retry_later',
    retryable: true,
    meaning: "The available share of the routing provider's quote quota is used up for now.",
  },
  QUOTE_REFUSED: {
    status: 502,
    action: 'retry_with_new_key',
    retryable: true,
    meaning:
      "The routing provider's quote did not pass our checks; details.reason names the check, or is no_route if there is no liquidity. Nothing was signed.",
  },
  PRICE_UNAVAILABLE: {
    status: 502,
    action: 'retry_with_new_key',
    retryable: true,
    meaning: 'No two independent price sources agree, so no quote can be checked. Nothing was signed.',
  },
} as const satisfies ErrorTable;
