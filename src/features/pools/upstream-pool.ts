/**
 * The members of the upstream's pool that are read: enough to recognize a pool and to see whether its
 * balances need correction.
 * @module
 */
import * as z from 'zod';
import { numberText, parseUpstreamJson } from '../../core/json.ts';

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
