/**
 * Decodes the state of a concentrated-liquidity pool from its account of Orca's Whirlpool program. All figures are
 * computed without floating point.
 * @see orca-so/whirlpools programs/whirlpool/src/state/whirlpool.rs
 * @module
 */

import { formatAmount } from '../../core/amount.ts';
import { createByteReader } from './byte-reader.ts';

export const WHIRLPOOL_PROGRAM = 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc';
export const WHIRLPOOL_LENGTH = 653;

/** sha256('account:Whirlpool'), first 8 bytes. */
const DISCRIMINATOR = [63, 149, 209, 12, 225, 128, 99, 9];

export type Whirlpool = {
  readonly whirlpoolsConfig: string;
  readonly tickSpacing: number;
  /** Equal to `tickSpacing` unless the pool belongs to an adaptive fee tier. */
  readonly feeTierIndex: number;
  /** Share of the input taken as fee, in 1e-6: 400 is 0.04 %. */
  readonly feeRate: number;
  /** Share of the fee that the protocol takes, in 1e-4. */
  readonly protocolFeeRate: number;
  readonly liquidity: bigint;
  /** Square root of (atoms of B per atom of A), Q64.64. */
  readonly sqrtPrice: bigint;
  readonly tickCurrentIndex: number;
  readonly tokenMintA: string;
  readonly tokenVaultA: string;
  readonly tokenMintB: string;
  readonly tokenVaultB: string;
};

/** The decoded pool; undefined when the data is not a Whirlpool. The caller checks the owner. */
export function decodeWhirlpool(data: Uint8Array): Whirlpool | undefined {
  if (data.length !== WHIRLPOOL_LENGTH || DISCRIMINATOR.some((byte, index) => data[index] !== byte))
    return undefined;
  const read = createByteReader(data, DISCRIMINATOR.length);
  const whirlpoolsConfig = read.address();
  read.bytes(1); // bump
  const state = {
    whirlpoolsConfig,
    tickSpacing: read.u16(),
    feeTierIndex: read.u16(),
    feeRate: read.u16(),
    protocolFeeRate: read.u16(),
    liquidity: read.u128(),
    sqrtPrice: read.u128(),
    tickCurrentIndex: read.i32(),
  };
  read.bytes(16); // fees owed to the protocol
  const tokenA = { tokenMintA: read.address(), tokenVaultA: read.address() };
  read.bytes(16); // growth of the fees in A
  return { ...state, ...tokenA, tokenMintB: read.address(), tokenVaultB: read.address() };
}

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
