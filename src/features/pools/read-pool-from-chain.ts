import {
  decodeMetaplexMetadata,
  METAPLEX_PROGRAM,
  metadataInMint,
  metaplexAddress,
} from '../../chain/solana/token-metadata.ts';
import { decodeMint, type Mint } from '../../chain/solana/token-program.ts';
import {
  decodeWhirlpool,
  feePercent,
  priceFromSqrtPrice,
  WHIRLPOOL_PROGRAM,
} from '../../chain/solana/whirlpool.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import type { ChainAccount } from '../../providers/solana-rpc.ts';
import { type ChainReads, vaultAtoms } from './upstream-pool.ts';

/**
 * A pool under the upstream's names, from chain data alone and in two reads. `tvlUsdc` and `stats` need a price
 * history and are absent, as are rewards and the volatility part of an adaptive fee. Undefined when the account is not a Whirlpool.
 * @throws AppError UPSTREAM_FAILED when the chain cannot be read, or a vault or mint does not match the pool
 */
export async function readPoolFromChain(
  d: ChainReads & { now: () => number },
  address: string,
): Promise<string | undefined> {
  const [account] = (await d.readAccounts([address])).accounts;
  const pool = account?.owner === WHIRLPOOL_PROGRAM ? decodeWhirlpool(account.data) : undefined;
  if (!pool) return undefined;

  const { slot, accounts } = await d.readAccounts([
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

  return stringifyJson({
    data: {
      address,
      ...pool,
      tokenBalanceA: vaultAtoms(vaultA, pool.tokenMintA),
      tokenBalanceB: vaultAtoms(vaultB, pool.tokenMintB),
      tokenA: tokenOf(pool.tokenMintA, mintA, metaplexA),
      tokenB: tokenOf(pool.tokenMintB, mintB, metaplexB),
      price: priceFromSqrtPrice(pool.sqrtPrice, mintA.decimals, mintB.decimals),
      swapFeePercentDisplay: feePercent(pool.feeRate),
      updatedAt: new Date(d.now()).toISOString(),
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

function tokenOf(address: string, mint: Mint, metaplex: ChainAccount | null | undefined) {
  const metadata =
    metadataInMint(address, mint) ??
    (metaplex?.owner === METAPLEX_PROGRAM ? decodeMetaplexMetadata(address, metaplex.data) : undefined);
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
