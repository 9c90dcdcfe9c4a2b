/**
 * One domain inside the custodian: its kinds of operations, its background work, and its rows in D1.
 * @module
 */
import type { Debt, OpsAnswer, OpsCommand } from '../operator-api.ts';
import type { Agenda } from './agenda.ts';
import type { BeginContext } from './begin-operation.ts';
import type { Kind, OperationKind } from './operation.ts';
import type { Columns, Entity, Log } from './ports.ts';

export type ModuleTools = BeginContext & {
  readonly agenda: Agenda;
  /** Rows of an unverified journal may be old, so they are neither used nor shown. */
  readonly isVerified: () => boolean;
  readonly drive: (id: string) => Promise<void>;
  /** Drives an operation until it has ended, or until `waitMs` milliseconds have passed. */
  readonly finish: (id: string, waitMs: number) => Promise<void>;
  readonly log: Log;
  /** How callers reach the operator; undefined if none is configured. */
  readonly contact?: string | undefined;
};

export type CustodyModule = {
  readonly kinds?: Readonly<Partial<Record<Kind, OperationKind>>>;
  /** The work of this module that waits in the agenda, by its name there. */
  readonly work?: Readonly<Record<string, Work>>;
  /** Work that depends on the clock and not on a stored row; called once a minute. */
  onCron?(): Promise<void>;
  /** The D1 tables that mirror rows of this module. Lost rows are published there again. */
  readonly mirrored?: readonly MirrorSource[];
  debts?(): readonly Debt[];
  readonly commands?: Commands;
};

/** The operator's commands by their names. An unused id is empty. */
export type Commands = Readonly<Partial<Record<OpsCommand['name'], (id: string) => Promise<OpsAnswer>>>>;

export type Work = {
  /** Maximum rows that one alarm processes, so that no work delays other work. */
  readonly limit: number;
  /** Processes due rows. A row that it does not plan again is treated as failed. */
  run(ids: readonly string[]): Promise<void>;
};

export type MirrorSource = {
  readonly table: Entity;
  /**
   * Rows whose id follows `id`, in the order of their ids, with all columns except `id` and `revision`. An operation has
   * a revision of its own; a record takes the next one.
   */
  rowsAfter(
    id: string,
    limit: number,
  ): readonly { readonly id: string; readonly columns: Columns; readonly revision?: number }[];
  /** Takes from a row's `journal` column what a new journal must not use again. Call inside a transaction. */
  adopt?(journal: string): void;
};
