/**
 * Address lookup tables: keys that a version 0 transaction names by index. Entries are only ever appended.
 * @see solana-program/address-lookup-table program/src/state.rs
 * @module
 */
import { createByteReader } from './byte-reader.ts';

export const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111';

/** Type, deactivation slot, last extended slot and index, authority, padding. */
const HEADER_BYTES = 56;
const ENTRY_BYTES = 32;
const TYPE_TABLE = 1;
/** Deactivation slot of a table that is not being closed. */
const ACTIVE = 0xffff_ffff_ffff_ffffn;

export type LookupTable = {
  /** False once its authority has begun to close it: it may be gone before the transaction lands. */
  readonly isActive: boolean;
  readonly length: number;
  /** The key at an index; undefined beyond the end. */
  at(place: number): string | undefined;
};

/**
 * @param owner program that owns the account
 * @returns undefined for anything except a lookup table
 */
export function decodeLookupTable(owner: string, data: Uint8Array): LookupTable | undefined {
  if (owner !== LOOKUP_TABLE_PROGRAM || data.length < HEADER_BYTES) return undefined;
  if ((data.length - HEADER_BYTES) % ENTRY_BYTES !== 0) return undefined;
  const header = createByteReader(data);
  if (header.u32() !== TYPE_TABLE) return undefined;
  const isActive = header.u64() === ACTIVE;
  const length = (data.length - HEADER_BYTES) / ENTRY_BYTES;
  return {
    isActive,
    length,
    at: (place) =>
      place >= 0 && place < length
        ? createByteReader(data, HEADER_BYTES + place * ENTRY_BYTES).address()
        : undefined,
  };
}
