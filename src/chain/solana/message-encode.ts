/**
 * Encodes a decoded transaction: the signed bytes are written from the structure that was checked.
 * @module
 */
import { concatBytes } from '@noble/hashes/utils.js';
import type { DecodedTransaction } from './message-decode.ts';
import { addressSeed } from './program-address.ts';

/** The signed part: a transaction without its signatures. */
export type Message = Omit<DecodedTransaction, 'signatures'>;

/** The bytes to sign. @throws RangeError when a key is not an address or a number does not fit */
export function encodeMessage(transaction: Message): Uint8Array {
  const { version, keys, blockhash, instructions, tables } = transaction;
  return concatBytes(
    version === 0 ? Uint8Array.of(0x80) : new Uint8Array(0),
    bytes([transaction.requiredSignatures, transaction.readonlySigned, transaction.readonlyUnsigned]),
    compactLength(keys.length),
    ...keys.map(addressSeed),
    addressSeed(blockhash),
    compactLength(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      bytes([program]),
      counted(accounts),
      compactLength(data.length),
      data,
    ]),
    ...(version === 0 ? [compactLength(tables.length)] : []),
    ...tables.flatMap(({ table, writable, readonly }) => [
      addressSeed(table),
      counted(writable),
      counted(readonly),
    ]),
  );
}

/** Signature slots and message in wire format. @throws RangeError like `encodeMessage` */
export const encodeTransaction = (transaction: DecodedTransaction): Uint8Array =>
  concatBytes(
    compactLength(transaction.signatures.length),
    ...transaction.signatures,
    encodeMessage(transaction),
  );

const counted = (places: readonly number[]): Uint8Array =>
  concatBytes(compactLength(places.length), bytes(places));

function bytes(numbers: readonly number[]): Uint8Array {
  if (numbers.some((number) => !Number.isInteger(number) || number < 0 || number > 255)) {
    throw new RangeError('not a byte');
  }
  return Uint8Array.from(numbers);
}

/** compact-u16: 7 bits per byte, low bits first. */
function compactLength(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  if (length < 0x4000) return Uint8Array.of((length & 0x7f) | 0x80, length >> 7);
  if (length > 0xffff) throw new RangeError('too long');
  return Uint8Array.of((length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14);
}
