/**
 * The members that are read from the upstream's pool, to identify it and to correct its balances.
 * @module
 */
import * as z from 'zod';
import { decodeTokenAccount } from '../../chain/solana/token-program.ts';
import { upstreamFailed } from '../../core/errors.ts';
import {
  ExactNumber,
  numberText,
  parseJson,
  parseUpstreamJson,
  stringifyJson,
  tryJson,
} from '../../core/json.ts';
import type { ChainAccount } from '../../providers/solana-rpc.ts';

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

/** A body that lacks all of these is not a pool. */
const POOL_MEMBERS = ['address', 'price', 'tokenMintA', 'tokenA', 'tokenBalanceA'];

export type UpstreamPool = z.infer<typeof PoolBody>['data'];

/** The pool in an upstream body; undefined if the body has no pool or a different one. */
export function readUpstreamPool(text: string, address: string): UpstreamPool | undefined {
  const pool = poolIn(text);
  return pool && (pool.address ?? address) === address ? pool : undefined;
}

/** Whether the body is about a pool other than the requested one. */
export const isOtherPool = (text: string, address: string): boolean =>
  (poolIn(text)?.address ?? address) !== address;

function poolIn(text: string): UpstreamPool | undefined {
  const parsed = PoolBody.safeParse(tryJson(text, parseUpstreamJson));
  if (!parsed.success) return undefined;
  const pool = parsed.data.data;
  return POOL_MEMBERS.every((name) => pool[name] === undefined) ? undefined : pool;
}

/** True if both balances are present and zero, as the upstream returns for pools whose vaults it does not track. */
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
 * The upstream's JSON with both balances from the vaults, in atoms. Every other member keeps its value and every number
 * keeps its digits.
 * @throws AppError UPSTREAM_FAILED when the vaults cannot be read
 */
export async function correctBalances(chain: ChainReads, text: string, pool: UpstreamPool): Promise<string> {
  const { tokenVaultA, tokenVaultB } = pool;
  if (tokenVaultA === undefined || tokenVaultB === undefined) throw upstreamFailed('orca', 'no_vaults');
  const { accounts } = await chain.readAccounts([tokenVaultA, tokenVaultB]);
  const [vaultA, vaultB] = accounts;
  const { data, ...others } = Corrected.parse(parseJson(text));
  return stringifyJson({
    ...others,
    data: {
      ...data,
      tokenBalanceA: inTheFormOf(pool.tokenBalanceA, vaultAtoms(vaultA, pool.tokenMintA)),
      tokenBalanceB: inTheFormOf(pool.tokenBalanceB, vaultAtoms(vaultB, pool.tokenMintB)),
      vault_balances_source: 'chain_rpc',
    },
  });
}

const Corrected = z.looseObject({ data: z.looseObject({}) });

/**
 * Throws instead of returning zero, which would look like a real balance. @throws AppError UPSTREAM_FAILED
 */
export function vaultAtoms(account: ChainAccount | null | undefined, mint: string | undefined): bigint {
  const vault = account ? decodeTokenAccount(account.owner, account.data) : undefined;
  if (!vault) throw upstreamFailed('solana-rpc', 'vault_is_no_token_account');
  if (mint !== undefined && vault.mint !== mint) throw upstreamFailed('solana-rpc', 'vault_of_another_mint');
  return vault.atoms;
}

/** Writes atoms in the old value's type: a string for a string, as the upstream sends, and a number for a number. */
const inTheFormOf = (old: unknown, atoms: bigint): string | ExactNumber =>
  typeof old === 'string' ? atoms.toString() : new ExactNumber(atoms.toString());
