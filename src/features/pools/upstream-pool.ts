/**
 * The members of the upstream's pool that are read: enough to recognize a pool, and to correct its balances.
 * @module
 */
import * as z from 'zod';
import { decodeTokenAccount } from '../../chain/solana/token-program.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { numberText, parseUpstreamJson, tryJson } from '../../core/json.ts';
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

/** A body without any of these is not a pool. */
const POOL_MEMBERS = ['address', 'price', 'tokenMintA', 'tokenA', 'tokenBalanceA'];

export type UpstreamPool = z.infer<typeof PoolBody>['data'];

/** The pool in an upstream body; undefined when the body has none or a different one. */
export function readUpstreamPool(text: string, address: string): UpstreamPool | undefined {
  const parsed = PoolBody.safeParse(tryJson(text, parseUpstreamJson));
  if (!parsed.success) return undefined;
  const pool = parsed.data.data;
  if (POOL_MEMBERS.every((name) => pool[name] === undefined)) return undefined;
  return (pool.address ?? address) === address ? pool : undefined;
}

/** Both balances are present and zero: the upstream's response for pools whose vaults it does not follow. */
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

type Member = { readonly key: string; readonly start: number; readonly end: number };

const SPACE = /[\t\n\r ]/;
const LITERAL_END = /[\t\n\r ,\]}]/;

/**
 * Sets members of the object under `name` in the text's top-level object. Every other byte stays unchanged:
 * parsing and writing the text again would change numbers, escapes and order.
 *
 * @param text   valid JSON whose top level is an object
 * @param values JSON texts by member name; a missing member is inserted first, a duplicate one is set twice
 */
export function spliceJson(text: string, name: string, values: Readonly<Record<string, string>>): string {
  const edits: { start: number; end: number; text: string }[] = [];
  for (const object of membersOf(text, skipSpace(text, 0))) {
    if (object.key !== name || text[object.start] !== '{') continue;
    const members = membersOf(text, object.start);
    const missing = Object.keys(values).filter((key) => members.every((member) => member.key !== key));
    const added = missing.map((key) => `${JSON.stringify(key)}:${values[key]}`).join(',');
    const comma = added && members.length > 0 ? ',' : '';
    edits.push({ start: object.start + 1, end: object.start + 1, text: added + comma });
    for (const { key, start, end } of members) {
      const value = Object.hasOwn(values, key) ? values[key] : undefined;
      if (value !== undefined) edits.push({ start, end, text: value });
    }
  }
  return edits.reduceRight(
    (done, edit) => done.slice(0, edit.start) + edit.text + done.slice(edit.end),
    text,
  );
}

/** The positions of an object's member values. */
function membersOf(text: string, open: number): Member[] {
  const members: Member[] = [];
  let at = skipSpace(text, open + 1);
  while (text[at] === '"') {
    const keyEnd = skipString(text, at);
    const key = JSON.parse(text.slice(at, keyEnd)) as string;
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    members.push({ key, start, end });
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && SPACE.test(text.charAt(at))) at += 1;
  return at;
}

function skipString(text: string, quote: number): number {
  let at = quote + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function skipValue(text: string, start: number): number {
  let at = start;
  let depth = 0;
  do {
    const char = text.charAt(at);
    if (char === '"') at = skipString(text, at);
    else if (char === '{' || char === '[') {
      depth += 1;
      at += 1;
    } else if (char === '}' || char === ']') {
      depth -= 1;
      at += 1;
    } else if (depth > 0) at += 1;
    else while (at < text.length && !LITERAL_END.test(text.charAt(at))) at += 1;
  } while (depth > 0 && at < text.length);
  return at;
}
