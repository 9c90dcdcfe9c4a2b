/**
 * Decodes third parties' transactions strictly and encodes them. An accepted transaction has exactly one
 * encoding, so the signed bytes are written from the structure that was checked.
 * @see https://solana.com/docs/core/transactions, agave sdk `Message::sanitize` and `v0::Message::sanitize`
 * @module
 */

import { concatBytes } from '@noble/hashes/utils.js';
import { base64 } from '@scure/base';
import { type ByteReader, createByteReader } from './byte-reader.ts';
import { addressSeed } from './program-address.ts';

/** Bytes that one packet carries. */
const MAX_TRANSACTION_BYTES = 1_232;
/** Account indexes are one byte. */
const MAX_ACCOUNTS = 256;
const SIGNATURE_BYTES = 64;
/** The top bit of a message's first byte marks a version; without it the message is legacy. */
const VERSION_MARK = 0x80;

export type CompiledInstruction = {
  /** Index into the static keys: a program is never in a lookup table. */
  readonly program: number;
  /** Indexes into the static keys, followed by the tables' writable and then read-only keys. */
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
};

/** Keys from a table on the chain, by index in the table. */
export type TableReference = {
  readonly table: string;
  readonly writable: readonly number[];
  readonly readonly: readonly number[];
};

export type DecodedTransaction = {
  readonly version: 'legacy' | 0;
  /** One slot per required signer; 64 zero bytes in an empty slot. */
  readonly signatures: readonly Uint8Array[];
  readonly requiredSignatures: number;
  readonly readonlySigned: number;
  readonly readonlyUnsigned: number;
  readonly keys: readonly string[];
  readonly blockhash: string;
  readonly instructions: readonly CompiledInstruction[];
  /** Empty in a legacy message. */
  readonly tables: readonly TableReference[];
};

export type DecodeRefusal =
  | 'tx_base64'
  | 'tx_too_long'
  | 'tx_truncated'
  | 'tx_trailing_bytes'
  | 'tx_length_prefix'
  | 'tx_version'
  | 'tx_signature_count'
  | 'tx_header'
  | 'tx_duplicate_key'
  | 'tx_duplicate_table'
  | 'tx_empty_table'
  | 'tx_too_many_accounts'
  | 'tx_program_index'
  | 'tx_account_index';

export type DecodeVerdict =
  | { readonly ok: true; readonly transaction: DecodedTransaction }
  | { readonly ok: false; readonly reason: DecodeRefusal };

/** A refusal during decoding; never leaves this file. */
class Refused extends Error {
  readonly reason: DecodeRefusal;
  constructor(reason: DecodeRefusal) {
    super(reason);
    this.reason = reason;
  }
}

function refuse(reason: DecodeRefusal): never {
  throw new Refused(reason);
}

/** @param text base64 with padding, in its canonical form */
export function decodeTransactionText(text: string): DecodeVerdict {
  // Checked before decoding: 4 characters for every 3 bytes.
  if (text.length > Math.ceil(MAX_TRANSACTION_BYTES / 3) * 4) return { ok: false, reason: 'tx_too_long' };
  let bytes: Uint8Array;
  try {
    bytes = base64.decode(text);
  } catch {
    return { ok: false, reason: 'tx_base64' };
  }
  if (base64.encode(bytes) !== text) return { ok: false, reason: 'tx_base64' };
  return decodeTransaction(bytes);
}

/** Never throws. Reads only inside the bytes, and never allocates more than their length. */
export function decodeTransaction(bytes: Uint8Array): DecodeVerdict {
  if (bytes.length > MAX_TRANSACTION_BYTES) return { ok: false, reason: 'tx_too_long' };
  try {
    const read = createByteReader(bytes);
    const transaction = readTransaction(read);
    if (read.left() !== 0) return { ok: false, reason: 'tx_trailing_bytes' };
    return { ok: true, transaction };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, reason: error.reason };
    if (error instanceof RangeError) return { ok: false, reason: 'tx_truncated' };
    throw error;
  }
}

function readTransaction(read: ByteReader): DecodedTransaction {
  const count = read.u8();
  // Version 1 starts with its version byte; as a number of signatures it would not fit a packet either.
  if (count & VERSION_MARK) refuse('tx_version');
  const signatures = times(count, () => read.bytes(SIGNATURE_BYTES));
  const first = read.u8();
  const isVersioned = (first & VERSION_MARK) !== 0;
  if (isVersioned && first !== VERSION_MARK) refuse('tx_version');
  const requiredSignatures = isVersioned ? read.u8() : first;
  const readonlySigned = read.u8();
  const readonlyUnsigned = read.u8();
  const keys = list(read, 32, () => read.address());
  checkHeader(count, requiredSignatures, readonlySigned, readonlyUnsigned, keys);
  const blockhash = read.address();
  const instructions = list(read, 3, () => readInstruction(read));
  const tables = isVersioned ? list(read, 34, () => readTable(read)) : [];
  checkIndexes(keys.length, instructions, tables);
  return {
    version: isVersioned ? 0 : 'legacy',
    signatures,
    requiredSignatures,
    readonlySigned,
    readonlyUnsigned,
    keys,
    blockhash,
    instructions,
    tables,
  };
}

