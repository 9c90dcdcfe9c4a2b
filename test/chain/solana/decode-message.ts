/**
 * Reads version 0 and version 1 messages byte by byte, from the descriptions of the formats alone
 * (docs.anza.xyz/proposals/versioned-transactions, SIMD-0385). So the library is not checked against itself.
 */
import { base58 } from '@scure/base';

export type DecodedMessage = {
  readonly version: number;
  readonly requiredSignatures: number;
  readonly readonlySigned: number;
  readonly readonlyUnsigned: number;
  readonly keys: readonly string[];
  readonly blockhash: string;
  /** Of version 1; null in version 0, whose budget is in its instructions. */
  readonly config: {
    /** Lamports in all. */ readonly priorityFee: bigint | null;
    readonly units: number | null;
    readonly loadedBytes: number | null;
    readonly heapBytes: number | null;
  } | null;
  readonly instructions: readonly {
    readonly program: string;
    readonly accounts: readonly string[];
    readonly data: Uint8Array;
  }[];
  readonly tableLookups: number;
  /** Bytes after the end. */
  readonly rest: number;
};

export function decodeMessage(bytes: Uint8Array): DecodedMessage {
  let at = 0;
  const byte = (): number => {
    const value = bytes[at++];
    if (value === undefined) throw new Error('too short');
    return value;
  };
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new Error('too short');
    at += length;
    return bytes.slice(at - length, at);
  };
  const uint = (length: number): bigint =>
    take(length).reduceRight((value, next) => value * 256n + BigInt(next), 0n);
  /** compact-u16: seven bits per byte, low bits first. */
  const count = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const next = byte();
      value |= (next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
  };
  const times = <T>(n: number, read: () => T): T[] => Array.from({ length: n }, read);
  const keyIn = (keys: readonly string[], index: number): string => {
    const found = keys[index];
    if (found === undefined) throw new Error('an index beyond the keys');
    return found;
  };

  const prefix = byte();
  if (prefix < 0x80) throw new Error('a legacy message');
  const version = prefix & 0x7f;
  const [requiredSignatures, readonlySigned, readonlyUnsigned] = [byte(), byte(), byte()];
  const header = { version, requiredSignatures, readonlySigned, readonlyUnsigned };
  if (version === 1) {
    const mask = Number(uint(4));
    const blockhash = base58.encode(take(32));
    const [instructionCount, keyCount] = [byte(), byte()];
    const keys = times(keyCount, () => base58.encode(take(32)));
    // Two bits for the u64 fee, then one bit per u32, in this order.
    const priorityFee = (mask & 3) === 3 ? uint(8) : null;
    const u32 = (bit: number): number | null => ((mask >> bit) & 1 ? Number(uint(4)) : null);
    const config = { priorityFee, units: u32(2), loadedBytes: u32(3), heapBytes: u32(4) };
    const heads = times(instructionCount, () => ({
      program: byte(),
      accounts: byte(),
      length: Number(uint(2)),
    }));
    const instructions = heads.map(({ program, accounts, length }) => ({
      program: keyIn(keys, program),
      accounts: times(accounts, () => keyIn(keys, byte())),
      data: take(length),
    }));
    return { ...header, keys, blockhash, config, instructions, tableLookups: 0, rest: bytes.length - at };
  }
  const keys = times(count(), () => base58.encode(take(32)));
  const blockhash = base58.encode(take(32));
  const instructions = times(count(), () => ({
    program: keyIn(keys, byte()),
    accounts: times(count(), () => keyIn(keys, byte())),
    data: take(count()),
  }));
  const tableLookups = count();
  return { ...header, keys, blockhash, config: null, instructions, tableLookups, rest: bytes.length - at };
}
