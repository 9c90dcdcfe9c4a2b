/**
 * The authorities that can still change a token, from its accounts.
 * @see solana-program/token interface/src/state.rs (`Mint`)
 * @see solana-program/token-metadata interface/src/state.rs
 * @see metaplex-foundation/mpl-token-metadata programs/token-metadata/program/src/state/metadata.rs
 * @module
 */
import { createByteReader } from './byte-reader.ts';
import { METADATA_POINTER, METADATA_V1, metadataInMint, TOKEN_METADATA } from './token-metadata-read.ts';
import type { Mint } from './token-program.ts';

/** Addresses; null if the authority was revoked permanently. */
export type TokenAuthorities = {
  readonly mintAuthority: string | null;
  readonly freezeAuthority: string | null;
  /** Authority over name, symbol and uri, or over the pointer to them. */
  readonly updateAuthority: string | null;
};

const NO_KEY = '11111111111111111111111111111111';

/**
 * @param address  of the mint
 * @param metaplex data of the mint's Metaplex account, if there is one
 */
export function tokenAuthorities(
  address: string,
  mint: Mint,
  metaplex: Uint8Array | undefined,
): TokenAuthorities {
  const { mintAuthority, freezeAuthority, extensions } = mint;
  // The metadata that wallets show: a mint may contain other metadata without a pointer to it.
  const inMint = metadataInMint(address, mint) && extensions.get(TOKEN_METADATA);
  const ofNames = inMint ? leadingKey(inMint) : metaplex ? metaplexAuthority(metaplex) : null;
  // The pointer's authority can point to another name, even if this one is immutable.
  const updateAuthority = ofNames ?? leadingKey(extensions.get(METADATA_POINTER));
  return { mintAuthority, freezeAuthority, updateAuthority };
}

/** OptionalNonZeroPubkey: all zeros mean none, and decode as the system program's address. */
function leadingKey(value: Uint8Array | undefined): string | null {
  if (value === undefined || value.length < 32) return null;
  const authority = createByteReader(value).address();
  return authority === NO_KEY ? null : authority;
}

/** Null when the account is marked as immutable. */
function metaplexAuthority(data: Uint8Array): string | null {
  if (data[0] !== METADATA_V1) return null;
  try {
    const read = createByteReader(data, 1);
    const authority = read.address();
    read.address(); // mint
    for (let text = 0; text < 3; text++) read.string();
    read.u16(); // seller fee, in basis points
    if (read.u8() === 1) read.bytes(read.u32() * CREATOR_BYTES);
    read.u8(); // primary sale happened
    return read.u8() === 1 ? authority : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** A creator: key, verified, share. */
const CREATOR_BYTES = 32 + 1 + 1;
