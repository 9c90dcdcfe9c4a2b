/**
 * The two programs for fungible tokens, and how Token-2022 appends extensions to their accounts.
 * @see solana-program/token-2022 interface/src/{state.rs,extension/mod.rs}
 * @module
 */
import { unwrapOption } from '@solana/web3.js';
import {
  AccountState,
  getMintDecoder,
  getMultisigDecoder,
  getTokenDecoder,
  type Token,
} from '@solana-program/token';
import { orUndefined } from '../../core/or-undefined.ts';

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

/** Both kinds of account are padded to the length of a token account; extensions follow. */
const PADDED_LENGTH = 165;
/** The length of a multisig account. Only this length distinguishes it from an account with extensions. */
const MULTISIG_LENGTH = 355;

const KINDS = { mint: { base: 82, mark: 1 }, account: { base: 165, mark: 2 } } as const;

/** Extension values by type. */
type Extensions = {
  readonly extensions: ReadonlyMap<number, Uint8Array>;
  /**
   * True if trailing bytes are not an extension, or if a type occurs twice. The account is then not fully understood.
   */
  readonly hasUnreadBytes: boolean;
};

/**
 * The extensions of a mint or token account; none for a plain account. Undefined if the data is of a different kind.
 *
 * @param owner program that owns the account
 */
function tokenExtensions(owner: string, data: Uint8Array, kind: keyof typeof KINDS): Extensions | undefined {
  const { base, mark } = KINDS[kind];
  if (data.length === base && (owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM))
    return { extensions: new Map(), hasUnreadBytes: false };
  const extended = owner === TOKEN_2022_PROGRAM && data.length > PADDED_LENGTH;
  if (!extended || data.length === MULTISIG_LENGTH || data[PADDED_LENGTH] !== mark) return undefined;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const extensions = new Map<number, Uint8Array>();
  let at = PADDED_LENGTH + 1;
  while (at + 4 <= data.length) {
    const type = view.getUint16(at, true);
    const end = at + 4 + view.getUint16(at + 2, true);
    // Type 0 is unused space. A value longer than the remaining bytes means that these are not extensions.
    if (type === 0 || end > data.length || extensions.has(type)) break;
    extensions.set(type, data.slice(at + 4, end));
    at = end;
  }
  return { extensions, hasUnreadBytes: data.subarray(at).some((byte) => byte !== 0) };
}

/** The token account in these bytes; undefined for anything except a live one. */
function liveAccount(owner: string, data: Uint8Array): Token | undefined {
  if (!tokenExtensions(owner, data, 'account')) return undefined;
  const account = orUndefined(() => getTokenDecoder().decode(data));
  return account?.state === AccountState.Uninitialized ? undefined : account;
}

export type TokenAccount = { readonly mint: string; readonly owner: string; readonly atoms: bigint };

/**
 * @param owner program that owns the account
 * @returns undefined for anything except a live token account
 */
export function decodeTokenAccount(owner: string, data: Uint8Array): TokenAccount | undefined {
  const account = liveAccount(owner, data);
  return account && { mint: account.mint, owner: account.owner, atoms: account.amount };
}

/**
 * Atoms of one mint that a key may move out of a token account. An owner may move all, a delegate up to the allowance.
 * 0 for any other account.
 *
 * @param owner program that owns the account
 */
export function movableAtoms(owner: string, data: Uint8Array, mint: string, key: string): bigint {
  const account = liveAccount(owner, data);
  if (account?.mint !== mint) return 0n;
  const { amount, delegate, delegatedAmount } = account;
  if (account.owner === key) return amount;
  if (unwrapOption(delegate) !== key) return 0n;
  return delegatedAmount < amount ? delegatedAmount : amount;
}

/** The keys of a native multisig account, and how many of them must sign. */
export type Multisig = { readonly required: number; readonly signers: readonly string[] };

/**
 * @param owner program that owns the account
 * @returns undefined for anything except an initialized multisig account
 */
export function decodeMultisig(owner: string, data: Uint8Array): Multisig | undefined {
  if (data.length !== MULTISIG_LENGTH || (owner !== TOKEN_PROGRAM && owner !== TOKEN_2022_PROGRAM))
    return undefined;
  const { m: required, n, isInitialized, signers } = getMultisigDecoder().decode(data);
  return isInitialized ? { required, signers: signers.slice(0, n) } : undefined;
}

/** A mint, with a token's supply and decimals. */
export type Mint = Extensions & {
  /** The program that owns the mint. */
  readonly program: string;
  readonly mintAuthority: string | null;
  readonly freezeAuthority: string | null;
  /** Supply in atoms. */
  readonly supply: bigint;
  readonly decimals: number;
};

/**
 * @param owner program that owns the account
 * @returns undefined for anything except an initialized mint
 */
export function decodeMint(owner: string, data: Uint8Array): Mint | undefined {
  const list = tokenExtensions(owner, data, 'mint');
  if (!list) return undefined;
  const { isInitialized, mintAuthority, freezeAuthority, supply, decimals } = getMintDecoder().decode(data);
  if (!isInitialized) return undefined;
  return {
    program: owner,
    mintAuthority: unwrapOption(mintAuthority),
    freezeAuthority: unwrapOption(freezeAuthority),
    supply,
    decimals,
    ...list,
  };
}
