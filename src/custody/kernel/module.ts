/**
 * One domain inside the custodian: its kinds of operations, its background work, and its recovery.
 * @module
 */
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { OpsAnswer } from '../api.ts';
import type { Begin } from './begin-operation.ts';
import type { Journal } from './journal.ts';
import type { Kind, OperationKind } from './operation.ts';
import type { Log, RecordTable, SqlValue, Storage } from './ports.ts';
import type { Recognized } from './reconcile.ts';

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
