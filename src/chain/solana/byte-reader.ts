/**
 * Reads account data field by field. Integers are little-endian, as every Solana program stores them.
 * @module
 */
import { encodeBase58 } from './address.ts';

export type ByteReader = ReturnType<typeof createByteReader>;

/** @throws RangeError when a field would start or end outside the bytes */
export function createByteReader(bytes: Uint8Array, start = 0) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let offset = start;

  function take(length: number): number {
    const at = offset;
    if (length < 0 || at + length > bytes.length) throw new RangeError(`no ${length} bytes at ${at}`);
    offset += length;
    return at;
  }

  function u64(): bigint {
    return view.getBigUint64(take(8), true);
  }

  return {
    offset: () => offset,
    left: () => bytes.length - offset,
    bytes(length: number): Uint8Array {
      const at = take(length);
      return bytes.slice(at, at + length);
    },
    u8: () => view.getUint8(take(1)),
    u16: () => view.getUint16(take(2), true),
    u32: () => view.getUint32(take(4), true),
    i32: () => view.getInt32(take(4), true),
    u64,
    u128(): bigint {
      const low = u64();
      return low | (u64() << 64n);
    },
    /** 32 bytes as base58. */
    address(): string {
      const at = take(32);
      return encodeBase58(bytes.subarray(at, at + 32));
    },
    /** A u32 length and that many bytes of UTF-8 (borsh string); invalid UTF-8 becomes U+FFFD. */
    string(): string {
      const length = view.getUint32(take(4), true);
      const at = take(length);
      return new TextDecoder().decode(bytes.subarray(at, at + length));
    },
  };
}
