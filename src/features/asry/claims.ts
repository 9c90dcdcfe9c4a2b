/**
 * Creates a claim from a deposit, reads claims, and returns their public form.
 * @module
 */

import { canonicalSignature } from '../../chain/solana/address.ts';
import { AppError, refusalError } from '../../core/errors.ts';
import { olderThanRecords } from '../../core/older-records.ts';
import type { ClaimPayoutView, ClaimView, CustodianApi } from '../../custody/api.ts';
import type { AsryMirror } from './asry-store.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

const HOW_TO_GET: Readonly<Record<string, string>> = {
  rent_budget_spent:
    "Open the sender's associated ASRY token account. The reward is then sent within the hour, or at once if you repeat this call.",
  recipient_account_missing: "Open the sender's associated ASRY token account, then repeat this call.",
  recipient_account_closed:
    "The service already opened the sender's associated ASRY token account, and it was closed. Open it again, then repeat this call.",
  recipient_account_foreign:
    "The sender's associated ASRY account has a different owner. The operator must check it.",
  reserve_short_of_asry: 'The reserve has too little ASRY. The reward is sent once the operator adds more.',
  reserve_short_of_sol:
    'The reserve has too little SOL for fees. The reward is sent once the operator adds more.',
};
const SENT_LATER = 'The reward is recorded and will be sent without another call.';

export const receiveOf = (claim: ClaimView) => ({
  depositTxSignature: claim.signature,
  slot: claim.slot.toString(),
  blockTime: claim.blockTime,
  creditedAtomic: claim.creditedAtoms.toString(),
  feeAtomic: claim.feeAtoms.toString(),
  netAtomic: claim.netAtoms.toString(),
  epoch: claim.epoch,
});

/** The reward of one payout, or without a payout, the reward that could be paid. */
export function rewardOf(claim: ClaimView, payout: ClaimPayoutView | undefined, mint: string) {
  const status: ClaimPayoutView['status'] | 'skipped' = payout?.status ?? 'skipped';
  return {
    status,
    signature: payout?.signature ?? null,
    asryAtomic: (payout?.atoms ?? 0n).toString(),
    recipient: claim.sender,
    entitlementAtomic: claim.entitlementAtoms.toString(),
    remainingAtomic: claim.remainingAtoms.toString(),
    mint,
    reason: payout?.reason ?? null,
    how_to_get: status === 'owed' ? (HOW_TO_GET[payout?.reason ?? ''] ?? SENT_LATER) : null,
  };
}

const payoutOf = (payout: ClaimPayoutView) => ({
  part: payout.part,
  status: payout.status,
  signature: payout.signature,
  asryAtomic: payout.atoms.toString(),
  reason: payout.reason,
  created_at: iso(payout.createdAtMs),
  paid_at: payout.paidAtMs === null ? null : iso(payout.paidAtMs),
});

export const claimOf = (claim: ClaimView, payout: ClaimPayoutView | undefined, mint: string) => ({
  asset: claim.asset,
  senderPubkey: claim.sender,
  feeBps: claim.feeBps,
  feeAtomic: claim.feeAtoms.toString(),
  receive: receiveOf(claim),
  reward: rewardOf(claim, payout, mint),
});

export const recordOf = (claim: ClaimView, mint: string) => ({
  ...claimOf(claim, claim.payouts[claim.payouts.length - 1], mint),
  payouts: claim.payouts.map(payoutOf),
  claimed_at: claim.claimedAtMs === null ? null : iso(claim.claimedAtMs),
});

/**
 * Alpenglow finalizes a slot within a second, and nodes lag by seconds. A call right after the deposit waits this long
 * for both.
 */
export const FINALITY_WAIT_MS = 10_000;

export type GetClaimDeps = {
  readonly claims: Pick<AsryMirror, 'claim'>;
  readonly custody: Pick<CustodianApi, 'findClaim'>;
  /** How callers reach the operator. */
  readonly contact: string | undefined;
};

/**
 * The record of a claimed deposit; read from the custodian if D1 does not have it yet.
 * @throws AppError NOT_FOUND; OLDER_THAN_RECORDS for a claim that a lost journal left unpaid
 */
export async function getClaim(deps: GetClaimDeps, text: string): Promise<ClaimView> {
  const signature = canonicalSignature(text);
  const mirrored = signature ? await deps.claims.claim(signature).catch(() => undefined) : undefined;
  if (mirrored && mirrored.bornAt !== null && !isPaid(mirrored.claim))
    throw refusalError(olderThanRecords(mirrored.bornAt, deps.contact));
  const claim = mirrored?.claim ?? (signature && (await deps.custody.findClaim(signature)));
  if (!claim) throw new AppError('NOT_FOUND', 'No claim was made with this payment.');
  return claim;
}

/** True if the whole reward is paid: no part is owed or can still be claimed. */
const isPaid = ({ remainingAtoms, payouts }: ClaimView): boolean =>
  remainingAtoms === 0n && payouts.every(({ paidAtMs }) => paidAtMs !== null);
