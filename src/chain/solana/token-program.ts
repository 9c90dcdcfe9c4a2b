/**
 * The two programs for fungible tokens, and how Token-2022 appends extensions to their accounts.
 * @see solana-program/token-2022 interface/src/{state.rs,extension/mod.rs}
 * @module
 */
import { createByteReader } from './byte-reader.ts';

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

/** Both kinds of account are padded to the length of a token account; extensions follow. */
const PADDED_LENGTH = 165;
/** The length of a multisig account. Only this length distinguishes it from an account with extensions. */
const MULTISIG_LENGTH = 355;

const KINDS = { mint: { base: 82, mark: 1 }, account: { base: 165, mark: 2 } } as const;

/**
 * Extension values by type, empty for a plain account; undefined when the data is of a different kind.
 *
 * @param owner program that owns the account
 */
export function tokenExtensions(
  owner: string,
  data: Uint8Array,
  kind: keyof typeof KINDS,
): ReadonlyMap<number, Uint8Array> | undefined {
  const { base, mark } = KINDS[kind];
  if (data.length === base && (owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM)) return new Map();
  const extended = owner === TOKEN_2022_PROGRAM && data.length > PADDED_LENGTH;
  if (!extended || data.length === MULTISIG_LENGTH || data[PADDED_LENGTH] !== mark) return undefined;
  const read = createByteReader(data, PADDED_LENGTH + 1);
  const extensions = new Map<number, Uint8Array>();
  while (read.left() >= 4) {
    const type = read.u16();
    const length = read.u16();
    // Type 0 is unused space. A value longer than the remaining bytes means that no list follows.
    if (type === 0 || length > read.left()) break;
    extensions.set(type, read.bytes(length));
  }
  return extensions;
}

/** Owner, mint and balance. @see solana-program/token interface/src/state.rs (`Account`) */
export type TokenAccount = { readonly mint: string; readonly owner: string; readonly atoms: bigint };

/** State byte after the 36 bytes of the delegate; 0 means that the account was never initialized. */
const STATE_OFFSET = 108;

/**
 * @param owner program that owns the account
 * @returns undefined for anything except a live token account
 */
export function decodeTokenAccount(owner: string, data: Uint8Array): TokenAccount | undefined {
  if (!tokenExtensions(owner, data, 'account') || data[STATE_OFFSET] === 0) return undefined;
  const read = createByteReader(data);
  return { mint: read.address(), owner: read.address(), atoms: read.u64() };
}

const DELEGATE_OFFSET = 72;
const ALLOWANCE_OFFSET = 121;

/**
 * Atoms of one mint that a key may move out of a token account. An owner may move all, a delegate up to the allowance.
 * 0 for any other account.
 *
 * @param owner program that owns the account
 */
export function movableAtoms(owner: string, data: Uint8Array, mint: string, key: string): bigint {
  const account = decodeTokenAccount(owner, data);
  if (account?.mint !== mint) return 0n;
  if (account.owner === key) return account.atoms;
  const delegation = createByteReader(data, DELEGATE_OFFSET);
  if (delegation.u32() !== 1 || delegation.address() !== key) return 0n;
  const allowance = createByteReader(data, ALLOWANCE_OFFSET).u64();
  return allowance < account.atoms ? allowance : account.atoms;
}

/** A mint: the supply of a token and its decimals. @see solana-program/token interface/src/state.rs (`Mint`) */
export type Mint = {
  /** The program that owns the mint. */
  readonly program: string;
  /** Mint authority; null if none. */
  readonly mintAuthority: string | null;
  /** Freeze authority; null if none. */
  readonly freezeAuthority: string | null;
  /** Supply in atoms. */
  readonly supply: bigint;
  readonly decimals: number;
  /** Values by type; empty under the classic program. */
  readonly extensions: ReadonlyMap<number, Uint8Array>;
};

/**
 * @param owner program that owns the account
 * @returns undefined for anything except an initialized mint
 */
export function decodeMint(owner: string, data: Uint8Array): Mint | undefined {
  const extensions = tokenExtensions(owner, data, 'mint');
  if (!extensions) return undefined;
  const read = createByteReader(data);
  const hasAuthority = read.u32() === 1;
  const authority = read.address();
  const supply = read.u64();
  const decimals = read.u8();
  if (read.u8() === 0) return undefined;
  const canFreeze = read.u32() === 1;
  const freezer = read.address();
  return {
    program: owner,
    mintAuthority: hasAuthority ? authority : null,
    freezeAuthority: canFreeze ? freezer : null,
    supply,
    decimals,
    extensions,
  };
}
