/**
 * Converts a Whirlpool's integers to readable values, without floating point.
 * @module
 */
import { formatAmount } from '../../core/amount.ts';

const Q128 = 1n << 128n;

/**
 * Price of token A in token B.
 *
 * @param sqrtPrice square root of (atoms of B per atom of A), unsigned Q64.64
 * @param decimalsA decimals of the mint of A
 * @param decimalsB decimals of the mint of B
 * @param digits    significant digits kept; whole units are never cut
 * @returns whole B per whole A as plain decimal text, rounded down at the last kept digit
 * @throws RangeError when sqrtPrice is not a positive u128
 * @see orca-so/whirlpools programs/whirlpool/src/state/whirlpool.rs (`sqrt_price`)
 */
export function priceFromSqrtPrice(
  sqrtPrice: bigint,
  decimalsA: number,
  decimalsB: number,
  digits = 24,
): string {
  if (sqrtPrice <= 0n || sqrtPrice >= Q128) throw new RangeError(`sqrtPrice: ${sqrtPrice}`);
  const shift = decimalsA - decimalsB;
  const numerator = sqrtPrice * sqrtPrice * (shift > 0 ? 10n ** BigInt(shift) : 1n);
  const denominator = Q128 * (shift < 0 ? 10n ** BigInt(-shift) : 1n);
  // A quotient of an m-digit by an n-digit number has m - n or m - n + 1 digits before the point.
  const whole = numerator.toString().length - denominator.toString().length;
  const scale = Math.max(digits - whole, 0);
  return formatAmount((numerator * 10n ** BigInt(scale)) / denominator, scale);
}

/** A fee rate in 1e-6 as a percentage: 400 is `0.04%`. */
export const feePercent = (feeRate: number): string => `${formatAmount(BigInt(feeRate), 4)}%`;
