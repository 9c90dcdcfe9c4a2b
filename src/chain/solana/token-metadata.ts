/**
 * Reads a token's name, symbol and URI, and the authorities that can still change the token. They are in the metadata
 * extension of a Token-2022 mint, or in the mint's Metaplex account. Metadata that names a different mint is ignored.
 * @see solana-program/token-metadata interface/src/state.rs
 * @see metaplex-foundation/mpl-token-metadata programs/token-metadata/program/src/state/metadata.rs
 * @module
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import {
  addDecoderSizePrefix,
  fixDecoderSize,
  getAddressDecoder,
  getArrayDecoder,
  getBooleanDecoder,
  getBytesDecoder,
  getNullableDecoder,
  getStructDecoder,
  getU16Decoder,
  getU32Decoder,
  getUtf8Decoder,
} from '@solana/web3.js';
import { orUndefined } from '../../core/or-undefined.ts';
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
  const metadata = extensions.get(TOKEN_METADATA);
  return metadata && pointerTarget(extensions) === address ? readMetadata(metadata, 0, address) : undefined;
}

/**
 * The account that a mint's metadata pointer names; the system program's address means none. Undefined without a
 * pointer.
 */
function pointerTarget(extensions: Mint['extensions']): string | undefined {
  const pointer = extensions.get(METADATA_POINTER);
  return pointer && orUndefined(() => getAddressDecoder().decode(pointer, AFTER_AUTHORITY));
}

/** The metadata in a mint's Metaplex account. The caller checks the owner program. */
export const decodeMetaplexMetadata = (mint: string, data: Uint8Array): TokenMetadata | undefined =>
  data[0] === METADATA_V1 ? readMetadata(data, 1, mint) : undefined;

/**
 * The metadata in a mint or, without it, in the mint's Metaplex account; that account is ignored if another program
 * owns it.
 */
export const metadataOf = (
  address: string,
  mint: Mint,
  metaplex: { readonly owner: string; readonly data: Uint8Array } | null | undefined,
): TokenMetadata | undefined =>
  metadataInMint(address, mint) ??
  (metaplex?.owner === METAPLEX_PROGRAM ? decodeMetaplexMetadata(address, metaplex.data) : undefined);

/** A pointer starts with its authority, of this many bytes. */
const AFTER_AUTHORITY = 32;

/** Borsh string. Metaplex pads with zero bytes, which the decoder drops. */
const text = addDecoderSizePrefix(getUtf8Decoder(), getU32Decoder());
/** Both standards start with these fields. */
const NAMES = [
  ['updateAuthority', getAddressDecoder()],
  ['mint', getAddressDecoder()],
  ['name', text],
  ['symbol', text],
  ['uri', text],
] as const;

function readMetadata(data: Uint8Array, start: number, mint: string): TokenMetadata | undefined {
  const read = orUndefined(() => getStructDecoder(NAMES).decode(data, start));
  if (read?.mint !== mint) return undefined;
  return { name: read.name.trim(), symbol: read.symbol.trim(), uri: read.uri.trim() };
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

/**
 * True if every account that may hold the names of a token was read and understood. If not, some authority over them
 * may be missing from `tokenAuthorities`.
 * @param metaplex data of the mint's Metaplex account, if there is one
 */
export function areNamesUnderstood(address: string, mint: Mint, metaplex: Uint8Array | undefined): boolean {
  if (metaplex && !readMetaplex(metaplex)) return false;
  if (!mint.extensions.has(METADATA_POINTER)) return true;
  const target = pointerTarget(mint.extensions);
  if (target === address) return metadataInMint(address, mint) !== undefined;
  return target === NO_KEY || (target === metaplexAddress(address) && metaplex !== undefined);
}

/** OptionalNonZeroPubkey: all zeros mean no key; they decode as the system program's address. */
function leadingKey(value: Uint8Array | undefined): string | null {
  if (value === undefined || value.length < 32) return null;
  const authority = getAddressDecoder().decode(value);
  return authority === NO_KEY ? null : authority;
}

/** Bytes of a creator: key, verified flag, share. */
const CREATOR_BYTES = 32 + 1 + 1;
const METAPLEX = getStructDecoder([
  ...NAMES,
  ['sellerFeeBps', getU16Decoder()],
  ['creators', getNullableDecoder(getArrayDecoder(fixDecoderSize(getBytesDecoder(), CREATOR_BYTES)))],
  ['isSold', getBooleanDecoder()],
  ['isMutable', getBooleanDecoder()],
]);

/** The authority of a Metaplex account; null if the account is marked as immutable. */
function metaplexAuthority(data: Uint8Array): string | null {
  const read = readMetaplex(data);
  return read?.isMutable ? read.updateAuthority : null;
}

const readMetaplex = (data: Uint8Array) =>
  data[0] === METADATA_V1 ? orUndefined(() => METAPLEX.decode(data, 1)) : undefined;
