import { getWhirlpoolDecoder } from '@orca-so/whirlpools-client';
import { type Answer, json, text, type WorldRequest } from '../kit/transport.ts';
import type { FaultBook } from './fault-book.ts';
import { startUpstream, type Upstream } from './fault-gate.ts';
import type { WorldPool, WorldPools } from './orca-pools.ts';
import type { RequestCounts } from './request-counts.ts';
import type { SolanaLedger } from './solana-ledger.ts';
import { readTokenAccount } from './token-account.ts';

export interface OrcaOptions {
  readonly ledger: SolanaLedger;
  readonly pools: WorldPools;
  readonly faults: FaultBook;
  readonly counts: RequestCounts;
}

const PATH = /^\/v2\/solana\/pools\/([^/]+)$/;

/**
 * Orca's public API for single pools. State and balances are from the chain; volumes are invented. Its own fault is
 * `unlisted` (404).
 */
export function startOrca({ ledger, pools, faults, counts }: OrcaOptions): Promise<Upstream> {
  const listed = new Map<string, WorldPool>(
    Object.values(pools).map((pool: WorldPool) => [pool.address, pool]),
  );

  async function handle({ method, path, label }: WorldRequest): Promise<Answer> {
    const word = PATH.exec(path)?.[1];
    if (method !== 'GET' || word === undefined) return text(404, 'Not Found');
    const pool = listed.get(word);
    if (pool === undefined || faults.take('orca', 'unlisted', label, path) !== null)
      return json(404, { error: 'Whirlpool not found' });
    return json(200, { data: await show(pool), meta: { cursor: null } });
  }

  async function show(pool: WorldPool): Promise<unknown> {
    const slot = ledger.clock.slot('confirmed');
    const account = await ledger.account(pool.address, slot);
    if (account === null) throw new Error(`pool ${pool.address} is gone`);
    const state = getWhirlpoolDecoder().decode(account.data);
    const balance = async (vault: string) =>
      readTokenAccount(await ledger.account(vault, slot))?.amount ?? 0n;
    const { tokenA, tokenB } = pool;
    const token = ({ mint, name, symbol, decimals, program }: WorldPool['tokenA']) => ({
      address: mint,
      programId: program,
      imageUrl: '',
      name,
      symbol,
      decimals,
      tags: [],
    });
    const raw = (Number(state.sqrtPrice) / 2 ** 64) ** 2;
    const tier = (state.feeTierIndexSeed[0] ?? 0) + 256 * (state.feeTierIndexSeed[1] ?? 0);
    const [balanceA, balanceB] = [await balance(state.tokenVaultA), await balance(state.tokenVaultB)];
    // Each pool has a dollar token on one side, and about the same value on both.
    const [dollars, atoms] = tokenA.symbol.includes('USD') ? [tokenA, balanceA] : [tokenB, balanceB];
    const value = (2 * Number(atoms)) / 10 ** dollars.decimals;
    const fees = value * 0.67 * (state.feeRate / 1_000_000);
    const stats = {
      volume: (value * 0.67).toFixed(1),
      fees: fees.toFixed(2),
      rewards: '0',
      yieldOverTvl: (value === 0 ? 0 : fees / value).toFixed(5),
    };
    return {
      address: pool.address,
      whirlpoolsConfig: state.whirlpoolsConfig,
      whirlpoolBump: [...state.whirlpoolBump],
      tickSpacing: state.tickSpacing,
      tickSpacingSeed: [...state.feeTierIndexSeed],
      feeTierIndex: tier,
      feeRate: state.feeRate,
      protocolFeeRate: state.protocolFeeRate,
      liquidity: String(state.liquidity),
      sqrtPrice: String(state.sqrtPrice),
      tickCurrentIndex: state.tickCurrentIndex,
      protocolFeeOwedA: String(state.protocolFeeOwedA),
      protocolFeeOwedB: String(state.protocolFeeOwedB),
      tokenMintA: state.tokenMintA,
      tokenMintB: state.tokenMintB,
      tokenVaultA: state.tokenVaultA,
      tokenVaultB: state.tokenVaultB,
      feeGrowthGlobalA: String(state.feeGrowthGlobalA),
      feeGrowthGlobalB: String(state.feeGrowthGlobalB),
      price: (raw * 10 ** (tokenA.decimals - tokenB.decimals)).toFixed(20),
      tvlUsdc: value.toFixed(2),
      tokenBalanceA: String(balanceA),
      tokenBalanceB: String(balanceB),
      stats: { '24h': stats, '7d': stats, '30d': stats },
      tokenA: token(tokenA),
      tokenB: token(tokenB),
      rewards: [],
      adaptiveFeeEnabled: tier !== state.tickSpacing,
      poolType: 'whirlpool',
      hasWarning: false,
      updatedSlot: slot,
      writeVersion: 1_459_165_811_157,
    };
  }

  return startUpstream({ name: 'orca', faults, counts, handle });
}
