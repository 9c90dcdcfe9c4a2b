/**
 * Decodes accounts of Orca's Whirlpool program: the state of a concentrated-liquidity pool, and the Oracle of a pool with
 * an adaptive fee tier. All figures are computed without floating point.
 * @see orca-so/whirlpools programs/whirlpool/src/state/{whirlpool,oracle}.rs, manager/fee_rate_manager.rs
 * @module
 */

import { utf8ToBytes } from '@noble/hashes/utils.js';
import {
  getAddressDecoder,
  getArrayDecoder,
  getI32Decoder,
  getStructDecoder,
  getU8Decoder,
  getU16Decoder,
  getU32Decoder,
  getU64Decoder,
  getU128Decoder,
  padLeftDecoder,
} from '@solana/web3.js';
import { formatAmount } from '../../core/amount.ts';
import { addressSeed, programAddress } from './program-address.ts';

export const WHIRLPOOL_PROGRAM = 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc';
export const WHIRLPOOL_LENGTH = 653;

/** sha256('account:Whirlpool'), first 8 bytes. */
const DISCRIMINATOR = [63, 149, 209, 12, 225, 128, 99, 9];

/** The all-zero address, which marks an unused reward slot. */
const NO_ADDRESS = '11111111111111111111111111111111';

const address = getAddressDecoder();
const u16 = getU16Decoder();
const u32 = getU32Decoder();
const u64 = getU64Decoder();
const u128 = getU128Decoder();

const REWARD = getStructDecoder([
  ['mint', address],
  ['vault', address],
  /** In the first slot, the authority over all rewards; flags and reserved bytes in the others. */
  ['extension', address],
  /** Atoms per second, Q64.64. */
  ['emissionsPerSecondX64', u128],
  ['growthGlobalX64', u128],
]);

const POOL = getStructDecoder([
  ['whirlpoolsConfig', address],
  ['bump', getU8Decoder()],
  ['tickSpacing', u16],
  /** Equal to `tickSpacing` unless the pool belongs to an adaptive fee tier. */
  ['feeTierIndex', u16],
  /** Share of the input taken as fee, in 1e-6: 400 is 0.04 %. */
  ['feeRate', u16],
  /** Share of the fee that the protocol takes, in 1e-4. */
  ['protocolFeeRate', u16],
  ['liquidity', u128],
  /** Square root of (atoms of B per atom of A), Q64.64. */
  ['sqrtPrice', u128],
  ['tickCurrentIndex', getI32Decoder()],
  ['protocolFeeOwedA', u64],
  ['protocolFeeOwedB', u64],
  ['tokenMintA', address],
  ['tokenVaultA', address],
  ['feeGrowthGlobalA', u128],
  ['tokenMintB', address],
  ['tokenVaultB', address],
  ['feeGrowthGlobalB', u128],
  /** Unix seconds. */
  ['rewardLastUpdatedTimestamp', u64],
  ['rewardInfos', getArrayDecoder(REWARD, { size: 3 })],
]);

export type Whirlpool = ReturnType<typeof POOL.decode>;

/** The decoded pool; undefined when the data is not a Whirlpool. The caller checks the owner. */
export const decodeWhirlpool = (data: Uint8Array): Whirlpool | undefined =>
  isAccount(data, WHIRLPOOL_LENGTH, DISCRIMINATOR) ? POOL.decode(data, DISCRIMINATOR.length) : undefined;

const isAccount = (data: Uint8Array, length: number, discriminator: readonly number[]): boolean =>
  data.length === length && discriminator.every((byte, index) => data[index] === byte);

/** The reward slots in use. */
export const usedRewards = (pool: Whirlpool) => pool.rewardInfos.filter(({ mint }) => mint !== NO_ADDRESS);

/** A splash pool has full-range positions only: its tick spacing exceeds the range of ticks. */
export const isSplashPool = (pool: Whirlpool): boolean => pool.tickSpacing >= 32_768;

export const hasAdaptiveFee = (pool: Whirlpool): boolean => pool.feeTierIndex !== pool.tickSpacing;

const ORACLE_LENGTH = 254;
/** sha256('account:Oracle'), first 8 bytes. */
const ORACLE_DISCRIMINATOR = [139, 194, 131, 179, 140, 179, 229, 244];

