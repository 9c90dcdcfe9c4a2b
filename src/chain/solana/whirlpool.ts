/**
 * The Whirlpool account of Orca's program: the state of one concentrated-liquidity pool.
 * @see orca-so/whirlpools programs/whirlpool/src/state/whirlpool.rs
 * @module
 */
import { type ByteReader, createByteReader } from './byte-reader.ts';

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
