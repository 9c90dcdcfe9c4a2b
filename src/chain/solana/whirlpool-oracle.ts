/**
 * The Oracle account of a Whirlpool with an adaptive fee tier: how its fee follows volatility.
 * @see orca-so/whirlpools programs/whirlpool/src/state/oracle.rs, manager/fee_rate_manager.rs
 * @module
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { createByteReader } from './byte-reader.ts';
import { addressSeed, programAddress } from './program-address.ts';
import { WHIRLPOOL_PROGRAM } from './whirlpool.ts';

const LENGTH = 254;
/** sha256('account:Oracle'), first 8 bytes. */
const DISCRIMINATOR = [139, 194, 131, 179, 140, 179, 229, 244];

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
  if (data.length !== LENGTH || DISCRIMINATOR.some((byte, index) => data[index] !== byte)) return undefined;
  const read = createByteReader(data, DISCRIMINATOR.length);
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
