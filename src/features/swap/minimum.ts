/**
 * The smallest swap whose costs are within the limit. Pure.
 * @module
 */
import { ceilSignificant, type Lamports, lamports } from '../../core/amount.ts';
import { fairSats, type PriceReport } from '../../core/price.ts';

/** The contract's own lower bound: 0.001 SOL. */
export const CONTRACT_MINIMUM = lamports(1_000_000n);
/** Margin for price changes between this figure and the quote of a create, in basis points. */
const DRIFT_BPS = 20;
/**
 * Payouts are whole sats: the expected and the guaranteed output lose up to one each, which matters for small
 * amounts.
 */
const ROUNDING_SATS = 2n;

export type Terms = {
  readonly amount: Lamports;
  readonly expectedSats: bigint;
  readonly minimumSats: bigint;
  readonly fixedFeeSats: bigint;
};

/**
 * The smallest amount whose total cost (fixed fee, spread and slippage) stays below `maxCostBps` of a fair
 * price; null when there is none.
 *
 * With g the guaranteed sats per lamport before the fixed fee f, and r the fair ones: a * g - f >= a * r * (1
 * - cost).
 */
export function smallestAmount(terms: Terms, price: PriceReport, maxCostBps: number): Lamports | null {
  const { amount } = terms;
  // The slippage allowance also reduces the fee, because the expected output includes it.
  const fixed = (terms.fixedFeeSats * terms.minimumSats + terms.expectedSats - 1n) / terms.expectedSats;
  const fee = fixed + ROUNDING_SATS;
  const guaranteed = (terms.minimumSats + fixed) * 10_000n;
  const needed = fairSats(amount, price) * BigInt(10_000 - maxCostBps + DRIFT_BPS);
  const margin = guaranteed - needed;
  if (margin <= 0n) return null;
  const smallest = (fee * 10_000n * amount + margin - 1n) / margin;
  return lamports(smallest < CONTRACT_MINIMUM ? CONTRACT_MINIMUM : ceilSignificant(smallest, 3));
}
