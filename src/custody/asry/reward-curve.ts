/**
 * Computes what a deposit earns: a capped curve per epoch. Splitting a deposit gains nothing. The order of
 * deposits does not change their total, but an earlier claim earns more. All figures are integers: deposits
 * in the smallest unit of the dollar token, rewards in the smallest unit of ASRY.
 * @module
 */
import { bpsOf } from '../../core/amount.ts';

/**
 * Share of the received amount, rounded up. Rounding down would let thousands of tiny deposits pay nothing.
 */
export const RECEIVE_FEE_BPS = 5;

/** The maximum reward of an epoch and the depth of its curve. Fixed when the epoch starts. */
export type Curve = {
  /** Upper bound in reward atoms, at least 0; the curve never reaches it. */
  readonly cap: bigint;
  /** Deposit atoms that earn half of the cap, at least 1. */
  readonly depth: bigint;
};

export const receiveFee = (credited: bigint): bigint => bpsOf(credited, RECEIVE_FEE_BPS);

/**
 * Total reward after `deposits`: floor(cap * c / (c + depth)), concave, below the cap.
 *
 * @param deposits cumulative net deposit atoms, at least 0
 */
export const rewardsAt = ({ cap, depth }: Curve, deposits: bigint): bigint =>
  (cap * deposits) / (deposits + depth);

/**
 * Reward of the next `net` deposit atoms after `before` earlier ones. As a difference of totals, its sums are
 * exact.
 */
export const entitlementOf = (curve: Curve, before: bigint, net: bigint): bigint =>
  rewardsAt(curve, before + net) - rewardsAt(curve, before);

/**
 * Reward atoms for the next deposit atom, before rounding, times 10^digits, rounded down.
 * cap * (c + 1) / (c + 1 + depth) - cap * c / (c + depth) is cap * depth / ((c + depth) * (c + 1 + depth)).
 */
export const nextUnitRate = ({ cap, depth }: Curve, deposits: bigint, digits: number): bigint =>
  (cap * depth * 10n ** BigInt(digits)) / ((deposits + depth) * (deposits + 1n + depth));
