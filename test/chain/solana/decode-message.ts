/**
 * Reads a version 0 message byte by byte, from the format's description alone
 * (docs.anza.xyz/proposals/versioned-transactions), so that the builder is not checked by its own library.
 */
import { base58 } from '@scure/base';

export type DecodedMessage = {
  readonly version: number;
  readonly requiredSignatures: number;
  readonly readonlySigned: number;
  readonly readonlyUnsigned: number;
  readonly keys: readonly string[];
  readonly blockhash: string;
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
  /** compact-u16: seven bits a byte, the low ones first. */
  const count = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const next = byte();
      value |= (next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
  };
  const times = <T>(n: number, read: () => T): T[] => Array.from({ length: n }, read);

  const prefix = byte();
  if (prefix < 0x80) throw new Error('a legacy message');
  const [requiredSignatures, readonlySigned, readonlyUnsigned] = [byte(), byte(), byte()];
  const keys = times(count(), () => base58.encode(take(32)));
  const key = (index: number): string => {
    const found = keys[index];
    if (found === undefined) throw new Error('an index beyond the keys');
    return found;
  };
  const blockhash = base58.encode(take(32));
  const instructions = times(count(), () => ({
    program: key(byte()),
    accounts: times(count(), () => key(byte())),
    data: take(count()),
  }));
  const tableLookups = count();
  return {
    version: prefix & 0x7f,
    requiredSignatures,
    readonlySigned,
    readonlyUnsigned,
    keys,
    blockhash,
    instructions,
    tableLookups,
    rest: bytes.length - at,
  };
}
