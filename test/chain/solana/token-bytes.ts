/** Token-2022 extensions and metadata accounts, written as their programs lay them out. */
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { decodeBase58 } from '../../../src/chain/solana/address.ts';

export const keyBytes = (address: string): Uint8Array => decodeBase58(address, 32) ?? new Uint8Array(32);

function littleEndian(value: number, bytes: number): Uint8Array {
  const out = new Uint8Array(bytes);
  new DataView(out.buffer).setUint32(0, value, true);
  return out.slice(0, bytes);
}

export const u16 = (value: number): Uint8Array => littleEndian(value, 4).slice(0, 2);
export const u32 = (value: number): Uint8Array => littleEndian(value, 4);

/** Borsh string, padded with zero bytes to a length as Metaplex does. */
export function borshString(text: string, length = 0): Uint8Array {
  const bytes = utf8ToBytes(text);
  const padded = new Uint8Array(Math.max(length, bytes.length));
  padded.set(bytes);
  return concatBytes(u32(padded.length), padded);
}

/** A base layout padded to 165 bytes, the account type, and the extensions. */
export function extended(
  base: Uint8Array,
  type: 1 | 2,
  extensions: readonly [number, Uint8Array][],
): Uint8Array {
  const padded = new Uint8Array(165);
  padded.set(base);
  const list = extensions.map(([kind, value]) => concatBytes(u16(kind), u16(value.length), value));
  return concatBytes(padded, Uint8Array.of(type), ...list);
}

type Names = { readonly name: string; readonly symbol: string; readonly uri: string };

/** Value of extension 19 (TokenMetadata), with one additional field. */
export const tokenMetadata = (mint: string, { name, symbol, uri }: Names): Uint8Array =>
  concatBytes(
    new Uint8Array(32),
    keyBytes(mint),
    borshString(name),
    borshString(symbol),
    borshString(uri),
    u32(1),
    borshString('k'),
    borshString('v'),
  );

/** Value of extension 18 (MetadataPointer). */
export const metadataPointer = (target: string): Uint8Array =>
  concatBytes(new Uint8Array(32), keyBytes(target));

/** Metaplex's account of 679 bytes. */
export function metaplexMetadata(mint: string, { name, symbol, uri }: Names): Uint8Array {
  const account = new Uint8Array(679);
  account.set(
    concatBytes(
      Uint8Array.of(4),
      new Uint8Array(32).fill(7),
      keyBytes(mint),
      borshString(name, 32),
      borshString(symbol, 10),
      borshString(uri, 200),
    ),
  );
  return account;
}

/** A Token-2022 mint that contains its name. @param base the mint without extensions */
export const namedMint = (mint: string, base: Uint8Array, names: Names): Uint8Array =>
  extended(base, 1, [
    [18, metadataPointer(mint)],
    [19, tokenMetadata(mint, names)],
  ]);
