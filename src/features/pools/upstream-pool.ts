/**
 * The members of the upstream's pool that are read: enough to recognize a pool, and to correct its balances.
 * @module
 */
import * as z from 'zod';
import { decodeTokenAccount } from '../../chain/solana/token-program.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { numberText, parseUpstreamJson } from '../../core/json.ts';
import type { ChainAccount } from '../../providers/solana-rpc.ts';
import { spliceJson } from './splice-json.ts';

/** A member of an unexpected type does not invalidate the rest. */
const text = z.string().optional().catch(undefined);

const PoolBody = z.object({
  data: z.looseObject({
    address: z.string().optional(),
    tokenMintA: text,
    tokenMintB: text,
    tokenVaultA: text,
    tokenVaultB: text,
    tokenBalanceA: z.unknown().optional(),
    tokenBalanceB: z.unknown().optional(),
  }),
});

/** A body without any of these is not a pool. */
const POOL_MEMBERS = ['address', 'price', 'tokenMintA', 'tokenA', 'tokenBalanceA'];

export type UpstreamPool = z.infer<typeof PoolBody>['data'];

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The pool in an upstream body; undefined when the body has none or a different one. */
export function readUpstreamPool(text: string, address: string): UpstreamPool | undefined {
  let body: unknown;
  try {
    body = parseUpstreamJson(text);
  } catch {
    return undefined;
  }
  const parsed = PoolBody.safeParse(body);
  if (!parsed.success) return undefined;
  const pool = parsed.data.data;
  if (POOL_MEMBERS.every((name) => pool[name] === undefined)) return undefined;
  return (pool.address ?? address) === address ? pool : undefined;
}

/** Both balances are present and zero: the upstream's answer for pools whose vaults it does not follow. */
export const hasZeroBalances = (pool: UpstreamPool): boolean =>
  isZero(pool.tokenBalanceA) && isZero(pool.tokenBalanceB);

function isZero(value: unknown): boolean {
  const text = numberText(value);
  return text !== undefined && /^-?0+(\.0*)?([eE][+-]?\d+)?$/.test(text);
}

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
