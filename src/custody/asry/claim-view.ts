/**
 * The public view of a claimed deposit, from its rows. The custodian reads them in its own journal, the API in
 * D1's mirror; both tell the same.
 * @module
 */

export type ClaimPayoutView = {
  /** From 1. */
  readonly part: number;
  readonly status: 'sent' | 'pending' | 'owed';
  readonly atoms: bigint;
  readonly signature: string | null;
  /** Why it is owed. */
  readonly reason: string | null;
  readonly createdAtMs: number;
  /** When it was final on the chain. */
  readonly paidAtMs: number | null;
};

/** A claimed deposit; or one that could be claimed, then without payouts and `claimedAtMs`. */
export type ClaimView = {
  /** First signature of the deposit. */
  readonly signature: string;
  readonly asset: 'USDC' | 'USDT';
  readonly sender: string;
  readonly slot: bigint;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly creditedAtoms: bigint;
  readonly feeBps: number;
  readonly feeAtoms: bigint;
  readonly netAtoms: bigint;
  readonly epoch: number;
  readonly entitlementAtoms: bigint;
  /** Of the entitlement, still to be claimed. */
  readonly remainingAtoms: bigint;
  readonly claimedAtMs: number | null;
  readonly payouts: readonly ClaimPayoutView[];
};

/** Amounts in atoms of the deposit's asset; entitlement and what is left of it in atoms of ASRY. */
type ClaimRow = Pick<
  ClaimView,
  'signature' | 'asset' | 'sender' | 'slot' | 'blockTime' | 'feeBps' | 'epoch'
> & {
  readonly credited: bigint;
  readonly fee: bigint;
  readonly net: bigint;
  readonly entitlement: bigint;
  readonly left: bigint;
  /** Unix milliseconds; null when it is not claimed. */
  readonly claimedAt: number | null;
};

export const claimView = (claim: ClaimRow, payouts: readonly ClaimPayoutView[]): ClaimView => ({
  signature: claim.signature,
  asset: claim.asset,
  sender: claim.sender,
  slot: claim.slot,
  blockTime: claim.blockTime,
  creditedAtoms: claim.credited,
  feeBps: claim.feeBps,
  feeAtoms: claim.fee,
  netAtoms: claim.net,
  epoch: claim.epoch,
  entitlementAtoms: claim.entitlement,
  remainingAtoms: claim.left,
  claimedAtMs: claim.claimedAt,
  payouts,
});

type PayoutRow = Pick<ClaimPayoutView, 'part' | 'atoms' | 'reason'> & {
  readonly state: 'owed' | 'begun' | 'paid';
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly paidAt: number | null;
};

/**
 * A payout as its row and its operation tell it; one of the two may be newer than the other.
 * @param operation what was signed for it, and when that was final (Unix milliseconds); undefined before
 */
export function payoutView(
  { part, atoms, reason, createdAt, state, paidAt }: PayoutRow,
  operation: { readonly signature: string; readonly finishedAt: number | null } | undefined,
): ClaimPayoutView {
  const unsent = { part, atoms, createdAtMs: createdAt, signature: null, paidAtMs: null };
  // A failed read is repeated within seconds, without a step of the caller or the operator.
  if (state === 'owed' && reason !== 'unread') return { ...unsent, status: 'owed', reason };
  if (state === 'owed' || !operation) return { ...unsent, status: 'pending', reason: null };
  const { signature, finishedAt } = operation;
  return { ...unsent, status: 'sent', signature, reason: null, paidAtMs: paidAt ?? finishedAt };
}
