/** The bytes of a Whirlpool's Oracle account, written at the offsets that oracle.rs gives. */
import { decodeBase58 } from '../../../src/chain/solana/address.ts';
import type { WhirlpoolOracle } from '../../../src/chain/solana/whirlpool.ts';

export function oracleBytes(
  pool: string,
  tradeEnableTimestamp: bigint,
  constants: WhirlpoolOracle['constants'],
  variables: WhirlpoolOracle['variables'],
): Uint8Array {
  const bytes = new Uint8Array(254);
  const view = new DataView(bytes.buffer);
  bytes.set([0x8b, 0xc2, 0x83, 0xb3, 0x8c, 0xb3, 0xe5, 0xf4]);
  bytes.set(decodeBase58(pool, 32) ?? [], 8);
  view.setBigUint64(40, tradeEnableTimestamp, true);
  view.setUint16(48, constants.filterPeriod, true);
  view.setUint16(50, constants.decayPeriod, true);
  view.setUint16(52, constants.reductionFactor, true);
  view.setUint32(54, constants.adaptiveFeeControlFactor, true);
  view.setUint32(58, constants.maxVolatilityAccumulator, true);
  view.setUint16(62, constants.tickGroupSize, true);
  view.setUint16(64, constants.majorSwapThresholdTicks, true);
  view.setBigUint64(82, variables.lastReferenceUpdateTimestamp, true);
  view.setBigUint64(90, variables.lastMajorSwapTimestamp, true);
  view.setUint32(98, variables.volatilityReference, true);
  view.setInt32(102, variables.tickGroupIndexReference, true);
  view.setUint32(106, variables.volatilityAccumulator, true);
  return bytes;
}
