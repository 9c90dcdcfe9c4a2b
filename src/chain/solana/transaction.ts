/**
 * Builds the service's own transactions: one fee payer, a compute budget, a recent blockhash, and instructions of the
 * System and Memo programs. Reads the effect of any transaction on a balance.
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
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo';
import { getTransferSolInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import type { Lamports } from '../../core/amount.ts';
import { encodeBase58 } from './address.ts';

/**
 * A memo of version 3 of the program. The library's default is a newer program, whose memos nodes may not report. Our
 * recovery finds payouts by memo.
 */
export const memoInstruction = (text: string): Instruction =>
  getAddMemoInstruction({ memo: text }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 });

/**
 * A transaction's only memo, from a `getSignaturesForAddress` entry, which has its length in brackets and then the
 * memo.
 */
export const memoText = (listed: string | null | undefined): string | undefined =>
  listed?.replace(/^\[\d+\] /, '');

export const SYSTEM_PROGRAM: string = SYSTEM_PROGRAM_ADDRESS;

/** Format versions of our own transactions. */
export type MessageVersion = 0 | 1;

/** The lifetime and format version of a message. */
export type Lifetime = {
  /** A recent blockhash: the transaction can land in the 150 blocks after it. */
  readonly blockhash: string;
  /** 0 when absent. */
  readonly version?: MessageVersion;
};

/**
 * A transaction cannot land this many blocks after a height at which its blockhash was seen. 150 is Agave's
 * MAX_PROCESSING_AGE. 32 is a margin for a node that consists of several machines.
 */
export const EXPIRY_BLOCKS = 182n;

/** Lamports per signature. */
const SIGNATURE_FEE = 5_000n;

/** Compute unit limit and compute unit price of a message. */
export type ComputeBudget = {
  readonly units: number;
  /** Micro-lamports per unit. */
  readonly unitPrice: bigint;
};

/** Priority fee in lamports, rounded up as the network does. */
const priorityFee = ({ units, unitPrice }: ComputeBudget): bigint =>
  (BigInt(units) * unitPrice + 999_999n) / 1_000_000n;

/** Lamports that the network charges for a message. */
export const networkFee = (budget: ComputeBudget, signatures = 1n): bigint =>
  signatures * SIGNATURE_FEE + priorityFee(budget);

/**
 * Maximum bytes of accounts that a version 1 message may load. Version 1 allows none by default; this is the
 * earlier versions' default (64 MiB).
 */
const LOADED_BYTES = 67_108_864;

/**
 * The bytes to sign, without lookup tables. Version 0 has the budget in two instructions, version 1 in its header; both
 * cost the same. The same arguments always give the same bytes.
 * @throws Error when a key is not an address, a number does not fit, or there are too many accounts
 */
export function compileMessage(
  feePayer: string,
  lifetime: Lifetime,
  budget: ComputeBudget,
  instructions: readonly Instruction[],
): Uint8Array {
  const encoder = getCompiledTransactionMessageEncoder();
  const payer = address(feePayer);
  // The last valid block height is not part of the bytes.
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

/** A placeholder signer for the program clients: the compiled bytes are signed elsewhere. */
export const signerAt = (key: string) => createNoopSigner(address(key));

/**
 * One System transfer and the two budget instructions: 150 units each, doubled. A priority fee of 900 lamports is
 * enough, because many transactions offer none.
 */
const TRANSFER_BUDGET: ComputeBudget = { units: 900, unitPrice: 1_000_000n };

/** Lamports that `transferMessage` costs in addition to its amount. */
export const TRANSFER_FEE = networkFee(TRANSFER_BUDGET);

/** With a memo: 754 units were measured; other builds of the program may need more. Priority fee: 400 lamports. */
const MEMO_TRANSFER_BUDGET: ComputeBudget = { units: 40_000, unitPrice: 10_000n };

/** Lamports that `memoTransferMessage` costs in addition to its amount. */
export const MEMO_TRANSFER_FEE = networkFee(MEMO_TRANSFER_BUDGET);

type Transfer = {
  readonly from: string;
  readonly to: string;
  readonly amount: Lamports;
  readonly lifetime: Lifetime;
};

/** One System transfer with a small priority fee; costs `amount + TRANSFER_FEE`. */
export const transferMessage = (transfer: Transfer): Uint8Array =>
  compileMessage(transfer.from, transfer.lifetime, TRANSFER_BUDGET, [systemTransfer(transfer)]);

/** One System transfer with a memo, so that the chain records its purpose; costs `amount + MEMO_TRANSFER_FEE`. */
export const memoTransferMessage = (transfer: Transfer & { readonly memo: string }): Uint8Array =>
  compileMessage(transfer.from, transfer.lifetime, MEMO_TRANSFER_BUDGET, [
    systemTransfer(transfer),
    memoInstruction(transfer.memo),
  ]);

const systemTransfer = ({ from, to, amount }: Transfer): Instruction =>
  getTransferSolInstruction({ source: signerAt(from), destination: address(to), amount });

/** First byte of a version 1 message: the version mark and the version. */
const VERSION_ONE = 0x81;

/**
 * Wire bytes of a signed message, with its signatures in the order of its signers; the first is the
 * transaction's id. Version 1 puts the signatures after the message, without a count.
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

/** Splits a transaction with two signatures into its message and first signature. */
export function ofTwoSigners(wire: Uint8Array): { message: Uint8Array; first: Uint8Array } {
  return wire[0] === VERSION_ONE
    ? { message: wire.slice(0, -128), first: wire.slice(-128, -64) }
    : { message: wire.slice(129), first: wire.slice(1, 65) };
}

/** The effects of a transaction. Balances are indexed like `accounts`. */
export type ChainTransaction = {
  /** The first signature: the transaction's id. */
  readonly signature: string;
  readonly slot: bigint;
  /** Unix seconds. */
  readonly blockTime: number | null;
  readonly failed: boolean;
  readonly fee: bigint;
  /** Static keys, then keys loaded as writable, then keys loaded as read-only. */
  readonly accounts: readonly string[];
  /** The accounts at the start of the list that signed. */
  readonly signers: readonly string[];
  readonly preLamports: readonly bigint[];
  readonly postLamports: readonly bigint[];
  /** Null if the node does not store token balances. */
  readonly preTokens: readonly TokenRow[] | null;
  readonly postTokens: readonly TokenRow[] | null;
};

export type TokenRow = {
  readonly account: string;
  readonly mint: string;
  readonly owner: string | null;
  readonly program: string | null;
  readonly atoms: bigint;
  readonly decimals: number;
};

type LamportRows = Pick<ChainTransaction, 'accounts' | 'preLamports' | 'postLamports'>;

/** Lamports that an account gained, negative if it lost some; undefined if the transaction does not include it. */
export function lamportsChange(transaction: LamportRows, address: string): bigint | undefined {
  const index = transaction.accounts.indexOf(address);
  const before = transaction.preLamports[index];
  const after = transaction.postLamports[index];
  return before === undefined || after === undefined ? undefined : after - before;
}

/** Lamports that an account gained, negative if it lost some; zero if the transaction does not include it. */
export const lamportsGained = (transaction: LamportRows, address: string): bigint =>
  lamportsChange(transaction, address) ?? 0n;
