/**
 * Decides claims without reading or writing. The result is what a deposit earns at this point of the curve and
 * which part is paid now, or a refusal.
 * @module
 */
import type { DepositVerdict } from '../../chain/solana/deposit.ts';
import { CALL_LIMITS } from '../../core/call-limits.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { ClaimRequest, Refusal } from '../api.ts';
import type { Journal } from '../kernel/journal.ts';
import type { Claim, Payout } from './asry-store.ts';
import { type Epoch, entitlementOf, RECEIVE_FEE_BPS, receiveFee } from './epochs.ts';
import { claimPurpose } from './payout-operation.ts';

/** A deposit as shown by the chain. The type is the same before and after the claim. */
export type Deposit = Pick<Claim, 'signature' | 'asset' | 'sender' | 'slot' | 'blockTime' | 'credited'>;

/** A bridge returns an undelivered payment within this time after the swap. */
const RETURN_MS = DAY_MS;
/** A block's time has whole seconds and may be behind the clock that dated the swap. */
const BLOCK_TIME_LAG_MS = 120_000;

/**
 * Reason why a deposit may be the reserve's own money; undefined for a deposit of a third party. If treasury
 * and reserve share an address, tokens that a bridge returns look like a deposit.
 *
 * @param p.isDepositAddress whether one of our swaps paid the sender
 * @param p.sharesAddress    whether treasury and reserve share an address
 * @param p.unsettledSince   start of each swap whose proceeds are missing, in Unix milliseconds
 */
export function ownMoney(
  deposit: Pick<Deposit, 'blockTime'>,
  p: {
    readonly isDepositAddress: boolean;
    readonly sharesAddress: boolean;
    readonly unsettledSince: readonly number[];
  },
): 'own_movement' | 'swap_unsettled' | undefined {
  if (p.isDepositAddress) return 'own_movement';
  const paidAt = deposit.blockTime * 1_000;
  const mayReturn = p.unsettledSince.some(
    (since) => paidAt >= since - BLOCK_TIME_LAG_MS && paidAt <= since + RETURN_MS,
  );
  return p.sharesAddress && mayReturn ? 'swap_unsettled' : undefined;
}

export type Refused = { readonly type: 'refused'; readonly refusal: Refusal };

const refused = (refusal: Refusal): Refused => ({ type: 'refused', refusal });

/** A claim that is not stored yet, and its epoch after the claim. */
export type Opened = { readonly type: 'opened'; readonly claim: Claim; readonly epoch: Epoch };

export type OpeningFacts = {
  /** The purpose that already consumed the payment, if any. */
  readonly usedFor: string | undefined;
  readonly own: ReturnType<typeof ownMoney>;
  /** The epoch that contains the deposit's block time. */
  readonly epoch: Epoch | undefined;
  /** Unix seconds. A deposit from before this time earns nothing. */
  readonly oldest: number;
  readonly minimumDeposit: bigint;
  readonly seq: number;
  /** Unix milliseconds. */
  readonly now: number;
};

/** The claim that an unclaimed deposit would create now. */
export function decideOpening(deposit: Deposit, p: OpeningFacts): Opened | Refused {
  const { signature, blockTime, credited } = deposit;
  const { epoch, usedFor, own } = p;
  if (usedFor !== undefined && usedFor !== claimPurpose(signature)) return refused(paymentUsed(usedFor));
  if (own === 'own_movement') return refused(verdictRefusal({ type: 'refused', reason: own }));
  if (own) return refused(claimsPaused(own));
  if (!epoch || blockTime < p.oldest) return refused(tooOld(blockTime));
  const fee = receiveFee(credited);
  const net = credited - fee;
  const entitlement = entitlementOf(epoch, epoch.deposits, net);
  if (credited < p.minimumDeposit || entitlement === 0n) return refused(tooSmall(credited, p.minimumDeposit));
  const after = epoch.deposits + net;
  const claim: Claim = {
    ...deposit,
    seq: p.seq,
    feeBps: RECEIVE_FEE_BPS,
    fee,
    net,
    epoch: epoch.number,
    before: epoch.deposits,
    after,
    entitlement,
    left: entitlement,
    operations: 0,
    claimedAt: p.now,
    changes: 0,
  };
  const advanced = { ...epoch, deposits: after, claims: epoch.claims + 1, changes: epoch.changes + 1 };
  return { type: 'opened', claim, epoch: advanced };
}

