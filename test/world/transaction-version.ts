/**
 * Transactions of version 1 (SIMD-0385) on a virtual machine that runs version 0 only. They run as version 0, signed again
 * with the world's keys, and are shown in production's JSON form for version 1
 * (test/fixtures/recorded/solana/transaction-v1-failed.json).
 */
import { base58 } from '@scure/base';
import {
  appendTransactionMessageInstructions,
  assertIsTransactionMessageWithBlockhashLifetime,
  compileTransaction,
  createTransactionMessage,
  decompileTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransaction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/web3.js';
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
  getSetLoadedAccountsDataSizeLimitInstruction,
} from '@solana-program/compute-budget';

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
/** Compute units of an instruction without a limit of its own. */
const DEFAULT_UNITS = 200_000n;

/** A budget of version 1 as the instructions of version 0. The price must divide evenly, as ours do. */
function budgetInstructions(config: {
  computeUnitLimit?: number;
  loadedAccountsDataSizeLimit?: number;
  priorityFeeLamports?: bigint;
}): Instruction[] {
  const { computeUnitLimit: units = 0, loadedAccountsDataSizeLimit: bytes, priorityFeeLamports } = config;
  const microLamports = units === 0 ? 0n : ((priorityFeeLamports ?? 0n) * 1_000_000n) / BigInt(units);
  return [
    getSetComputeUnitLimitInstruction({ units }),
    getSetComputeUnitPriceInstruction({ microLamports }),
    ...(bytes === undefined
      ? []
      : [getSetLoadedAccountsDataSizeLimitInstruction({ accountDataSizeLimit: bytes })]),
  ];
}

/** The wire bytes of a version 1 transaction as version 0, signed by those of `keys` that it needs. */
export async function asVersionZero(wire: Uint8Array, keys: readonly KeyPairSigner[]): Promise<Uint8Array> {
  const { messageBytes } = getTransactionDecoder().decode(wire);
  const message = decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(messageBytes));
  if (message.version !== 1) throw new Error('not version 1');
  assertIsTransactionMessageWithBlockhashLifetime(message);
  const { config = {}, feePayer, lifetimeConstraint, instructions } = message;
  const transaction = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayer(feePayer.address, m),
    (m) => setTransactionMessageLifetimeUsingBlockhash(lifetimeConstraint, m),
    (m) => appendTransactionMessageInstructions([...budgetInstructions(config), ...instructions], m),
    compileTransaction,
  );
  const signers = keys.filter(({ address }) => address in transaction.signatures);
  const pairs = signers.map(({ keyPair }) => keyPair);
  return Uint8Array.from(getTransactionEncoder().encode(await partiallySignTransaction(pairs, transaction)));
}

interface Shown {
  version?: unknown;
  meta: {
    innerInstructions?: { index: number }[] | null;
    loadedAddresses?: { writable: readonly string[]; readonly: readonly string[] };
  };
  transaction: {
    message: {
      accountKeys: readonly string[];
      addressTableLookups?: unknown;
      instructions: readonly { programIdIndex: number; data: string }[];
      transactionConfig?: unknown;
    };
  };
}

const littleEndian = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((value, byte) => value * 256n + BigInt(byte), 0n);

/**
 * The JSON of a version 0 transaction in the form of version 1: compute budget instructions become members of
 * `transactionConfig`, and `addressTableLookups` is absent. The keys keep their places.
 */
export function asVersionOne<T extends object>(answer: T): T {
  const shown = answer as T & Shown;
  const { message } = shown.transaction;
  const isBudget = ({ programIdIndex }: { programIdIndex: number }) =>
    message.accountKeys[programIdIndex] === COMPUTE_BUDGET;
  const budget = new Map(
    message.instructions.filter(isBudget).map(({ data }) => {
      const [kind = 0, ...value] = base58.decode(data);
      return [kind, littleEndian(Uint8Array.from(value))];
    }),
  );
  const kept = message.instructions.map((instruction) => !isBudget(instruction));
  const placeOf = (index: number): number => kept.slice(0, index).filter(Boolean).length;
  const units = budget.get(2) ?? DEFAULT_UNITS * BigInt(kept.filter(Boolean).length);
  const config = (kind: number): number | null => {
    const value = budget.get(kind);
    return value === undefined ? null : Number(value);
  };
  const price = budget.get(3);
  const { addressTableLookups: _none, ...rest } = message;
  return {
    ...shown,
    version: 1,
    meta: {
      ...shown.meta,
      innerInstructions:
        shown.meta.innerInstructions?.map((one) => ({ ...one, index: placeOf(one.index) })) ?? [],
    },
    transaction: {
      ...shown.transaction,
      message: {
        ...rest,
        instructions: message.instructions.filter((_, index) => kept[index]),
        transactionConfig: {
          computeUnitLimit: config(2),
          heapSize: config(1),
          loadedAccountsDataSizeLimit: config(4),
          // A total in lamports, while the instruction has micro-lamports per unit.
          priorityFee: price === undefined ? null : Number((price * units + 999_999n) / 1_000_000n),
        },
      },
    },
  };
}
