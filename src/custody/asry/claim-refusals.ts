/**
 * Reasons for which a claim is refused.
 * @module
 */
import type { DepositVerdict } from '../../chain/solana/deposit.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { Refusal } from '../api.ts';
import { RECEIVE_FEE_BPS } from './epochs.ts';

const REFUSALS = {
  DEPOSIT_NOT_FINAL: {
    message: 'The chain has not finalized this payment yet. Nothing was consumed; repeat the call.',
    retryAfterSeconds: 5,
  },
  DEPOSIT_NOT_FOUND: { message: 'No node has this transaction.', retryAfterSeconds: 5 },
  DEPOSIT_BOTH_ASSETS: {
    message: 'One transaction credits both USDC and USDT. The operator must check it.',
  },
  DEPOSIT_HELD: {
    message:
      'The chain does not show clearly who earns this reward. The operator must check it. Nothing was consumed.',
  },
  DEPOSIT_TOO_OLD: {
    message: 'This payment is from before the first reward epoch, or older than the maximum age.',
  },
  DEPOSIT_ALREADY_USED: { message: 'This transaction has already paid for something else.' },
  REWARD_USD_UNAVAILABLE: {
    message: 'ASRY has no price in this epoch, so a value in dollars cannot be requested.',
  },
  CLAIMS_PAUSED: { message: 'Claims are paused. Nothing was consumed.', retryAfterSeconds: 300 },
  CLAIM_IN_PROGRESS: {
    message: 'This payment is claimed and its reward is being paid.',
    retryAfterSeconds: 5,
  },
  ALREADY_CLAIMED: {
    message: 'Nothing is left to claim from this payment. details.claim shows its payouts.',
  },
  IDEMPOTENCY_KEY_REUSED: { message: 'This Idempotency-Key was already used with a different request.' },
} as const satisfies Partial<Record<ErrorCode, Omit<Refusal, 'code'>>>;

export const refusal = (code: keyof typeof REFUSALS, details?: Refusal['details']): Refusal => ({
  code,
  ...REFUSALS[code],
  ...(details ? { details } : {}),
});

const WHY_REFUSED = {
  transaction_failed: ['DEPOSIT_FAILED', 'This transaction failed on the chain; nothing was transferred.'],
  no_credit: [
    'DEPOSIT_NO_CREDIT',
    "This transaction credits neither of the treasury's USDC and USDT accounts.",
  ],
  own_movement: ['DEPOSIT_NOT_ELIGIBLE', 'This is a transfer by the reserve itself, not a payment to it.'],
  no_sender: ['DEPOSIT_NOT_ELIGIBLE', 'These tokens were minted to the treasury; they have no sender.'],
} as const;

export function verdictRefusal(verdict: Exclude<DepositVerdict, { type: 'deposit' }>): Refusal {
  const { reason } = verdict;
  switch (verdict.type) {
    case 'refused': {
      const [code, message] = WHY_REFUSED[verdict.reason];
      return { code, message, details: { reason } };
    }
    case 'held':
      return refusal(reason === 'both_assets' ? 'DEPOSIT_BOTH_ASSETS' : 'DEPOSIT_HELD', { reason });
    case 'unverifiable':
      return {
        code: 'UPSTREAM_FAILED',
        message: 'No node returns enough data about this transaction.',
        details: { upstream: 'solana-rpc', reason },
      };
  }
}

export const tooSmall = (credited: bigint, minimum: bigint): Refusal => ({
  code: 'DEPOSIT_TOO_SMALL',
  message: `A payment of ${credited} atoms earns nothing. The minimum is ${minimum} atoms.`,
  details: {
    creditedAtomic: credited.toString(),
    minimumAtomic: minimum.toString(),
    feeBps: RECEIVE_FEE_BPS,
  },
});

export const unreadable = (reason: string): Refusal => ({
  code: 'UPSTREAM_FAILED',
  message: 'The chain cannot be read right now. Nothing was consumed.',
  retryAfterSeconds: 5,
  details: { upstream: 'solana-rpc', reason },
});
