/**
 * The custodian's dependencies on the platform: storage, clock, chains. The Durable Object passes the
 * platform's; the simulator passes models. The code between them is the same.
 * @module
 */
import type { RecordTable } from '../../core/record-tables.ts';

export type SqlValue = string | number | null;
export type SqlRow = Record<string, SqlValue>;

export type Storage = {
  /** Runs one statement and returns its rows. @throws in an instance that was replaced. */
  exec(query: string, ...params: SqlValue[]): SqlRow[];
  /** Commits all writes of `work` or none. Synchronous, so other events cannot run in between. */
  transaction<T>(work: () => T): T;
  /** Resolves once all writes so far are durable; rejects in a replaced instance. Await it before sending anything. */
  sync(): Promise<void>;
  /**
   * Sets the object's only timer, which calls `alarm`: a later call replaces it, null removes it. Unix milliseconds.
   */
  setAlarm(at: number | null): Promise<void>;
  /**
   * Restores the storage to its state at a time in Unix milliseconds, and restarts the object within seconds. Absent if
   * the platform keeps no history.
   * @throws when the platform refuses
   */
  restore?(at: number): Promise<void>;
  /** Size of the database in bytes. Absent if the platform does not report it. */
  bytes?(): number;
};

/**
 * The birth of a journal that was started empty after a loss, as stored in D1. Rows up to this revision belong to the
 * lost journal.
 */
export type MirrorBirth = {
  /** Unix milliseconds. */
  readonly at: number;
  readonly revision: number;
};

export type Mirror = {
  /**
   * Writes all rows or none, and the batch's mark, which is higher than their revisions. A row replaces only an older
   * row.
   * @returns the mark that D1 had before; 0 if it had none
   */
  apply(rows: readonly MirrorRow[], mark: number, birth: MirrorBirth | undefined): Promise<number>;
  /** The mark of the newest batch; 0 if D1 has none. */
  mark(): Promise<number>;
  newestRevision(): Promise<number>;
  /** Writes a test row and deletes it. @throws if D1 accepts no writes */
  probe(): Promise<void>;
  /** The rows whose id follows `id`, ordered by id. */
  recordsAfter(entity: Entity, id: string, limit: number): Promise<MirrorRecord[]>;
};

/** What D1 mirrors; operations are in the table `operations`. */
export type Entity = 'operation' | RecordTable;

export type MirrorRecord = { readonly id: string; readonly revision: number; readonly journal: string };

export type MirrorRow = {
  readonly entity: Entity;
  readonly id: string;
  readonly revision: number;
  /** All columns except `id` and `revision`. */
  readonly columns: Columns;
};

export type Columns = Readonly<Record<string, SqlValue>>;

export type Signer = {
  readonly address: string;
  /**
   * The ed25519 signature of a transaction message, 64 bytes, verified.
   * @throws AppError UPSTREAM_FAILED when a key service fails, is late, or returns a wrong signature
   */
  sign(message: Uint8Array): Promise<Uint8Array>;
  /** Renews the token of a key service, and lets it sign a test. @throws as `sign` */
  check?(): Promise<void>;
};

/** The result of `work`, or undefined after `ms` milliseconds. */
export type Within = <T>(work: Promise<T>, ms: number) => Promise<T | undefined>;

export type Log = (line: Readonly<Record<string, unknown>>) => void;
