/**
 * One domain inside the custodian: its kinds of operations, its background work, and its recovery.
 * @module
 */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { OpsAnswer } from '../api.ts';
import type { Begin } from './begin-operation.ts';
import type { Journal } from './journal.ts';
import type { Facts, Kind, Landing, Operation, SignedAt } from './operation.ts';
import type { Log, RecordTable, SqlValue, Storage } from './ports.ts';
import type { Recognized } from './reconcile.ts';
import type { KindRules, Settlement } from './state-machine.ts';

/** The parts of the kernel that a module may use. */
export type ModuleTools = {
  readonly journal: Journal;
  readonly storage: Storage;
  /** Begins an operation and runs its steps until it has to wait. */
  readonly begin: Begin;
  readonly now: () => number;
  readonly log: Log;
};

/**
 * Caps are not part of a module: one kind's budget depends on the sales of another, so `budgets.ts` composes
 * them.
 */
export type CustodyModule = {
  /** How operations are prepared and settled, by kind. */
  readonly kinds?: Readonly<Partial<Record<Kind, OperationKind>>>;
  /** When background work is next due, in Unix milliseconds; undefined when there is none. */
  nextRunAt?(): number | undefined;
  /** One bounded piece of background work. After a failure the next alarm retries it. */
  run?(): Promise<void>;
  /** Work that depends on the clock and not on a stored row; called once a minute. */
  onCron?(): Promise<void>;
  /**
   * After a lost journal: the operation that a finalized reserve transaction carried out. @param memo its
   * text
   */
  recognize?(transaction: ChainTransaction, memo: string | undefined): Recognized | undefined;
  /** Restores rows that D1 has in a newer state. @returns their number. @throws when D1 cannot be read */
  restore?(): Promise<number>;
  /** After a journal was rebuilt: marks every row with an unknown outcome as awaiting the operator. */
  holdSuspect?(): void;
  /** The D1 tables that mirror rows of this module, so that lost rows can be published again. */
  readonly mirrored?: readonly MirrorSource[];
  /** The operator's commands, by name. */
  readonly commands?: Readonly<Record<string, (id: string) => Promise<OpsAnswer>>>;
};

/** One D1 table as the journal would write it now. */
export type MirrorSource = {
  readonly table: RecordTable;
  /** Rows whose id follows `id`, in the order of their ids, with all columns except `id` and `revision`. */
  rowsAfter(
    id: string,
    limit: number,
  ): readonly { readonly id: string; readonly columns: Readonly<Record<string, SqlValue>> }[];
};

/** The module of a configured area. @throws Error if the area is not configured */
export function configured<T>(module: T | undefined): T {
  if (module === undefined) throw new Error('this area is not configured');
  return module;
}

export type Prepared =
  | {
      readonly ok: true;
      /** The transaction message. The reserve signs it as the fee payer. */
      readonly message: Uint8Array;
      /** Signatures of the message's other signers, in their order after the fee payer. */
      readonly cosignatures?: readonly Uint8Array[];
      /** Where the chain was when the message's blockhash was read. */
      readonly signedAt: SignedAt;
      readonly plan: Facts;
      /** Largest loss against a fair price, in lamports. */
      readonly cost: bigint;
      /** Lamports that may leave the reserve; absent if it is the reserved sum. */
      readonly spend?: bigint;
      /** Names that no other operation may have consumed: a deposit address, a payment. */
      readonly claims: readonly string[];
    }
  | { readonly ok: false; readonly reason: string; readonly outcome?: Facts }
  /** The chain already shows the outcome. */
  | { readonly ok: false; readonly found: Facts };

/** A message that is ready to be signed. */
export type Ready = Extract<Prepared, { ok: true }>;

type StoredMessage = Pick<Ready, 'ok' | 'plan' | 'claims'> & {
  readonly message: string;
  readonly cosignatures: readonly string[];
  readonly cost: string;
  readonly spend?: string;
  readonly signedAt: {
    readonly slot: string;
    readonly witnesses: readonly { readonly node: string; readonly slot: string; readonly height: string }[];
  };
};

/** JSON of a prepared message; `decodePrepared` reads it back. */
export const encodePrepared = ({ message, cosignatures = [], ...rest }: Ready): string =>
  JSON.stringify(
    { ...rest, message: bytesToHex(message), cosignatures: cosignatures.map(bytesToHex) },
    (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  );

export function decodePrepared(text: string): Ready {
  const { signedAt, message, cosignatures, cost, spend, ...rest } = JSON.parse(text) as StoredMessage;
  return {
    ...rest,
    message: hexToBytes(message),
    cosignatures: cosignatures.map(hexToBytes),
    cost: BigInt(cost),
    ...(spend === undefined ? {} : { spend: BigInt(spend) }),
    signedAt: {
      slot: BigInt(signedAt.slot),
      witnesses: signedAt.witnesses.map(({ node, slot, height }) => ({
        node,
        slot: BigInt(slot),
        height: BigInt(height),
      })),
    },
  };
}

export type Settled = {
  readonly settlement: Settlement;
  /** Names that it consumes: a Bitcoin output, a refund's signature. */
  readonly claims: readonly string[];
};

export type OperationKind = {
  readonly rules: KindRules;
  /** Reads and checks upstream data. Signs nothing. @throws AppError UPSTREAM_FAILED */
  prepare(operation: Operation): Promise<Prepared>;
  /** @param isTaken whether another operation has already consumed this name */
  settle(operation: Operation, isTaken: (name: string) => boolean): Promise<Settled>;
  /**
   * Reason why a landing differs from the expected one. Signing then stops until the operator has checked it.
   */
  unforeseen?(operation: Operation, landing: Landing): string | undefined;
};

/** A message that is ready to be signed, has no cost against a fair price and consumes no names. */
export const plainlyPrepared = (message: Uint8Array, { slot, witnesses }: SignedAt): Ready => ({
  ok: true,
  message,
  signedAt: { slot, witnesses },
  plan: {},
  cost: 0n,
  claims: [],
});

/** For a kind whose operations are done when they have landed. */
export const settlesByLanding: OperationKind['settle'] = async () => ({
  settlement: { state: 'complete', outcome: {} },
  claims: [],
});
