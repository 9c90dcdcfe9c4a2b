/** The accounts of a Whirlpool on the chain: vaults, mints, names and the oracle. */
import { base64 } from '@scure/base';
import { METAPLEX_PROGRAM, metaplexAddress } from '../../src/chain/solana/token-metadata.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { decodeWhirlpool, oracleAddress, WHIRLPOOL_PROGRAM } from '../../src/chain/solana/whirlpool.ts';
import type { ChainAccount } from '../../src/providers/solana-rpc.ts';
import { oracleBytes } from '../chain/solana/oracle-bytes.ts';
import { extended, metaplexMetadata, namedMint } from '../chain/solana/token-bytes.ts';
import real from '../fixtures/whirlpool-accounts.json' with { type: 'json' };
import { mintData, tokenData } from '../kit/token-accounts.ts';

/** SOL/USDC with a fixed fee, both mints under the classic program with Metaplex names. */
export const FIXED_POOL = 'Czfq3xZZDmsdGdUyrNLtRhGc47cXcZtLG4crryfu44zE';
/** SPYx/USDC with an adaptive fee; SPYx is a Token-2022 mint that names itself. */
export const ADAPTIVE_POOL = 'Fae5dWVntUt6zbWu2voXxioDpMii7SqQwtsxBmoVCsHR';

export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
export const WSOL = 'So11111111111111111111111111111111111111112';
export const SPYX = 'XsoCS1TfEyfFhfvj8EtZ528L3CaKBDBRqRapnBbDF2W';

const account = (owner: string, data: Uint8Array): ChainAccount => ({ owner, lamports: 2_039_280n, data });

export const vault = (mint: string, atoms: bigint, program = TOKEN_PROGRAM): ChainAccount => {
  const base = tokenData([mint, FIXED_POOL], atoms);
  return account(program, program === TOKEN_PROGRAM ? base : extended(base, 2, [[7, new Uint8Array()]]));
};

const mintBytes = (decimals: number): Uint8Array => mintData({ supply: 10n ** 15n, decimals });

export const CONSTANTS = {
  ...{ filterPeriod: 30, decayPeriod: 600, reductionFactor: 500, adaptiveFeeControlFactor: 4_000 },
  ...{ maxVolatilityAccumulator: 100_000, tickGroupSize: 64, majorSwapThresholdTicks: 64 },
};

const poolAccount = (pool: string): ChainAccount => {
  const data = real.accounts.find(({ address: known }) => known === pool)?.data ?? '';
  return account(WHIRLPOOL_PROGRAM, base64.decode(data));
};

export function vaultsOf(pool: string): readonly [string, string] {
  const state = decodeWhirlpool(poolAccount(pool).data);
  if (!state) throw new Error(`no recorded pool ${pool}`);
  return [state.tokenVaultA, state.tokenVaultB];
}

/** Both pools with all their accounts. */
export function chainWithPools(): Map<string, ChainAccount> {
  const [vaultSol, vaultUsdc] = vaultsOf(FIXED_POOL);
  const [vaultSpyx, vaultDollars] = vaultsOf(ADAPTIVE_POOL);
  const spyxNames = { name: 'SP500 xStock', symbol: 'SPYx', uri: 'https://example.org/spyx.json' };
  const spyx = namedMint(SPYX, mintBytes(8), spyxNames);
  const oracle = oracleBytes(ADAPTIVE_POOL, 0n, CONSTANTS, {
    ...{ lastReferenceUpdateTimestamp: 1_787_800_000n, lastMajorSwapTimestamp: 1_787_700_000n },
    ...{ volatilityReference: 5_000, tickGroupIndexReference: 319, volatilityAccumulator: 10_000 },
  });
  const usdcNames = { name: 'USD Coin', symbol: 'USDC', uri: '' };
  return new Map([
    [FIXED_POOL, poolAccount(FIXED_POOL)],
    [vaultSol, vault(WSOL, 123_456_789_012_345n)],
    [vaultUsdc, vault(USDC, 18_446_744_073_709_551_615n)],
    [WSOL, account(TOKEN_PROGRAM, mintBytes(9))],
    [USDC, account(TOKEN_PROGRAM, mintBytes(6))],
    [metaplexAddress(USDC), account(METAPLEX_PROGRAM, metaplexMetadata(USDC, usdcNames))],
    [ADAPTIVE_POOL, poolAccount(ADAPTIVE_POOL)],
    [SPYX, account(TOKEN_2022_PROGRAM, spyx)],
    [vaultSpyx, vault(SPYX, 7_000_000_001n, TOKEN_2022_PROGRAM)],
    [vaultDollars, vault(USDC, 5n)],
    [oracleAddress(ADAPTIVE_POOL), account(WHIRLPOOL_PROGRAM, oracle)],
  ]);
}
