import { decodeTokenAccount } from '../../chain/solana/token-program.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { ChainAccount } from '../../providers/solana-rpc.ts';
import { spliceJson } from './splice-json.ts';
import type { UpstreamPool } from './upstream-pool.ts';

export type ChainReads = {
  /** Accounts of one slot in the given order, null if absent. */
  readAccounts: (
    addresses: readonly string[],
  ) => Promise<{ slot: bigint; accounts: readonly (ChainAccount | null)[] }>;
};

/**
 * The upstream's text with both balances from the vaults, in atoms; all other bytes are unchanged.
 * @throws AppError UPSTREAM_FAILED when the vaults cannot be read
 */
export async function correctBalances(d: ChainReads, text: string, pool: UpstreamPool): Promise<string> {
  const { tokenVaultA, tokenVaultB } = pool;
  if (tokenVaultA === undefined || tokenVaultB === undefined) throw upstreamFailed('orca', 'no_vaults');
  const { accounts } = await d.readAccounts([tokenVaultA, tokenVaultB]);
  const [vaultA, vaultB] = accounts;
  const atomsA = vaultAtoms(vaultA, pool.tokenMintA);
  const atomsB = vaultAtoms(vaultB, pool.tokenMintB);
  return spliceJson(text, 'data', {
    tokenBalanceA: inTheFormOf(pool.tokenBalanceA, atomsA),
    tokenBalanceB: inTheFormOf(pool.tokenBalanceB, atomsB),
    vault_balances_source: '"chain_rpc"',
  });
}

/**
 * Throws instead of returning zero, which would look like a real balance. @throws AppError UPSTREAM_FAILED
 */
export function vaultAtoms(account: ChainAccount | null | undefined, mint: string | undefined): bigint {
  const vault = account ? decodeTokenAccount(account.owner, account.data) : undefined;
  if (!vault) throw upstreamFailed('solana-rpc', 'vault_is_no_token_account');
  if (mint !== undefined && vault.mint !== mint) throw upstreamFailed('solana-rpc', 'vault_of_another_mint');
  return vault.atoms;
}

/** The upstream writes balances as text; a number stays a number. */
const inTheFormOf = (old: unknown, atoms: bigint): string =>
  typeof old === 'string' ? `"${atoms}"` : atoms.toString();
