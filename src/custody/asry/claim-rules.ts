/**
 * The rules of claims: what a deposit earns at this point of the curve, which part is paid now, and why a claim is
 * refused. This module neither reads nor writes claims.
 * @module
 */
import type { DepositVerdict } from '../../chain/solana/deposit.ts';
import { DAY_MS } from '../../core/durations.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { ClaimRequest, Refusal } from '../api.ts';
import type { Claim, Payout } from './asry-store.ts';
import { type Epoch, entitlementOf, RECEIVE_FEE_BPS, receiveFee } from './epochs.ts';

/** A deposit as shown by the chain. The type is the same before and after the claim. */
export type Deposit = Pick<Claim, 'signature' | 'asset' | 'sender' | 'slot' | 'blockTime' | 'credited'>;

/** A bridge returns an undelivered payment within this time after the swap. */
const RETURN_MS = DAY_MS;
/** A block's time has whole seconds and may be earlier than the time of our clock at the swap. */
const BLOCK_TIME_LAG_MS = 120_000;

/**
 * Reason why a deposit may be the reserve's own money; undefined for a deposit of a third party. If the treasury is the
 * address of a key that signs swaps, tokens that a bridge returns look like a deposit.
 *
 * @param given.isOwnSender whether one of our swaps paid the sender, or the sender's address is or was the reserve's
 * @param given.unsettledSince start of each swap of the treasury's address whose proceeds are missing, in Unix
 * milliseconds
 */
export function ownMoney(
  deposit: Pick<Deposit, 'blockTime'>,
  given: {
    readonly isOwnSender: boolean;
    readonly unsettledSince: readonly number[];
  },
): 'own_movement' | 'swap_unsettled' | undefined {
  if (given.isOwnSender) return 'own_movement';
  const paidAt = deposit.blockTime * 1_000;
  const mayReturn = given.unsettledSince.some(
    (since) => paidAt >= since - BLOCK_TIME_LAG_MS && paidAt <= since + RETURN_MS,
  );
  return mayReturn ? 'swap_unsettled' : undefined;
}

/** A claim that is not stored yet, and its epoch after the claim. */
export type Opened = { readonly type: 'opened'; readonly claim: Claim; readonly epoch: Epoch };

/** The claim that a deposit creates at the epoch's current position on its curve. @param given.now Unix milliseconds */
export function openClaim(
  deposit: Deposit,
  epoch: Epoch,
  given: { readonly seq: number; readonly now: number },
): Opened {
  const fee = receiveFee(deposit.credited);
  const net = deposit.credited - fee;
  const after = epoch.deposits + net;
  const entitlement = entitlementOf(epoch, epoch.deposits, net);
  const claim: Claim = {
    ...deposit,
    seq: given.seq,
    feeBps: RECEIVE_FEE_BPS,
    fee,
    net,
    epoch: epoch.number,
    before: epoch.deposits,
    after,
    entitlement,
    left: entitlement,
    operations: 0,
    claimedAt: given.now,
    changes: 0,
  };
  const advanced = { ...epoch, deposits: after, claims: epoch.claims + 1, changes: epoch.changes + 1 };
  return { type: 'opened', claim, epoch: advanced };
}

/** The next part of a claim, owed until its payout begins. */
export const newPayout = (
  { signature }: Claim,
  given: Pick<Payout, 'part' | 'atoms'> & { readonly key: ClaimRequest['key']; readonly now: number },
): Payout => ({
  signature,
  part: given.part,
  atoms: given.atoms,
  state: 'owed',
  reason: 'unread',
  operationId: null,
  rent: 0n,
  rentAt: null,
  tries: 0,
  dueAt: given.now,
  keyHash: given.key?.keyHash ?? null,
  bodyHash: given.key?.bodyHash ?? null,
  createdAt: given.now,
  paidAt: null,
});

/** Idempotency keys expire after a week. */
export const KEY_LIFE_MS = 7 * DAY_MS;

/** After this number of parts the next part is the whole rest, regardless of the requested amount. */
const MAX_PARTIAL_PAYOUTS = 3;

/** A part is at least this share of the whole, in percent. */
const LEAST_PERCENT = 1n;

/**
 * The part of a claim that one call pays. Any caller may claim for any deposit, so no request may waste a
 * reward. A reward is paid in a few parts and never lost; a third party can delay it three times at most.
 * @param entitlement reward atoms of the whole claim, at least 1
 * @param left        part of it that is neither paid nor promised, at least 1
 * @param parts       payouts made or promised before
 * @param microUsd    requested value in millionths of a dollar; null for the whole remainder
 * @param price       price of one ASRY in trillionths of a dollar; null without a price
 * @param decimals    decimals of ASRY
 * @returns undefined if the request names a value in dollars, but the epoch has no price
 */
export function payoutPart(given: {
  readonly entitlement: bigint;
  readonly left: bigint;
  readonly parts: number;
  readonly microUsd: bigint | null;
  readonly price: bigint | null;
  readonly decimals: number;
}): bigint | undefined {
  const { entitlement, left, microUsd, price } = given;
  if (microUsd === null || given.parts >= MAX_PARTIAL_PAYOUTS) return left;
  if (price === null) return undefined;
  const bought = (microUsd * 10n ** BigInt(given.decimals + 6)) / price;
  const least = (entitlement * LEAST_PERCENT + 99n) / 100n;
  const wanted = bought > least ? bought : least;
  return wanted < left ? wanted : left;
}

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
  DEPOSIT_TOO_OLD: { message: 'This payment is older than the programme or the maximum age.' },
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

/** The refusal for each verdict that is not a deposit. */
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

/** The refusal of a request whose asset or amount differs from the deposit's. */
export function mismatch(
  { asset, expectedAtoms: expected }: Pick<ClaimRequest, 'asset' | 'expectedAtoms'>,
  deposit: Pick<Deposit, 'asset' | 'credited'>,
): Refusal | undefined {
  if (asset !== deposit.asset)
    return {
      code: 'DEPOSIT_WRONG_ASSET',
      message: `This payment is in ${deposit.asset}, not in ${asset}.`,
      details: { asset, creditedAsset: deposit.asset },
    };
  if (expected === undefined || expected === deposit.credited) return undefined;
  return {
    code: 'DEPOSIT_AMOUNT_MISMATCH',
    message: `Expected ${expected} atoms, but the treasury received ${deposit.credited}.`,
    details: { expectedAtomic: expected.toString(), creditedAtomic: deposit.credited.toString() },
  };
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