const CONTROL_FACTOR_DENOMINATOR = 100_000n;
const ACCUMULATOR_SCALE = 10_000n;
/** Highest fee of any pool, in 1e-6 of the input. */
const FEE_RATE_LIMIT = 100_000n;

const ORACLE = getStructDecoder([
  ['whirlpool', address],
  /** Unix seconds; 0 if trading has never been restricted. */
  ['tradeEnableTimestamp', u64],
  [
    'constants',
    getStructDecoder([
      ['filterPeriod', u16],
      ['decayPeriod', u16],
      ['reductionFactor', u16],
      ['adaptiveFeeControlFactor', u32],
      ['maxVolatilityAccumulator', u32],
      ['tickGroupSize', u16],
      ['majorSwapThresholdTicks', u16],
    ]),
  ],
  [
    'variables',
    // The members follow 16 reserved bytes.
    padLeftDecoder(
      getStructDecoder([
        /** Unix seconds. */
        ['lastReferenceUpdateTimestamp', u64],
        /** Unix seconds. */
        ['lastMajorSwapTimestamp', u64],
        ['volatilityReference', u32],
        ['tickGroupIndexReference', getI32Decoder()],
        ['volatilityAccumulator', u32],
      ]),
      16,
    ),
  ],
]);

export type WhirlpoolOracle = ReturnType<typeof ORACLE.decode>;

export const oracleAddress = (pool: string): string =>
  programAddress(WHIRLPOOL_PROGRAM, [utf8ToBytes('oracle'), addressSeed(pool)]);

/** The decoded oracle; undefined when the data is not an oracle. */
export const decodeWhirlpoolOracle = (data: Uint8Array): WhirlpoolOracle | undefined =>
  isAccount(data, ORACLE_LENGTH, ORACLE_DISCRIMINATOR)
    ? ORACLE.decode(data, ORACLE_DISCRIMINATOR.length)
    : undefined;

/**
 * The amount that volatility adds to a pool's own fee rate, in 1e-6 of the input, rounded up.
 *
 * @param volatilityAccumulator the pool's current value, or the tier's maximum for the highest addition
 */
export function adaptiveFeeRate(
  { adaptiveFeeControlFactor, tickGroupSize }: WhirlpoolOracle['constants'],
  volatilityAccumulator: number,
): number {
  const crossed = BigInt(volatilityAccumulator) * BigInt(tickGroupSize);
  const denominator = CONTROL_FACTOR_DENOMINATOR * ACCUMULATOR_SCALE * ACCUMULATOR_SCALE;
  const rate = (BigInt(adaptiveFeeControlFactor) * crossed * crossed + denominator - 1n) / denominator;
  return Number(rate < FEE_RATE_LIMIT ? rate : FEE_RATE_LIMIT);
}

const Q128 = 1n << 128n;
/** Significant digits of a price. Digits before the point are never cut. */
const PRICE_DIGITS = 24;

/**
 * Price of token A in token B.
 *
 * @param sqrtPrice square root of (atoms of B per atom of A), unsigned Q64.64
 * @param decimalsA decimals of the mint of A
 * @param decimalsB decimals of the mint of B
 * @returns whole B per whole A as plain decimal text, rounded down at the last kept digit
 * @throws RangeError when sqrtPrice is not a positive u128
 * @see orca-so/whirlpools programs/whirlpool/src/state/whirlpool.rs (`sqrt_price`)
 */
export function priceFromSqrtPrice(sqrtPrice: bigint, decimalsA: number, decimalsB: number): string {
  if (sqrtPrice <= 0n || sqrtPrice >= Q128) throw new RangeError(`sqrtPrice: ${sqrtPrice}`);
  const shift = decimalsA - decimalsB;
  const numerator = sqrtPrice * sqrtPrice * (shift > 0 ? 10n ** BigInt(shift) : 1n);
  const denominator = Q128 * (shift < 0 ? 10n ** BigInt(-shift) : 1n);
  // A quotient of an m-digit by an n-digit number has m - n or m - n + 1 digits before the point.
  const whole = numerator.toString().length - denominator.toString().length;
  const scale = Math.max(PRICE_DIGITS - whole, 0);
  return formatAmount((numerator * 10n ** BigInt(scale)) / denominator, scale);
}

/** A fee rate in 1e-6 as a percentage: 400 is `0.04%`. */
export const feePercent = (feeRate: number): string => `${formatAmount(BigInt(feeRate), 4)}%`;
