/**
 * The public views of claims and epochs, and the refusal texts of claims.
 * @module
 */
import type { DepositVerdict } from '../../chain/solana/deposit.ts';
import { DAY_MS } from '../../core/limits.ts';
import {
  type AsryEpochView,
  type ClaimPayoutView,
  type ClaimView,
  claimView,
  payoutView,
  type Refusal,
} from '../api.ts';
import type { Journal } from '../kernel/journal.ts';
import type { MirrorSource } from '../kernel/module.ts';
import { type AsryStore, type Claim, encodeRow, type Payout } from './asry-store.ts';
import { type Epoch, entitlementOf, nextUnitRate, RECEIVE_FEE_BPS, rewardsAt } from './epochs.ts';

const DOLLAR = 1_000_000n;

export const epochView = (epoch: Epoch): AsryEpochView => ({
  number: epoch.number,
  startsAt: epoch.startsAt,
  endsAt: epoch.endsAt,
  capAtoms: epoch.cap,
  depthAtoms: epoch.depth,
  depositsAtoms: epoch.deposits,
  entitledAtoms: rewardsAt(epoch, epoch.deposits),
  paidAtoms: epoch.paid,
  nextUnitMicroAtoms: nextUnitRate(epoch, epoch.deposits, 6),
  nextDollarAtoms: entitlementOf(epoch, epoch.deposits, DOLLAR),
  claims: epoch.claims,
  price: epoch.price,
  decimals: epoch.decimals,
});

const viewOfPayout = (payout: Payout, journal: Pick<Journal, 'get'>): ClaimPayoutView => {
  const operation = payout.operationId === null ? undefined : journal.get(payout.operationId);
  if (!operation) return payoutView(payout, undefined);
  const { signing, reason, state, updatedAt } = operation;
  const finishedAt = state === 'done' ? updatedAt : null;
  return payoutView(payout, { signature: signing?.signature ?? null, reason, finishedAt });
};

export function storedClaim(store: AsryStore, journal: Journal, signature: string): ClaimView | null {
  const claim = store.claim(signature);
  if (!claim) return null;
  return claimView(
    claim,
    store.payouts(signature).map((payout) => viewOfPayout(payout, journal)),
  );
}

/** Queues the D1 update of a claim and its payouts. */
export function mirrorClaim(journal: Journal, store: AsryStore, claim: Claim, now: number): void {
  journal.publish('asry_claims', claim.signature, claimColumns(store, claim), now);
}

const claimColumns = (store: AsryStore, claim: Claim) => ({
  epoch: claim.epoch,
  created_at: new Date(claim.claimedAt).toISOString(),
  journal: encodeRow({ claim, payouts: store.payouts(claim.signature) }),
});

export function mirrorEpoch(journal: Journal, epoch: Epoch, now: number): void {
  journal.publish('asry_epochs', String(epoch.number), epochColumns(epoch), now);
}

const epochColumns = (epoch: Epoch) => ({
  created_at: new Date(epoch.startsAt * 1_000).toISOString(),
  journal: encodeRow({ epoch, view: epochView(epoch) }),
});

/** Every claim and epoch, for a D1 that has lost some. */
export const mirroredClaims = (store: AsryStore): readonly MirrorSource[] => [
  {
    table: 'asry_claims',
    rowsAfter: (id, limit) =>
      store
        .claimsAfter(id, limit)
        .map((claim) => ({ id: claim.signature, columns: claimColumns(store, claim) })),
  },
  {
    table: 'asry_epochs',
    rowsAfter: (id, limit) =>
      store
        .epochsAfter(id, limit)
        .map((epoch) => ({ id: String(epoch.number), columns: epochColumns(epoch) })),
  },
];

const refusal = (code: string, message: string, more: Omit<Refusal, 'code' | 'message'> = {}): Refusal => ({
  code,
  message,
  ...more,
});

export const notFinal = (): Refusal =>
  refusal(
    'DEPOSIT_NOT_FINAL',
    'The chain has not finalized this deposit yet. Nothing was consumed; repeat the call.',
    {
      retryAfterSeconds: 5,
    },
  );

const WHY_REFUSED = {
  transaction_failed: ['DEPOSIT_FAILED', 'This transaction failed on the chain; nothing was transferred.'],
  no_credit: [
    'DEPOSIT_NO_CREDIT',
    "This transaction credits neither of the treasury's USDC and USDT accounts.",
  ],
  own_movement: ['DEPOSIT_NOT_ELIGIBLE', 'This is a transfer by the reserve itself, not a deposit.'],
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
        : held(reason);
    case 'unverifiable':
      return refusal('UPSTREAM_FAILED', 'No node returns enough data about this transaction.', {
        details: { reason },
      });
  }
}

export const held = (reason: string): Refusal =>
  refusal(
    'DEPOSIT_HELD',
    'The chain does not show clearly who earns this reward. The operator must check it. Nothing was consumed.',
    { details: { reason } },
  );

export const wrongAsset = (asset: string, credited: string): Refusal =>
  refusal('DEPOSIT_WRONG_ASSET', `This deposit is in ${credited}, not in ${asset}.`, {
    details: { asset, creditedAsset: credited },
  });

export const wrongAmount = (expected: bigint, credited: bigint): Refusal =>
  refusal('DEPOSIT_AMOUNT_MISMATCH', `Expected ${expected} atoms, but the treasury received ${credited}.`, {
    details: { expectedAtomic: expected.toString(), creditedAtomic: credited.toString() },
  });

export const tooOld = (blockTime: number): Refusal =>
  refusal('DEPOSIT_TOO_OLD', 'This deposit is older than the programme or the maximum age.', {
    details: { blockTime },
  });

export const tooSmall = (credited: bigint, minimum: bigint): Refusal =>
  refusal(
    'DEPOSIT_TOO_SMALL',
    `A deposit of ${credited} atoms earns nothing. The minimum is ${minimum} atoms.`,
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
  refusal('CLAIM_IN_PROGRESS', 'This deposit is claimed and its reward is being paid.', {
    retryAfterSeconds: 5,
  });

export const alreadyClaimed = (): Refusal =>
  refusal('ALREADY_CLAIMED', 'Nothing is left to claim from this deposit. details.claim shows its payouts.');

export const unreadable = (reason: string): Refusal =>
  refusal('UPSTREAM_FAILED', 'The chain cannot be read right now. Nothing was consumed.', {
    retryAfterSeconds: 5,
    details: { reason },
  });

export const keyReused = (): Refusal =>
  refusal('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was already used with a different request.');

export const tooManyKeys = (retryAfterSeconds: number): Refusal =>
  refusal('RATE_LIMITED', 'Too many new keys from this address. Wait and try again.', {
    retryAfterSeconds,
    details: { limit: 'keys_per_client_hour' },
  });

/** Idempotency keys expire after a week. */
export const KEY_LIFE_MS = 7 * DAY_MS;
