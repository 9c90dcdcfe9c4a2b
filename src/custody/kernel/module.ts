/**
 * One domain inside the custodian: its kinds of operations, its background work, and its part in a recovery.
 * @module
 */
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { OpsAnswer } from '../api.ts';
import type { Begin } from './begin-operation.ts';
import type { Journal } from './journal.ts';
import type { Facts, Kind, Landing, Operation, SignedAt } from './operation.ts';
import type { Log, Storage } from './ports.ts';
import type { Recognized } from './reconcile.ts';
import type { KindRules, Settlement } from './state-machine.ts';

/** What a module may use of the kernel. */
export type ModuleTools = {
  readonly journal: Journal;
  readonly storage: Storage;
  /** Begins an operation and carries it as far as it goes now. */
  readonly begin: Begin;
  readonly now: () => number;
  readonly log: Log;
};

/** Caps are not here: one kind's budget depends on what another has sold, so `budgets.ts` composes them. */
export type CustodyModule = {
  /** How operations are prepared, judged and settled, by the name of their kind. */
  readonly kinds?: Readonly<Partial<Record<Kind, OperationKind>>>;
  /** When background work is next due, Unix milliseconds; undefined when none is. */
  nextRunAt?(): number | undefined;
  /** One bounded piece of background work. A failure is retried with the next alarm. */
  run?(): Promise<void>;
  /** Work that depends on the clock and not on a stored row; called once a minute. */
  onCron?(): Promise<void>;
  /** After a lost journal: the operation that a finalized transaction of the reserve carried out. @param memo its text */
  recognize?(transaction: ChainTransaction, memo: string | undefined): Recognized | undefined;
  /** Takes over rows that D1 has in a newer state. @returns their number. @throws when D1 cannot be read */
  restore?(): Promise<number>;
  /** After a rebuilt journal: hands every row whose outcome is unknown to the operator. */
  holdSuspect?(): void;
  /** Commands of the operator, by name. */
  readonly commands?: Readonly<Record<string, (id: string) => Promise<OpsAnswer>>>;
};

/** A module whose area is configured. @throws Error where it is not */
export function configured<T>(module: T | undefined): T {
  if (module === undefined) throw new Error('this area is not configured');
  return module;
}

export type Prepared =
  | {
      readonly ok: true;
      /** The transaction message that the reserve signs as its fee payer. */
      readonly message: Uint8Array;
      /** Signatures of the message's other signers, in their order after the fee payer. */
      readonly cosignatures?: readonly Uint8Array[];
      /** Of the message's blockhash. */
      readonly signedAt: SignedAt;
      readonly plan: Facts;
      /** Lamports at most lost against a fair price. */
      readonly cost: bigint;
      /** Lamports that may leave the reserve; what was reserved when it does not say. */
      readonly spend?: bigint;
      /** Names that no other operation may have used: a deposit address, a payment. */
      readonly claims: readonly string[];
    }
  | { readonly ok: false; readonly reason: string; readonly outcome?: Facts }
  /** The chain shows the outcome already. */
  | { readonly ok: false; readonly found: Facts };

export type Settled = {
  readonly settlement: Settlement;
  /** What it takes for itself: a Bitcoin output, a refund's signature. */
  readonly claims: readonly string[];
};

export type OperationKind = {
  readonly rules: KindRules;
  /** Upstream answers, checked. Nothing is signed here. @throws AppError UPSTREAM_FAILED */
  prepare(operation: Operation): Promise<Prepared>;
  /** @param isTaken whether another operation has taken this name already */
  settle(operation: Operation, isTaken: (name: string) => boolean): Promise<Settled>;
  /** Why a landing is not the one that was foreseen, so that signing must stop until the operator has checked it. */
  unforeseen?(operation: Operation, landing: Landing): string | undefined;
};

/** A message that is ready to be signed, costs nothing against a fair price and takes no name for itself. */
export const plainlyPrepared = (
  message: Uint8Array,
  { slot, witnesses }: SignedAt,
): Extract<Prepared, { ok: true }> => ({
  ok: true,
  message,
  signedAt: { slot, witnesses },
  plan: {},
  cost: 0n,
  claims: [],
});

/** Of a kind that is done once it has landed. */
export const settlesByLanding: OperationKind['settle'] = async () => ({
  settlement: { state: 'complete', outcome: {} },
  claims: [],
});
