import { metadataOf, metaplexAddress } from '../../chain/solana/token-metadata.ts';
import { decodeMint, type Mint } from '../../chain/solana/token-program.ts';
import {
  adaptiveFeeRate,
  decodeWhirlpool,
  decodeWhirlpoolOracle,
  feePercent,
  hasAdaptiveFee,
  isSplashPool,
  oracleAddress,
  priceFromSqrtPrice,
  usedRewards,
  WHIRLPOOL_PROGRAM,
  type Whirlpool,
  type WhirlpoolOracle,
} from '../../chain/solana/whirlpool.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import type { ChainAccount } from '../../providers/solana-rpc.ts';
import { type ChainReads, vaultAtoms } from './upstream-pool.ts';

/**
 * A pool in the upstream's shape, from two reads of chain data. `tvlUsdc` and `stats` need a price history and are
 * absent. Undefined when the account is not a Whirlpool.
 * @throws AppError UPSTREAM_FAILED when the chain cannot be read, or a vault or mint does not match the pool
 */
export async function readPoolFromChain(
  chain: ChainReads & { now: () => number },
  address: string,
): Promise<string | undefined> {
  const first = await chain.readAccounts([address, oracleAddress(address)]);
  const [account, oracleAccount] = first.accounts;
  const pool = account?.owner === WHIRLPOOL_PROGRAM ? decodeWhirlpool(account.data) : undefined;
  if (!pool) return undefined;

  const { slot, accounts } = await chain.readAccounts([
    pool.tokenVaultA,
    pool.tokenVaultB,
    pool.tokenMintA,
    pool.tokenMintB,
    metaplexAddress(pool.tokenMintA),
    metaplexAddress(pool.tokenMintB),
  ]);
  const [vaultA, vaultB, mintAccountA, mintAccountB, metaplexA, metaplexB] = accounts;
  const mintA = mintOf(mintAccountA);
  const mintB = mintOf(mintAccountB);
  const adaptive = hasAdaptiveFee(pool);
  const oracle = adaptive ? oracleOf(oracleAccount) : undefined;

  return stringifyJson({
    data: {
      address,
      ...stateOf(pool),
      tokenBalanceA: vaultAtoms(vaultA, pool.tokenMintA),
      tokenBalanceB: vaultAtoms(vaultB, pool.tokenMintB),
      tokenA: tokenOf(pool.tokenMintA, mintA, metaplexA),
      tokenB: tokenOf(pool.tokenMintB, mintB, metaplexB),
      price: priceFromSqrtPrice(pool.sqrtPrice, mintA.decimals, mintB.decimals),
      swapFeePercentDisplay: feePercent(pool.feeRate),
      adaptiveFeeEnabled: adaptive,
      adaptiveFee: oracle ? adaptiveFeeOf(oracle) : null,
      tradeEnableTimestamp: isoTime(oracle?.tradeEnableTimestamp ?? 0n),
      updatedAt: new Date(chain.now()).toISOString(),
      updatedSlot: Number(slot),
      poolDataSource: 'chain_rpc',
    },
  });
}

function mintOf(account: ChainAccount | null | undefined): Mint {
  const mint = account ? decodeMint(account.owner, account.data) : undefined;
  if (!mint) throw upstreamFailed('solana-rpc', 'mint_is_no_mint');
  return mint;
}

const oracleOf = (account: ChainAccount | null | undefined): WhirlpoolOracle | undefined =>
  account?.owner === WHIRLPOOL_PROGRAM ? decodeWhirlpoolOracle(account.data) : undefined;

function tokenOf(address: string, mint: Mint, metaplex: ChainAccount | null | undefined) {
  const metadata = metadataOf(address, mint, metaplex);
  return {
    address,
    programId: mint.program,
    imageUrl: null,
    name: metadata?.name ?? null,
    symbol: metadata?.symbol ?? null,
    decimals: mint.decimals,
    tags: [],
  };
}

/**
 * The account's own fields, under the upstream's names. Integers above 32 bits are strings, as in the upstream's
 * response.
 */
function stateOf(pool: Whirlpool) {
  const { rewardInfos, bump, feeTierIndex, rewardLastUpdatedTimestamp, ...fields } = pool;
  return {
    ...fields,
    whirlpoolBump: [bump],
    feeTierIndex,
    tickSpacingSeed: [feeTierIndex & 0xff, feeTierIndex >> 8],
    poolType: isSplashPool(pool) ? 'splashpool' : 'whirlpool',
    rewardLastUpdatedTimestamp: isoTime(rewardLastUpdatedTimestamp),
    rewards: usedRewards(pool).map((reward) => ({
      mint: reward.mint,
      vault: reward.vault,
      authority: rewardInfos[0]?.extension,
      emissions_per_second_x64: reward.emissionsPerSecondX64,
      growth_global_x64: reward.growthGlobalX64,
      active: reward.emissionsPerSecondX64 > 0n,
    })),
  };
}

/** Each rate is the part that volatility adds to `feeRate`, in the same unit. */
const adaptiveFeeOf = ({ constants, variables }: WhirlpoolOracle) => ({
  constants,
  variables: {
    ...variables,
    lastReferenceUpdateTimestamp: isoTime(variables.lastReferenceUpdateTimestamp),
    lastMajorSwapTimestamp: isoTime(variables.lastMajorSwapTimestamp),
  },
  currentRate: adaptiveFeeRate(constants, variables.volatilityAccumulator),
  maxRate: adaptiveFeeRate(constants, constants.maxVolatilityAccumulator),
});

/** The last second that a Date can represent. */
const LAST_SECOND = 8_640_000_000_000n;

const isoTime = (seconds: bigint): string | null =>
  seconds > LAST_SECOND ? null : new Date(Number(seconds) * 1000).toISOString();
