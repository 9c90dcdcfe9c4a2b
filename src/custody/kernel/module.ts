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
  /** False until the journal is found to be complete. Until then its rows may be outdated: do not use or show them. */
  readonly isVerified: () => boolean;
  readonly drive: (id: string) => Promise<void>;
  /** Drives an operation until it has ended, or until `waitMs` milliseconds have passed. */
  readonly finish: (id: string, waitMs: number) => Promise<void>;
  readonly log: Log;
  /** Address at which callers reach the operator; undefined if none is configured. */
  readonly contact?: string | undefined;
};

export type CustodyModule = {
  readonly kinds?: Readonly<Partial<Record<Kind, OperationKind>>>;
  /** Handlers of this module's planned work, by the work's name in the agenda. */
  readonly work?: Readonly<Record<string, Work>>;
  /** Work that depends on the time, not on a stored row; called once a minute. */
  onCron?(): Promise<void>;
  /** The D1 tables with copies of this module's rows. After D1 is restored, `ops republish` sends every row again. */
  readonly mirrored?: readonly MirrorSource[];
  debts?(): readonly Debt[];
  readonly commands?: Commands;
};

/** The operator's commands by name. A command without an id gets an empty one. */
export type Commands = Readonly<Partial<Record<OpsCommand['name'], (id: string) => Promise<OpsAnswer>>>>;

export type Work = {
  /** Maximum rows that one run processes, so that one kind of work does not delay another. */
  readonly limit: number;
  /** Chooses the rows. If absent, the longest overdue rows are processed. */
  due?(limit: number): readonly string[];
  /** Processes these due rows. A row that is still due afterwards is treated as failed. */
  run(ids: readonly string[]): Promise<void>;
};

export type MirrorSource = {
  readonly table: Entity;
  /**
   * Rows whose id follows `id`, ordered by id, with all columns except `id` and `revision`. An operation keeps its
   * revision; a record gets a new revision when it is sent.
   */
  rowsAfter(
    id: string,
    limit: number,
  ): readonly { readonly id: string; readonly columns: Columns; readonly revision?: number }[];
  /**
   * Reserves the names in a lost row's `journal` column, so a new journal cannot use them. Call inside a transaction.
   * @param revision its revision in D1
   */
  adopt?(journal: string, revision: number): void;
};
