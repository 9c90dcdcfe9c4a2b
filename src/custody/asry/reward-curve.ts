/**
 * What a deposit earns: a capped curve per epoch. Splitting a deposit gains nothing, and all deposits together earn the
 * same in whatever order they come, though each earns the more the sooner it is claimed. All figures are integers: deposits in the smallest unit of the dollar token, rewards in the smallest unit of ASRY.
 * @module
 */
import { bpsOf } from '../../core/amount.ts';

/** Of the amount received, rounded up: a floor would let thousands of tiny deposits pay nothing. */
export const RECEIVE_FEE_BPS = 5;

/** What an epoch gives out at most, and how deep it is. Frozen when the epoch starts. */
export type Curve = {
  /** Reward atoms, at least 0. Never reached. */
  readonly cap: bigint;
  /** Deposit atoms that take half of the cap, at least 1. */
  readonly depth: bigint;
};

export const receiveFee = (credited: bigint): bigint => bpsOf(credited, RECEIVE_FEE_BPS);

/**
 * All that an epoch has given once `deposits` have come in: floor(cap * c / (c + depth)), concave, below the cap.
 *
 * @param deposits cumulative net deposit atoms, at least 0
 */
export const rewardsAt = ({ cap, depth }: Curve, deposits: bigint): bigint =>
  (cap * deposits) / (deposits + depth);

/** What the next `net` deposit atoms earn when `before` have come in: a difference, so that sums are exact. */
export const entitlementOf = (curve: Curve, before: bigint, net: bigint): bigint =>
  rewardsAt(curve, before + net) - rewardsAt(curve, before);

/**
 * Reward atoms for the next deposit atom, before rounding, times 10^digits, rounded down.
 * cap * (c + 1) / (c + 1 + depth) - cap * c / (c + depth) is cap * depth / ((c + depth) * (c + 1 + depth)).
 */
export const nextUnitRate = ({ cap, depth }: Curve, deposits: bigint, digits: number): bigint =>
  (cap * depth * 10n ** BigInt(digits)) / ((deposits + depth) * (deposits + 1n + depth));
