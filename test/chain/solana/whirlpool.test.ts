import { getWhirlpoolDecoder, getWhirlpoolEncoder, type Whirlpool as Peer } from '@orca-so/whirlpools-client';
import { base64 } from '@scure/base';
import { address } from '@solana/web3.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeBase58 } from '../../../src/chain/solana/address.ts';
import { addressSeed } from '../../../src/chain/solana/program-address.ts';
import {
  decodeWhirlpool,
  hasAdaptiveFee,
  isSplashPool,
  usedRewards,
  WHIRLPOOL_LENGTH,
  type Whirlpool,
} from '../../../src/chain/solana/whirlpool.ts';
import { cases } from '../../cases.ts';
import real from '../../fixtures/whirlpool-accounts.json' with { type: 'json' };

const uint = (bits: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });
const small = (bits: number) => fc.integer({ min: 0, max: 2 ** bits - 1 });
const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => address(encodeBase58(bytes)));
const reward = fc.record({
  mint: key,
  vault: key,
  extension: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  emissionsPerSecondX64: uint(128),
  growthGlobalX64: uint(128),
});
const account = fc
  .record({
    whirlpoolsConfig: key,
    whirlpoolBump: fc.uint8Array({ minLength: 1, maxLength: 1 }),
    tickSpacing: small(16),
    feeTierIndexSeed: fc.uint8Array({ minLength: 2, maxLength: 2 }),
    ...{ feeRate: small(16), protocolFeeRate: small(16), liquidity: uint(128), sqrtPrice: uint(128) },
    tickCurrentIndex: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    ...{ protocolFeeOwedA: uint(64), protocolFeeOwedB: uint(64), tokenMintA: key, tokenVaultA: key },
    ...{ feeGrowthGlobalA: uint(128), tokenMintB: key, tokenVaultB: key, feeGrowthGlobalB: uint(128) },
    rewardLastUpdatedTimestamp: uint(64),
    rewardInfos: fc.array(reward, { minLength: 3, maxLength: 3 }),
  })
  .map((fields) => new Uint8Array(getWhirlpoolEncoder().encode(fields)));

function decoded(bytes: Uint8Array): Whirlpool {
  const pool = decodeWhirlpool(bytes);
  if (!pool) throw new Error('not a Whirlpool');
  return pool;
}

/** Our fields under the peer's names, so that its encoder can write them again. */
function toPeer({ bump, feeTierIndex, rewardInfos, ...same }: Whirlpool): Omit<Peer, 'discriminator'> {
  return {
    ...same,
    ...{ whirlpoolsConfig: address(same.whirlpoolsConfig), tokenMintA: address(same.tokenMintA) },
    ...{ tokenMintB: address(same.tokenMintB), tokenVaultA: address(same.tokenVaultA) },
    ...{ tokenVaultB: address(same.tokenVaultB), whirlpoolBump: Uint8Array.of(bump) },
    feeTierIndexSeed: Uint8Array.of(feeTierIndex & 0xff, feeTierIndex >> 8),
    rewardInfos: rewardInfos.map(({ extension, mint, vault, ...rest }) => ({
      ...rest,
      mint: address(mint),
      vault: address(vault),
      extension: addressSeed(extension),
    })),
  };
}

it("generated accounts are decoded as the exchange's own client decodes them, byte for byte", {
  tags: ['scaled'],
  timeout: 60_000,
}, () => {
  let accounts = 0;
  fc.assert(
    fc.property(account, (bytes) => {
      accounts += 1;
      const { discriminator: _, ...peer } = getWhirlpoolDecoder().decode(bytes);
      const ours = toPeer(decoded(bytes));
      expect(ours).toEqual(peer);
      expect(new Uint8Array(getWhirlpoolEncoder().encode(ours))).toEqual(bytes);
    }),
    { numRuns: cases(1_000, 100), seed: 20_261_120 },
  );
  expect(accounts).toBe(cases(1_000, 100));
});

it.each(real.accounts)("the real account $address is decoded as in the exchange's own client", ({ data }) => {
  const bytes = base64.decode(data);
  const { discriminator: _, ...peer } = getWhirlpoolDecoder().decode(bytes);
  expect(toPeer(decoded(bytes))).toEqual(peer);
});

it('decodes the fee tier and rewards of real pools', () => {
  const [fixed, , adaptive] = real.accounts.map(({ data }) => decoded(base64.decode(data)));
  expect(fixed && hasAdaptiveFee(fixed)).toBe(false);
  expect(adaptive && hasAdaptiveFee(adaptive)).toBe(true);
  expect(adaptive?.feeTierIndex).toBe(1028);
  expect(fixed && isSplashPool(fixed)).toBe(false);
  expect(fixed && usedRewards(fixed).map(({ mint }) => mint)).toEqual([
    'orcaEKTdK7LKz57vaAYr9QeNsVEPfiu6QeMU1kektZE',
  ]);
});

it('a pool whose tick spacing allows only full-range positions is a splash pool', () => {
  const bytes = base64.decode(real.accounts[0]?.data ?? '');
  new DataView(bytes.buffer).setUint16(41, 32_896, true);
  expect(isSplashPool(decoded(bytes))).toBe(true);
});

it('refuses to decode bytes of a different length or account type as a pool', () => {
  const bytes = base64.decode(real.accounts[0]?.data ?? '');
  expect(bytes).toHaveLength(WHIRLPOOL_LENGTH);
  expect(decodeWhirlpool(bytes.slice(0, 652))).toBeUndefined();
  expect(decodeWhirlpool(new Uint8Array([...bytes, 0]))).toBeUndefined();
  expect(decodeWhirlpool(new Uint8Array())).toBeUndefined();
  const other = bytes.slice();
  other[0] = 64;
  expect(decodeWhirlpool(other)).toBeUndefined();
});