export type ClaimFacts = {
  /** Whether a payout exists for this request's key. */
  readonly isRepeat: boolean;
  /** The stored claim with its epoch, or the claim that the deposit would open. */
  readonly claim: { readonly type: 'known'; readonly claim: Claim; readonly epoch: Epoch } | Opened | Refused;
  /** Payouts of the claim so far. */
  readonly parts: number;
  readonly now: number;
};

export type ClaimDecision =
  | {
      readonly type: 'take';
      /** The claim after its next part was deducted. */
      readonly claim: Claim;
      readonly payout: Payout;
      /** The epoch to store; undefined unless the claim is new. */
      readonly opened: Epoch | undefined;
    }
  | Refused
  /** An earlier call with this key took a part after this call began: decide again. */
  | { readonly type: 'again' };

/** Decides which part of a claim a request receives. Stores nothing. */
export function decideClaim(
  request: Pick<ClaimRequest, 'rewardMicroUsd' | 'key'>,
  p: ClaimFacts,
): ClaimDecision {
  if (p.isRepeat) return { type: 'again' };
  if (p.claim.type === 'refused') return p.claim;
  const { claim, epoch } = p.claim;
  if (claim.left === 0n) return refused(alreadyClaimed());
  const part = payoutPart({
    entitlement: claim.entitlement,
    left: claim.left,
    parts: p.parts,
    microUsd: request.rewardMicroUsd ?? null,
    price: epoch.price,
    decimals: epoch.decimals,
  });
  if (!part.ok) return refused(noPrice());
  return {
    type: 'take',
    claim: { ...claim, left: claim.left - part.atoms },
    payout: newPayout(claim, { part: p.parts + 1, atoms: part.atoms, key: request.key, now: p.now }),
    opened: p.claim.type === 'opened' ? epoch : undefined,
  };
}

/** The next part of a claim, owed until its payout begins. */
const newPayout = (
  claim: Claim,
  p: {
    readonly part: number;
    readonly atoms: bigint;
    readonly key: ClaimRequest['key'];
    readonly now: number;
  },
): Payout => ({
  signature: claim.signature,
  part: p.part,
  atoms: p.atoms,
  state: 'owed',
  reason: 'unread',
  operationId: null,
  rent: 0n,
  rentAt: null,
  tries: 0,
  dueAt: p.now,
  keyHash: p.key?.keyHash ?? null,
  bodyHash: p.key?.bodyHash ?? null,
  createdAt: p.now,
  paidAt: null,
});

/** Idempotency keys expire after a week. */
export const KEY_LIFE_MS = 7 * DAY_MS;
const KEYS_PER_CLIENT_HOUR = CALL_LIMITS.keys_per_client_hour.quota;

/** Reason why the request's key cannot be used. */
export function keyRefusal(
  journal: Journal,
  { key, client }: ClaimRequest,
  now: number,
): Refusal | undefined {
  if (!key) return undefined;
  const calls = journal.calls('key', client, now - HOUR_MS);
  const oldest = calls[calls.length - KEYS_PER_CLIENT_HOUR];
  return oldest === undefined
    ? undefined
    : tooManyKeys(Math.max(Math.ceil((oldest + HOUR_MS - now) / 1_000), 1));
}

/** After this number of parts the next one is the whole remainder, regardless of the requested amount. */
const MAX_PARTIAL_PAYOUTS = 3;

/** A part is at least this share of the whole, in percent. */
const LEAST_PERCENT = 1n;

type PayoutPart =
  | { readonly ok: true; readonly atoms: bigint }
  /** The request names a value in dollars, but the epoch has no price. */
  | { readonly ok: false; readonly reason: 'no_price' };

/**
 * The part of a claim that one call pays. Any caller may claim for any deposit, so no request may waste a
 * reward. A reward is paid in a few parts and never lost; a third party can delay it three times at most.
 * @param entitlement reward atoms of the whole claim, at least 1
 * @param left        part of it that is neither paid nor promised, at least 1
 * @param parts       payouts made or promised before
 * @param microUsd    requested value in millionths of a dollar; null for the whole remainder
 * @param price       price of one ASRY in trillionths of a dollar; null without a price
 * @param decimals    decimals of ASRY
 */
function payoutPart(p: {
  readonly entitlement: bigint;
  readonly left: bigint;
  readonly parts: number;
  readonly microUsd: bigint | null;
  readonly price: bigint | null;
  readonly decimals: number;
}): PayoutPart {
  const { entitlement, left, microUsd, price } = p;
  if (microUsd === null || p.parts >= MAX_PARTIAL_PAYOUTS) return { ok: true, atoms: left };
  if (price === null) return { ok: false, reason: 'no_price' };
  const bought = (microUsd * 10n ** BigInt(p.decimals + 6)) / price;
  const least = (entitlement * LEAST_PERCENT + 99n) / 100n;
  const wanted = bought > least ? bought : least;
  return { ok: true, atoms: wanted < left ? wanted : left };
}

