/**
 * One domain inside the custodian: its kinds of operations, its background work, and its rows in D1.
 * @module
 */
import type { OpsAnswer } from '../api.ts';
import type { BeginContext } from './begin-operation.ts';
import type { Kind, OperationKind } from './operation.ts';
import type { Columns, Log, RecordTable } from './ports.ts';
import type { Retries } from './retries.ts';

/** The parts of the kernel that a module may use. */
export type ModuleTools = BeginContext & {
  readonly retries: Retries;
  /** Runs an operation's steps until it has to wait. */
  readonly drive: (id: string) => Promise<void>;
  readonly log: Log;
  /** How callers reach the operator; undefined if none is configured. */
  readonly contact?: string | undefined;
};

export type CustodyModule = {
  /** How operations are prepared and settled, by kind. */
  readonly kinds?: Readonly<Partial<Record<Kind, OperationKind>>>;
  /** When background work is next due, in Unix milliseconds; undefined when there is none. */
  nextRunAt?(): number | undefined;
  /** One bounded piece of background work. After a failure the next alarm retries it. */
  run?(): Promise<void>;
  /** Work that depends on the clock and not on a stored row; called once a minute. */
  onCron?(): Promise<void>;
  /** The D1 tables that mirror rows of this module. Lost rows are published there again. */
  readonly mirrored?: readonly MirrorSource[];
  /** The operator's commands, by name. */
  readonly commands?: Readonly<Record<string, (id: string) => Promise<OpsAnswer>>>;
};

/** One D1 table as the journal would write it now. */
export type MirrorSource = {
  readonly table: RecordTable;
  /** Rows whose id follows `id`, in the order of their ids, with all columns except `id` and `revision`. */
  rowsAfter(id: string, limit: number): readonly { readonly id: string; readonly columns: Columns }[];
  /**
   * Takes over from a D1 row, given as its `journal` column, what a journal that begins anew must not use again. Call
   * inside a transaction.
   */
  adopt?(journal: string): void;
};
