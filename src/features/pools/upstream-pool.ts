/**
 * What is read of the upstream's pool: enough to know that it is one and whether its balances need mending.
 * @module
 */
import * as z from 'zod';
import { numberText, parseUpstreamJson } from '../../core/json.ts';

/** A member of another type than documented is no reason to doubt the rest. */
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

/** A body that has none of these is an answer about something else. */
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

/** The pool in an upstream body, or undefined when the body has none or another one. */
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

/** Both balances are there and zero: what the upstream sends for pools whose vaults it does not follow. */
export const hasZeroBalances = (pool: UpstreamPool): boolean =>
  isZero(pool.tokenBalanceA) && isZero(pool.tokenBalanceB);

function isZero(value: unknown): boolean {
  const text = numberText(value);
  return text !== undefined && /^-?0+(\.0*)?([eE][+-]?\d+)?$/.test(text);
}
