/**
 * A claim as it begins: what a deposit earns at this point of the curve, and a part of it that is to be paid.
 * @module
 */
import { CALL_LIMITS, DAY_MS, HOUR_MS } from '../../core/limits.ts';
import type { ClaimRequest, Refusal } from '../api.ts';
import type { Journal } from '../kernel/journal.ts';
import type { Claim, Payout } from './asry-store.ts';
import type { Epoch } from './epochs.ts';
import { entitlementOf, RECEIVE_FEE_BPS, receiveFee } from './reward-curve.ts';
import { tooManyKeys, tooSmall } from './view.ts';

/** A deposit as the chain shows it, before or after it was claimed. */
export type Deposit = Pick<Claim, 'signature' | 'asset' | 'sender' | 'slot' | 'blockTime' | 'credited'>;

/** A bridge returns what it could not deliver within this time of the swap. */
const RETURN_MS = DAY_MS;

/**
 * Why a deposit may be our own money: tokens that a bridge returns look like a deposit when treasury and reserve are one
 * address. Undefined for a deposit of someone else's money.
 *
 * @param p.isDepositAddress whether a swap of ours paid the sender
 * @param p.sharesAddress    whether treasury and reserve are one address
 * @param p.unsettledSince   Unix milliseconds at which each swap whose proceeds are missing began
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
  const mayReturn = p.unsettledSince.some((since) => paidAt >= since && paidAt <= since + RETURN_MS);
  return p.sharesAddress && mayReturn ? 'swap_unsettled' : undefined;
}

/** The claim that a deposit makes now, not yet stored, and the epoch after it. */
export function openClaim(
  deposit: Deposit,
  epoch: Epoch,
  p: { readonly minimumDeposit: bigint; readonly seq: number; readonly now: number },
): { claim: Claim; epoch: Epoch } | Refusal {
  const { credited } = deposit;
  const fee = receiveFee(credited);
  const net = credited - fee;
  const entitlement = entitlementOf(epoch, epoch.deposits, net);
  if (credited < p.minimumDeposit || entitlement === 0n) return tooSmall(credited, p.minimumDeposit);
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
  return { claim, epoch: advanced };
}

/** The next part of a claim, owed until its payout begins. */
export const newPayout = (
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

const KEYS_PER_CLIENT_HOUR = CALL_LIMITS.keys_per_client_hour.quota;

/** Why a request's key may not be taken. */
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
