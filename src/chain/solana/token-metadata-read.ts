/**
 * Names of tokens in either standard: the metadata extension inside a Token-2022 mint, or the mint's Metaplex
 * account. Metadata about a different mint is ignored.
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
export const METADATA_POINTER = 18;
export const TOKEN_METADATA = 19;
/** First byte of Metaplex's account: Key::MetadataV1. */
export const METADATA_V1 = 4;

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
