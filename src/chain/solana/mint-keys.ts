/**
 * Who can mint a token, from the bytes of its accounts. It avoids the Solana library, because the page that checks the
 * proof loads this module.
 * @see solana-program/token interface/src/state.rs (Mint, Multisig)
 * @module
 */
import { base58 } from '@scure/base';

/**
 * The mint authority, its keys, and how many of them must sign. An authority that is not a multisig is its own only
 * key.
 */
export type MintKeys =
  | { readonly authority: null }
  | { readonly authority: string; readonly required: number; readonly signers: readonly string[] };

const KEY_BYTES = 32;
/** Offset of the mint authority's key, after a u32 tag. */
const AUTHORITY_AT = 4;
/** Offset of the eleven keys, which follow m, n and the initialization flag. */
const SIGNERS_AT = 3;
const MULTISIG_LENGTH = SIGNERS_AT + 11 * KEY_BYTES;

/** An account as a node shows it. */
export type OwnedAccount = { readonly owner: string; readonly data: Uint8Array };

const keyAt = (data: Uint8Array, at: number): string => base58.encode(data.slice(at, at + KEY_BYTES));

/** The mint authority; null if minting is disabled for good, undefined for too few bytes. */
export function mintAuthorityOf(mint: Uint8Array): string | null | undefined {
  if (mint.length < AUTHORITY_AT + KEY_BYTES) return undefined;
  return mint[0] === 0 ? null : keyAt(mint, AUTHORITY_AT);
}

/** `two_keys`: the custodian's key and one other, both required. `other`: an authority that is not the custodian's. */
export type Minter = 'nobody' | 'reserve' | 'two_keys' | 'other';

/** @param reserve the custodian's address */
export function minterOf(keys: MintKeys, reserve: string | null): Minter {
  if (keys.authority === null) return 'nobody';
  const { authority, required, signers } = keys;
  const others = signers.filter((key) => key !== reserve);
  const isPair = signers.length === 2 && others.length === 1;
  if (isPair && required === 2) return 'two_keys';
  return authority === reserve ? 'reserve' : 'other';
}

/**
 * @param program that owns the mint; it treats an authority owned by any other program as a single signer, whatever its
 * bytes
 * @param account at the address of the authority; null if there is none
 */
export function mintKeysOf(
  program: string,
  authority: string | null,
  account: OwnedAccount | null,
): MintKeys {
  if (authority === null) return { authority };
  const data = account?.owner === program ? account.data : new Uint8Array();
  const isMultisig = data.length === MULTISIG_LENGTH && data[2] === 1;
  if (!isMultisig) return { authority, required: 1, signers: [authority] };
  const [required = 0, count = 0] = data;
  const signers = Array.from({ length: count }, (_, at) => keyAt(data, SIGNERS_AT + at * KEY_BYTES));
  return { authority, required, signers };
}
