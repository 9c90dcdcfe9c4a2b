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
/** The length of a multisig, which is the only difference from an extended account. */
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
    // Type 0 is unused space. A value that does not fit means that the rest is not a list.
    if (type === 0 || length > read.left()) break;
    extensions.set(type, read.bytes(length));
  }
  return extensions;
}
