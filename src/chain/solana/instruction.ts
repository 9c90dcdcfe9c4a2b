/**
 * One instruction as we build it: a program, what it may do with which account, and its data.
 * @see https://solana.com/docs/core/instructions
 * @module
 */
import { concatBytes } from '@noble/hashes/utils.js';

export const SYSTEM_PROGRAM = '11111111111111111111111111111111';

/** What an instruction may do with an account, as two bits: 1 says that it is written, 2 that it signs. */
export const READONLY = 0;
export const WRITABLE = 1;
export const READONLY_SIGNER = 2;
export const WRITABLE_SIGNER = 3;

export type AccountRole = typeof READONLY | typeof WRITABLE | typeof READONLY_SIGNER | typeof WRITABLE_SIGNER;

export type AccountMeta = { readonly address: string; readonly role: AccountRole };

export type Instruction = {
  readonly programAddress: string;
  readonly accounts: readonly AccountMeta[];
  readonly data: Uint8Array;
};

export const readonly = (address: string): AccountMeta => ({ address, role: READONLY });
export const writable = (address: string): AccountMeta => ({ address, role: WRITABLE });
export const signer = (address: string): AccountMeta => ({ address, role: READONLY_SIGNER });
export const writableSigner = (address: string): AccountMeta => ({ address, role: WRITABLE_SIGNER });

export const instruction = (
  programAddress: string,
  accounts: readonly AccountMeta[],
  ...data: Uint8Array[]
): Instruction => ({ programAddress, accounts, data: concatBytes(...data) });

/** Little-endian. @throws RangeError rather than to wrap around */
export function u32(value: number): Uint8Array {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** 32) throw new RangeError(`u32: ${value}`);
  return new Uint8Array(Uint32Array.of(value).buffer);
}

/** Little-endian. @throws RangeError rather than to wrap around */
export function u64(value: bigint): Uint8Array {
  if (value < 0n || value >= 2n ** 64n) throw new RangeError(`u64: ${value}`);
  return new Uint8Array(BigUint64Array.of(value).buffer);
}
