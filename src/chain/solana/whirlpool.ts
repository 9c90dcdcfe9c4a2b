/**
 * Decodes accounts of Orca's Whirlpool program: the state of a concentrated-liquidity pool, and the Oracle of a pool with
 * an adaptive fee tier. All figures are computed without floating point.
 * @see orca-so/whirlpools programs/whirlpool/src/state/{whirlpool,oracle}.rs, manager/fee_rate_manager.rs
 * @module
 */

import { utf8ToBytes } from '@noble/hashes/utils.js';
import { formatAmount } from '../../core/amount.ts';
import { type ByteReader, createByteReader } from './byte-reader.ts';
import { addressSeed, programAddress } from './program-address.ts';

export const WHIRLPOOL_PROGRAM = 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc';
export const WHIRLPOOL_LENGTH = 653;

/** sha256('account:Whirlpool'), first 8 bytes. */
const DISCRIMINATOR = [63, 149, 209, 12, 225, 128, 99, 9];

/** The all-zero address, which marks an unused reward slot. */
const NO_ADDRESS = '11111111111111111111111111111111';

export type WhirlpoolReward = {
  readonly mint: string;
  readonly vault: string;
  /** In the first slot, the authority over all rewards; flags and reserved bytes in the others. */
  readonly extension: string;
  /** Atoms per second, Q64.64. */
  readonly emissionsPerSecondX64: bigint;
  readonly growthGlobalX64: bigint;
};

export type Whirlpool = {
  readonly whirlpoolsConfig: string;
  readonly bump: number;
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
  readonly protocolFeeOwedA: bigint;
  readonly protocolFeeOwedB: bigint;
  readonly tokenMintA: string;
  readonly tokenVaultA: string;
  readonly feeGrowthGlobalA: bigint;
  readonly tokenMintB: string;
  readonly tokenVaultB: string;
  readonly feeGrowthGlobalB: bigint;
  /** Unix seconds. */
  readonly rewardLastUpdatedTimestamp: bigint;
  /** Three slots. */
  readonly rewardInfos: readonly WhirlpoolReward[];
};

/** The decoded pool; undefined when the data is not a Whirlpool. The caller checks the owner. */
export function decodeWhirlpool(data: Uint8Array): Whirlpool | undefined {
  if (data.length !== WHIRLPOOL_LENGTH || DISCRIMINATOR.some((byte, index) => data[index] !== byte))
    return undefined;
  const read = createByteReader(data, DISCRIMINATOR.length);
  return {
    whirlpoolsConfig: read.address(),
    bump: read.u8(),
    tickSpacing: read.u16(),
    feeTierIndex: read.u16(),
    feeRate: read.u16(),
    protocolFeeRate: read.u16(),
    liquidity: read.u128(),
    sqrtPrice: read.u128(),
    tickCurrentIndex: read.i32(),
    protocolFeeOwedA: read.u64(),
    protocolFeeOwedB: read.u64(),
    tokenMintA: read.address(),
    tokenVaultA: read.address(),
    feeGrowthGlobalA: read.u128(),
    tokenMintB: read.address(),
    tokenVaultB: read.address(),
    feeGrowthGlobalB: read.u128(),
    rewardLastUpdatedTimestamp: read.u64(),
    rewardInfos: [reward(read), reward(read), reward(read)],
  };
}

const reward = (read: ByteReader): WhirlpoolReward => ({
  mint: read.address(),
  vault: read.address(),
  extension: read.address(),
  emissionsPerSecondX64: read.u128(),
  growthGlobalX64: read.u128(),
});

/** The reward slots in use. */
export const usedRewards = (pool: Whirlpool): readonly WhirlpoolReward[] =>
  pool.rewardInfos.filter(({ mint }) => mint !== NO_ADDRESS);

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

export type WhirlpoolOracle = {
  readonly whirlpool: string;
  /** Unix seconds; 0 when trading was never restricted. */
  readonly tradeEnableTimestamp: bigint;
  readonly constants: {
    readonly filterPeriod: number;
    readonly decayPeriod: number;
    readonly reductionFactor: number;
    readonly adaptiveFeeControlFactor: number;
    readonly maxVolatilityAccumulator: number;
    readonly tickGroupSize: number;
    readonly majorSwapThresholdTicks: number;
  };
  readonly variables: {
    /** Unix seconds. */
    readonly lastReferenceUpdateTimestamp: bigint;
    /** Unix seconds. */
    readonly lastMajorSwapTimestamp: bigint;
    readonly volatilityReference: number;
    readonly tickGroupIndexReference: number;
    readonly volatilityAccumulator: number;
  };
};

export const oracleAddress = (pool: string): string =>
  programAddress(WHIRLPOOL_PROGRAM, [utf8ToBytes('oracle'), addressSeed(pool)]);

/** The decoded oracle; undefined when the data is not an oracle. */
export function decodeWhirlpoolOracle(data: Uint8Array): WhirlpoolOracle | undefined {
  if (data.length !== ORACLE_LENGTH || ORACLE_DISCRIMINATOR.some((byte, index) => data[index] !== byte))
    return undefined;
  const read = createByteReader(data, ORACLE_DISCRIMINATOR.length);
  const whirlpool = read.address();
  const tradeEnableTimestamp = read.u64();
  const constants = {
    filterPeriod: read.u16(),
    decayPeriod: read.u16(),
    reductionFactor: read.u16(),
    adaptiveFeeControlFactor: read.u32(),
    maxVolatilityAccumulator: read.u32(),
    tickGroupSize: read.u16(),
    majorSwapThresholdTicks: read.u16(),
  };
  read.bytes(16); // reserved
  const variables = {
    lastReferenceUpdateTimestamp: read.u64(),
    lastMajorSwapTimestamp: read.u64(),
    volatilityReference: read.u32(),
    tickGroupIndexReference: read.i32(),
    volatilityAccumulator: read.u32(),
  };
  return { whirlpool, tradeEnableTimestamp, constants, variables };
}

/**
 * The amount that volatility adds to a pool's own fee rate, in 1e-6 of the input, rounded up.
 *
 * @param volatilityAccumulator the current one, or the tier's maximum for the highest addition
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
