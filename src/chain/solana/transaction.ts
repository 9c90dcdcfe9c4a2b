/**
 * Transactions that we build ourselves: one fee payer, one signature, a recent blockhash for a lifetime.
 * @module
 */

import { concatBytes } from '@noble/hashes/utils.js';
import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransactionMessage,
  createTransactionMessage,
  getCompiledTransactionMessageEncoder,
  type IInstruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import type { Lamports } from '../../core/amount.ts';
import { encodeBase58 } from './address.ts';
import { memoInstruction } from './memo.ts';

/** A recent blockhash and the last block height at which it can still land. */
export type Lifetime = { readonly blockhash: string; readonly lastValidBlockHeight: bigint };

/** Lamports that every signature costs. */
export const SIGNATURE_FEE = 5_000n;

const COMPUTE_BUDGET = address('ComputeBudget111111111111111111111111111111');

/** Compute units for one System transfer beside the two budget instructions, 150 each, doubled. */
const TRANSFER_UNITS = 900;
/** Micro-lamports a unit: 900 lamports in all, enough to be ahead of the many that bid nothing. */
const TRANSFER_UNIT_PRICE = 1_000_000n;

/** What `transferMessage` costs beside its amount: the signature and the priority fee, in lamports. */
export const TRANSFER_FEE = SIGNATURE_FEE + (BigInt(TRANSFER_UNITS) * TRANSFER_UNIT_PRICE) / 1_000_000n;

/** ComputeBudget instructions 2 (SetComputeUnitLimit, u32) and 3 (SetComputeUnitPrice, u64 micro-lamports). */
export function computeBudget(units: number, microLamportsPerUnit: bigint): IInstruction[] {
  const limit = new Uint8Array(5);
  new DataView(limit.buffer).setUint32(1, units, true);
  limit[0] = 2;
  const price = new Uint8Array(9);
  new DataView(price.buffer).setBigUint64(1, microLamportsPerUnit, true);
  price[0] = 3;
  return [limit, price].map((data) => ({ programAddress: COMPUTE_BUDGET, data }));
}

/** The bytes to sign of a version 0 transaction. */
export function compileMessage(
  feePayer: string,
  lifetime: Lifetime,
  instructions: IInstruction[],
): Uint8Array {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayer(address(feePayer), m),
    (m) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: lifetime.blockhash as Blockhash, lastValidBlockHeight: lifetime.lastValidBlockHeight },
        m,
      ),
    (m) => appendTransactionMessageInstructions(instructions, m),
  );
  return new Uint8Array(getCompiledTransactionMessageEncoder().encode(compileTransactionMessage(message)));
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

const transferInstruction = ({ from, to, amount }: Transfer): IInstruction =>
  getTransferSolInstruction({
    source: signerOf(address(from)),
    destination: address(to),
    amount,
  });

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

/** Instruction builders ask for a signer where only its address and role matter to the compiled bytes. */
function signerOf(signer: Address) {
  return { address: signer, role: AccountRole.WRITABLE_SIGNER, signTransactions: async () => [] } as const;
}