const refusal = (
  code: ErrorCode,
  message: string,
  more: Omit<Refusal, 'code' | 'message'> = {},
): Refusal => ({
  code,
  message,
  ...more,
});

export const notFinal = (): Refusal =>
  refusal(
    'DEPOSIT_NOT_FINAL',
    'The chain has not finalized this payment yet. Nothing was consumed; repeat the call.',
    {
      retryAfterSeconds: 5,
    },
  );

export const notFound = (): Refusal =>
  refusal('DEPOSIT_NOT_FOUND', 'No node has this transaction.', { retryAfterSeconds: 5 });

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
      return refusal(code, message, { details: { reason } });
    }
    case 'held':
      return reason === 'both_assets'
        ? refusal(
            'DEPOSIT_BOTH_ASSETS',
            'One transaction credits both USDC and USDT. The operator must check it.',
            {
              details: { reason },
            },
          )
        : depositHeld(reason);
    case 'unverifiable':
      return refusal('UPSTREAM_FAILED', 'No node returns enough data about this transaction.', {
        details: { upstream: 'solana-rpc', reason },
      });
  }
}

export const depositHeld = (reason: string): Refusal =>
  refusal(
    'DEPOSIT_HELD',
    'The chain does not show clearly who earns this reward. The operator must check it. Nothing was consumed.',
    { details: { reason } },
  );

export const wrongAsset = (asset: string, credited: string): Refusal =>
  refusal('DEPOSIT_WRONG_ASSET', `This payment is in ${credited}, not in ${asset}.`, {
    details: { asset, creditedAsset: credited },
  });

export const wrongAmount = (expected: bigint, credited: bigint): Refusal =>
  refusal('DEPOSIT_AMOUNT_MISMATCH', `Expected ${expected} atoms, but the treasury received ${credited}.`, {
    details: { expectedAtomic: expected.toString(), creditedAtomic: credited.toString() },
  });

export const tooOld = (blockTime: number): Refusal =>
  refusal('DEPOSIT_TOO_OLD', 'This payment is older than the programme or the maximum age.', {
    details: { blockTime },
  });

export const tooSmall = (credited: bigint, minimum: bigint): Refusal =>
  refusal(
    'DEPOSIT_TOO_SMALL',
    `A payment of ${credited} atoms earns nothing. The minimum is ${minimum} atoms.`,
    {
      details: {
        creditedAtomic: credited.toString(),
        minimumAtomic: minimum.toString(),
        feeBps: RECEIVE_FEE_BPS,
      },
    },
  );

export const paymentUsed = (purpose: string): Refusal =>
  refusal('DEPOSIT_ALREADY_USED', 'This transaction has already paid for something else.', {
    details: { purpose: purpose.split(':')[0] ?? '' },
  });

export const noPrice = (): Refusal =>
  refusal(
    'REWARD_USD_UNAVAILABLE',
    'ASRY has no price in this epoch, so a value in dollars cannot be requested.',
  );

export const claimsPaused = (reason: string): Refusal =>
  refusal('CLAIMS_PAUSED', 'Claims are paused. Nothing was consumed.', {
    retryAfterSeconds: 300,
    details: { reason },
  });

export const inProgress = (): Refusal =>
  refusal('CLAIM_IN_PROGRESS', 'This payment is claimed and its reward is being paid.', {
    retryAfterSeconds: 5,
  });

export const alreadyClaimed = (): Refusal =>
  refusal('ALREADY_CLAIMED', 'Nothing is left to claim from this payment. details.claim shows its payouts.');

export const unreadable = (reason: string): Refusal =>
  refusal('UPSTREAM_FAILED', 'The chain cannot be read right now. Nothing was consumed.', {
    retryAfterSeconds: 5,
    details: { upstream: 'solana-rpc', reason },
  });

export const keyReused = (): Refusal =>
  refusal('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was already used with a different request.');

export const tooManyKeys = (retryAfterSeconds: number): Refusal =>
  refusal('RATE_LIMITED', 'Too many new keys from this address. Wait and try again.', {
    retryAfterSeconds,
    details: { limit: 'keys_per_client_hour' },
  });
