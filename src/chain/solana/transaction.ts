/**
 * Transactions that we build ourselves: one fee payer, a compute budget, a recent blockhash for a lifetime.
 * @module
 */
import { concatBytes } from '@noble/hashes/utils.js';
import {
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransactionMessage,
  createNoopSigner,
  createTransactionMessage,
  getCompiledTransactionMessageEncoder,
  type Instruction,
  pipe,
  setTransactionMessageConfig,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/web3.js';
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget';
import { getTransferSolInstruction } from '@solana-program/system';
import type { Lamports } from '../../core/amount.ts';
import { encodeBase58 } from './address.ts';
import { memoInstruction } from './memo.ts';

/** Versions in which our own transactions can be written. */
export type MessageVersion = 0 | 1;

/** What a message is written for. */
export type Lifetime = {
  /** A recent blockhash: a transaction that names it can land in the 150 blocks after it. */
  readonly blockhash: string;
  /** 0 when absent. */
  readonly version?: MessageVersion;
};

/** Lamports that every signature costs. */
export const SIGNATURE_FEE = 5_000n;

/** What a message may use and bids for it. */
export type ComputeBudget = {
  readonly units: number;
  /** Micro-lamports per unit. */
  readonly unitPrice: bigint;
};

/** Lamports bid for priority: the network rounds up. */
const priorityFee = ({ units, unitPrice }: ComputeBudget): bigint =>
  (BigInt(units) * unitPrice + 999_999n) / 1_000_000n;

/** Lamports that the network takes for a message. */
export const networkFee = (budget: ComputeBudget, signatures = 1n): bigint =>
  signatures * SIGNATURE_FEE + priorityFee(budget);

/**
 * Bytes of accounts that a version 1 message may load. Version 1 allows none by default; this is what earlier versions
 * allow without an instruction (64 MiB).
 */
const LOADED_BYTES = 67_108_864;

/**
 * The bytes to sign, without lookup tables. Version 0 carries the budget in two instructions, version 1 in its header;
 * both cost the same. The bytes are a function of the arguments alone.
 * @throws Error when a key is not an address, a number does not fit, or the accounts are too many
 */
export function compileMessage(
  feePayer: string,
  lifetime: Lifetime,
  budget: ComputeBudget,
  instructions: readonly Instruction[],
): Uint8Array {
  const encoder = getCompiledTransactionMessageEncoder();
  const payer = address(feePayer);
  // The height is not part of the bytes.
  const constraint = { blockhash: blockhash(lifetime.blockhash), lastValidBlockHeight: 0n };
  if (lifetime.version === 1) {
    const config = {
      computeUnitLimit: budget.units,
      priorityFeeLamports: priorityFee(budget),
      loadedAccountsDataSizeLimit: LOADED_BYTES,
    };
    const message = pipe(
      setTransactionMessageConfig(config, createTransactionMessage({ version: 1 })),
      (m) => setTransactionMessageFeePayer(payer, m),
      (m) => setTransactionMessageLifetimeUsingBlockhash(constraint, m),
      (m) => appendTransactionMessageInstructions(instructions, m),
    );
    return new Uint8Array(encoder.encode(compileTransactionMessage(message)));
  }
  const limit = getSetComputeUnitLimitInstruction({ units: budget.units });
  const price = getSetComputeUnitPriceInstruction({ microLamports: budget.unitPrice });
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayer(payer, m),
    (m) => setTransactionMessageLifetimeUsingBlockhash(constraint, m),
    (m) => appendTransactionMessageInstructions([limit, price, ...instructions], m),
  );
  return new Uint8Array(encoder.encode(compileTransactionMessage(message)));
}

/** For the program clients, which take signers: our key signs the compiled bytes elsewhere. */
export const signerAt = (key: string) => createNoopSigner(address(key));

/**
 * One System transfer beside the two budget instructions, 150 units each, doubled. It bids 900 lamports, ahead of the
 * many that bid nothing.
 */
const TRANSFER_BUDGET: ComputeBudget = { units: 900, unitPrice: 1_000_000n };

/** What `transferMessage` costs beside its amount, in lamports. */
export const TRANSFER_FEE = networkFee(TRANSFER_BUDGET);

/** With a memo: 754 units where measured, with room for costlier builds of the memo program; bids 400 lamports. */
const MEMO_TRANSFER_BUDGET: ComputeBudget = { units: 40_000, unitPrice: 10_000n };

/** What `memoTransferMessage` costs beside its amount, in lamports. */
export const MEMO_TRANSFER_FEE = networkFee(MEMO_TRANSFER_BUDGET);

type Transfer = {
  readonly from: string;
  readonly to: string;
  readonly amount: Lamports;
  readonly lifetime: Lifetime;
};

/** One System transfer with a small priority fee; costs `amount + TRANSFER_FEE`. */
export const transferMessage = (p: Transfer): Uint8Array =>
  compileMessage(p.from, p.lifetime, TRANSFER_BUDGET, [systemTransfer(p)]);

/** The same with a memo, so that the chain remembers what it was for; costs `amount + MEMO_TRANSFER_FEE`. */
export const memoTransferMessage = (p: Transfer & { readonly memo: string }): Uint8Array =>
  compileMessage(p.from, p.lifetime, MEMO_TRANSFER_BUDGET, [systemTransfer(p), memoInstruction(p.memo)]);

const systemTransfer = ({ from, to, amount }: Transfer): Instruction =>
  getTransferSolInstruction({ source: signerAt(from), destination: address(to), amount });

/** First byte of a version 1 message: the version mark and the version. */
const VERSION_ONE = 0x81;

/**
 * Wire bytes of a signed message, its signatures in the order of its signers; the first is the transaction's id.
 * Version 1 has its signatures behind the message, without their count.
 */
export function signedTransaction(
  message: Uint8Array,
  signatures: readonly [Uint8Array, ...Uint8Array[]],
): { wire: Uint8Array; signature: string } {
  return {
    wire:
      message[0] === VERSION_ONE
        ? concatBytes(message, ...signatures)
        : concatBytes(Uint8Array.of(signatures.length), ...signatures, message),
    signature: encodeBase58(signatures[0]),
  };
}
