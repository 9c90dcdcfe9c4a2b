/**
 * Transactions that we build ourselves: one fee payer, one signature, a recent blockhash for a lifetime.
 * @module
 */

import { concatBytes } from '@noble/hashes/utils.js';
import type { Lamports } from '../../core/amount.ts';
import { encodeBase58 } from './address.ts';
import {
  type AccountRole,
  type Instruction,
  instruction,
  READONLY,
  READONLY_SIGNER,
  SYSTEM_PROGRAM,
  u32,
  u64,
  WRITABLE,
  WRITABLE_SIGNER,
  writable,
  writableSigner,
} from './instruction.ts';
import { memoInstruction } from './memo.ts';
import { encodeMessage } from './message-encode.ts';

/** A recent blockhash: a transaction that names it can land in the 150 blocks after it. */
export type Lifetime = { readonly blockhash: string };

/** Lamports that every signature costs. */
export const SIGNATURE_FEE = 5_000n;

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';

/** Compute units for one System transfer beside the two budget instructions, 150 each, doubled. */
const TRANSFER_UNITS = 900;
/** Micro-lamports a unit: 900 lamports in all, enough to be ahead of the many that bid nothing. */
const TRANSFER_UNIT_PRICE = 1_000_000n;

/** What `transferMessage` costs beside its amount: the signature and the priority fee, in lamports. */
export const TRANSFER_FEE = SIGNATURE_FEE + (BigInt(TRANSFER_UNITS) * TRANSFER_UNIT_PRICE) / 1_000_000n;

/** ComputeBudget instructions 2 (SetComputeUnitLimit, u32) and 3 (SetComputeUnitPrice, u64 micro-lamports). */
export const computeBudget = (units: number, microLamportsPerUnit: bigint): Instruction[] => [
  instruction(COMPUTE_BUDGET, [], Uint8Array.of(2), u32(units)),
  instruction(COMPUTE_BUDGET, [], Uint8Array.of(3), u64(microLamportsPerUnit)),
];

/** The order of a message's keys: who signs before who does not, and of each who is written before who is read. */
const GROUPS: readonly AccountRole[] = [WRITABLE_SIGNER, READONLY_SIGNER, WRITABLE, READONLY];

/**
 * The bytes to sign of a version 0 transaction without lookup tables. The fee payer comes first; inside a group keys
 * stand in the order in which they are first named, and what is named twice may do all that either naming allows.
 * @throws RangeError when a key is no address, or more than 256 are named
 */
export function compileMessage(
  feePayer: string,
  lifetime: Lifetime,
  instructions: readonly Instruction[],
): Uint8Array {
  const roles = new Map<string, number>([[feePayer, WRITABLE_SIGNER]]);
  const name = (key: string, role: AccountRole) => roles.set(key, (roles.get(key) ?? READONLY) | role);
  for (const { accounts, programAddress } of instructions) {
    for (const { address, role } of accounts) name(address, role);
    name(programAddress, READONLY);
  }
  const inGroup = (group: AccountRole) => [...roles].filter(([, role]) => role === group).map(([key]) => key);
  const keys = GROUPS.flatMap(inGroup);
  const readonlySigned = inGroup(READONLY_SIGNER).length;
  return encodeMessage({
    version: 0,
    requiredSignatures: inGroup(WRITABLE_SIGNER).length + readonlySigned,
    readonlySigned,
    readonlyUnsigned: inGroup(READONLY).length,
    keys,
    blockhash: lifetime.blockhash,
    instructions: instructions.map(({ programAddress, accounts, data }) => ({
      program: keys.indexOf(programAddress),
      accounts: accounts.map(({ address }) => keys.indexOf(address)),
      data,
    })),
    tables: [],
  });
}

/** Compute units when a memo goes along: 754 where measured, with room for costlier builds of the memo program. */
const MEMO_TRANSFER_UNITS = 40_000;
/** Micro-lamports a unit: 400 lamports in all. */
const MEMO_TRANSFER_UNIT_PRICE = 10_000n;

/** What `memoTransferMessage` costs beside its amount, in lamports. */
export const MEMO_TRANSFER_FEE =
  SIGNATURE_FEE + (BigInt(MEMO_TRANSFER_UNITS) * MEMO_TRANSFER_UNIT_PRICE) / 1_000_000n;

type Transfer = {
  readonly from: string;
  readonly to: string;
  readonly amount: Lamports;
  readonly lifetime: Lifetime;
};

/** One System transfer with a small priority fee; costs `amount + TRANSFER_FEE`. */
export const transferMessage = (p: Transfer): Uint8Array =>
  compileMessage(p.from, p.lifetime, [
    ...computeBudget(TRANSFER_UNITS, TRANSFER_UNIT_PRICE),
    transferInstruction(p),
  ]);

/** The same with a memo, so that the chain remembers what it was for; costs `amount + MEMO_TRANSFER_FEE`. */
export const memoTransferMessage = (p: Transfer & { readonly memo: string }): Uint8Array =>
  compileMessage(p.from, p.lifetime, [
    ...computeBudget(MEMO_TRANSFER_UNITS, MEMO_TRANSFER_UNIT_PRICE),
    transferInstruction(p),
    memoInstruction(p.memo),
  ]);

/** System Transfer (2): u64 lamports. */
const transferInstruction = ({ from, to, amount }: Transfer): Instruction =>
  instruction(SYSTEM_PROGRAM, [writableSigner(from), writable(to)], u32(2), u64(amount));

/** Wire bytes of a signed message, its signatures in the order of its signers; the first is the transaction's id. */
export function signedTransaction(
  message: Uint8Array,
  signatures: readonly [Uint8Array, ...Uint8Array[]],
): { wire: Uint8Array; signature: string } {
  return {
    wire: concatBytes(Uint8Array.of(signatures.length), ...signatures, message),
    signature: encodeBase58(signatures[0]),
  };
}
