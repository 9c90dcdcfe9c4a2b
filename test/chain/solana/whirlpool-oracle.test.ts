import { getOracleAddress } from '@orca-so/whirlpools-client';
import { address } from '@solana/web3.js';
import { expect, it } from 'vitest';
import {
  adaptiveFeeRate,
  decodeWhirlpoolOracle,
  oracleAddress,
} from '../../../src/chain/solana/whirlpool.ts';
import real from '../../fixtures/whirlpool-accounts.json' with { type: 'json' };
import { oracleBytes } from './oracle-bytes.ts';

const POOL = 'HyA4ct7i4XvZsVrLyb5VJhcTP1EZVDZoF9fFGym16zcj';
const CONSTANTS = {
  ...{ filterPeriod: 30, decayPeriod: 600, reductionFactor: 500, adaptiveFeeControlFactor: 4_000 },
  ...{ maxVolatilityAccumulator: 350_000, tickGroupSize: 64, majorSwapThresholdTicks: 64 },
};
const VARIABLES = {
  ...{ lastReferenceUpdateTimestamp: 1_757_764_816n, lastMajorSwapTimestamp: 1_757_764_000n },
  ...{ volatilityReference: 12_345, tickGroupIndexReference: -788, volatilityAccumulator: 23_456 },
};

it('the address of an oracle is the one that the exchange’s own client uses', async () => {
  for (const { address: pool } of real.accounts) {
    const [peer] = await getOracleAddress(address(pool));
    expect(oracleAddress(pool)).toBe(peer);
  }
  // Recorded by a public test suite.
  expect(oracleAddress('HsQGWEh3ib6w59rBh5n1jXmi8VXFBqKEjxozL6PGfcgb')).toBe(
    '6uSvnzqPXLW986gQhVkY2u4xWjx8CEA2B8PAvq4A5N4w',
  );
});

it('an oracle is decoded with the offsets of oracle.rs', () => {
  const bytes = oracleBytes(POOL, 1_700_000_000n, CONSTANTS, VARIABLES);
  expect(bytes).toHaveLength(254);
  expect(decodeWhirlpoolOracle(bytes)).toEqual({
    ...{ whirlpool: POOL, tradeEnableTimestamp: 1_700_000_000n, constants: CONSTANTS, variables: VARIABLES },
  });
});

it('bytes of a different length or account type are not an oracle', () => {
  const bytes = oracleBytes(POOL, 0n, CONSTANTS, VARIABLES);
  expect(decodeWhirlpoolOracle(bytes.slice(1))).toBeUndefined();
  expect(decodeWhirlpoolOracle(bytes.slice(0, 253))).toBeUndefined();
  const other = bytes.slice();
  other[7] = 0;
  expect(decodeWhirlpoolOracle(other)).toBeUndefined();
});

// ceil(factor * (accumulator * group)^2 / (100,000 * 10,000^2)), worked by hand.
it.each([
  ['nothing moved', 0, 0],
  ['one tick group of 64 ticks', 10_000, 164],
  ['the smallest movement still costs something', 1, 1],
  ['ten tick groups', 100_000, 16_384],
  ['the tier’s maximum is cut at 10 %', 350_000, 100_000],
])('computes the adaptive fee rate: %s', (_name, accumulator, rate) => {
  expect(adaptiveFeeRate(CONSTANTS, accumulator)).toBe(rate);
});
