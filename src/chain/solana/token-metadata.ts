/**
 * Reads a token's names and the authorities that can still change it. They are in the metadata extension of a
 * Token-2022 mint, or in the mint's Metaplex account. Metadata that names a different mint is ignored.
 * @see solana-program/token-metadata interface/src/state.rs
 * @see metaplex-foundation/mpl-token-metadata programs/token-metadata/program/src/state/metadata.rs
 * @module
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { type ByteReader, createByteReader } from './byte-reader.ts';
import { addressSeed, programAddress } from './program-address.ts';
import type { Mint } from './token-program.ts';

export const METAPLEX_PROGRAM = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s';

export type TokenMetadata = { readonly name: string; readonly symbol: string; readonly uri: string };

/** Extension types of Token-2022. */
const METADATA_POINTER = 18;
const TOKEN_METADATA = 19;
/** First byte of Metaplex's account: Key::MetadataV1. */
const METADATA_V1 = 4;

export const metaplexAddress = (mint: string): string =>
  programAddress(METAPLEX_PROGRAM, [
    utf8ToBytes('metadata'),
    addressSeed(METAPLEX_PROGRAM),
    addressSeed(mint),
  ]);

/**
 * The metadata inside a Token-2022 mint, if its pointer names the mint itself; other pointers are not
 * followed.
 */
export function metadataInMint(address: string, { extensions }: Mint): TokenMetadata | undefined {
  const pointer = extensions.get(METADATA_POINTER);
  const metadata = extensions.get(TOKEN_METADATA);
  if (!pointer || !metadata) return undefined;
  return readOrNothing(() => {
    const read = createByteReader(pointer);
    read.address(); // authority over the pointer
    return read.address() === address ? readMetadata(createByteReader(metadata), address) : undefined;
  });
}

/** The metadata in a mint's Metaplex account. The caller checks the owner program. */
export function decodeMetaplexMetadata(mint: string, data: Uint8Array): TokenMetadata | undefined {
  if (data[0] !== METADATA_V1) return undefined;
  return readOrNothing(() => readMetadata(createByteReader(data, 1), mint));
}

/**
 * Update authority, mint, name, symbol, uri: both standards begin with these fields. Metaplex pads with zero
 * bytes.
 */
function readMetadata(read: ByteReader, mint: string): TokenMetadata | undefined {
  read.address(); // update authority
  if (read.address() !== mint) return undefined;
  const text = () => read.string().replaceAll('\0', '').trim();
  return { name: text(), symbol: text(), uri: text() };
}

function readOrNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

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
  // The pointer's authority can switch to another metadata account, even if this metadata is immutable.
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
  const authority = readOrNothing(() => {
    const read = createByteReader(data, 1);
    const update = read.address();
    read.address(); // mint
    for (let text = 0; text < 3; text++) read.string();
    read.u16(); // seller fee, in basis points
    if (read.u8() === 1) read.bytes(read.u32() * CREATOR_BYTES);
    read.u8(); // primary sale happened
    return read.u8() === 1 ? update : null;
  });
  return authority ?? null;
}

/** Bytes of a creator: key, verified flag, share. */
const CREATOR_BYTES = 32 + 1 + 1;