function readInstruction(read: ByteReader): CompiledInstruction {
  const program = read.u8();
  const accounts = list(read, 1, () => read.u8());
  return { program, accounts, data: read.bytes(compactLength(read)) };
}

function readTable(read: ByteReader): TableReference {
  const table = read.address();
  const writable = list(read, 1, () => read.u8());
  return { table, writable, readonly: list(read, 1, () => read.u8()) };
}

function checkHeader(
  signatures: number,
  required: number,
  readonlySigned: number,
  readonlyUnsigned: number,
  keys: readonly string[],
): void {
  if (signatures !== required) refuse('tx_signature_count');
  // The fee payer is the first signer and always writable.
  if (required === 0 || readonlySigned >= required || required + readonlyUnsigned > keys.length) {
    refuse('tx_header');
  }
  if (new Set(keys).size !== keys.length) refuse('tx_duplicate_key');
}

function checkIndexes(
  staticKeys: number,
  instructions: readonly CompiledInstruction[],
  tables: readonly TableReference[],
): void {
  if (new Set(tables.map(({ table }) => table)).size !== tables.length) refuse('tx_duplicate_table');
  let accounts = staticKeys;
  for (const { writable, readonly } of tables) {
    const places = [...writable, ...readonly];
    if (places.length === 0) refuse('tx_empty_table');
    if (new Set(places).size !== places.length) refuse('tx_duplicate_key');
    accounts += places.length;
  }
  if (accounts > MAX_ACCOUNTS) refuse('tx_too_many_accounts');
  for (const { program, accounts: places } of instructions) {
    // Index 0 is the fee payer, which is not a program.
    if (program === 0 || program >= staticKeys) refuse('tx_program_index');
    if (places.some((place) => place >= accounts)) refuse('tx_account_index');
  }
}

/** A compact-u16: 7 bits per byte, low bits first. Only the shortest form is accepted. */
function compactLength(read: ByteReader): number {
  let value = 0;
  for (let shift = 0; shift <= 14; shift += 7) {
    const byte = read.u8();
    value |= (byte & 0x7f) << shift;
    if (byte & 0x80) continue;
    if ((shift > 0 && byte === 0) || value > 0xffff) refuse('tx_length_prefix');
    return value;
  }
  return refuse('tx_length_prefix');
}

/** @param atLeast minimum bytes of one entry, so that a length cannot exceed the available data */
function list<T>(read: ByteReader, atLeast: number, one: () => T): T[] {
  const length = compactLength(read);
  if (length * atLeast > read.left()) refuse('tx_truncated');
  return times(length, one);
}

const times = <T>(count: number, one: () => T): T[] => Array.from({ length: count }, one);

/** The signed part: a transaction without its signatures. */
export type Message = Omit<DecodedTransaction, 'signatures'>;

/** The bytes to sign. @throws RangeError when a key is not an address or a number does not fit */
export function encodeMessage(transaction: Message): Uint8Array {
  const { version, keys, blockhash, instructions, tables } = transaction;
  return concatBytes(
    version === 0 ? Uint8Array.of(0x80) : new Uint8Array(0),
    bytes([transaction.requiredSignatures, transaction.readonlySigned, transaction.readonlyUnsigned]),
    lengthBytes(keys.length),
    ...keys.map(addressSeed),
    addressSeed(blockhash),
    lengthBytes(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      bytes([program]),
      counted(accounts),
      lengthBytes(data.length),
      data,
    ]),
    ...(version === 0 ? [lengthBytes(tables.length)] : []),
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
    lengthBytes(transaction.signatures.length),
    ...transaction.signatures,
    encodeMessage(transaction),
  );

const counted = (places: readonly number[]): Uint8Array =>
  concatBytes(lengthBytes(places.length), bytes(places));

function bytes(numbers: readonly number[]): Uint8Array {
  if (numbers.some((number) => !Number.isInteger(number) || number < 0 || number > 255)) {
    throw new RangeError('not a byte');
  }
  return Uint8Array.from(numbers);
}

/** compact-u16: 7 bits per byte, low bits first. */
function lengthBytes(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  if (length < 0x4000) return Uint8Array.of((length & 0x7f) | 0x80, length >> 7);
  if (length > 0xffff) throw new RangeError('too long');
  return Uint8Array.of((length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14);
}
