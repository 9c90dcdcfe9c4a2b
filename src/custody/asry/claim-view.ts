/**
 * The public view of a claimed deposit, built from its rows. The custodian reads them from its journal and
 * the API from D1; both views are the same.
 * @module
 */

export type ClaimPayoutView = {
  /** From 1. */
  readonly part: number;
  readonly status: 'sent' | 'pending' | 'owed';
  readonly atoms: bigint;
  readonly signature: string | null;
  /** Reason why it is still owed. */
  readonly reason: string | null;
  readonly createdAtMs: number;
  /** When the payment became final on the chain. */
  readonly paidAtMs: number | null;
};

/** A claimed deposit, or a deposit that could be claimed. The latter has no payouts and no `claimedAtMs`. */
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
  /** Part of the entitlement that can still be claimed. */
  readonly remainingAtoms: bigint;
  readonly claimedAtMs: number | null;
  readonly payouts: readonly ClaimPayoutView[];
};

/** Amounts in atoms of the deposit's asset; the entitlement and its remainder in atoms of ASRY. */
type ClaimRow = Pick<
  ClaimView,
  'signature' | 'asset' | 'sender' | 'slot' | 'blockTime' | 'feeBps' | 'epoch'
> & {
  readonly credited: bigint;
  readonly fee: bigint;
  readonly net: bigint;
  readonly entitlement: bigint;
  readonly left: bigint;
  /** Unix milliseconds; null before the claim. */
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
 * The state of a payout, from its row and its operation. Either of them may be newer than the other.
 * @param operation the payout's transaction and when it became final (Unix milliseconds); undefined before it
 * is signed
 */
export function payoutView(
  { part, atoms, reason, createdAt, state, paidAt }: PayoutRow,
  operation: { readonly signature: string; readonly finishedAt: number | null } | undefined,
): ClaimPayoutView {
  const unsent = { part, atoms, createdAtMs: createdAt, signature: null, paidAtMs: null };
  // A failed read is retried within seconds; neither the caller nor the operator has to act.
  if (state === 'owed' && reason !== 'unread') return { ...unsent, status: 'owed', reason };
  if (state === 'owed' || !operation) return { ...unsent, status: 'pending', reason: null };
  const { signature, finishedAt } = operation;
  return { ...unsent, status: 'sent', signature, reason: null, paidAtMs: paidAt ?? finishedAt };
}
