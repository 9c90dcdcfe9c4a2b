/**
 * What the custodian is given: storage, clock, chains. The Durable Object passes the platform's, the simulator its
 * models; nothing in between differs.
 * @module
 */
import type { Operation } from './operation.ts';

export type SqlValue = string | number | null;
export type SqlRow = Record<string, SqlValue>;

export type Storage = {
  /** Runs one statement; its rows. Throws in an instance that has been replaced. */
  exec(query: string, ...params: SqlValue[]): SqlRow[];
  /** All of `work` or nothing of it. Synchronous: no other event runs in between. */
  transaction<T>(work: () => T): T;
  /** Resolves once all writes so far are durable; rejects in a replaced instance. Nothing is sent before it. */
  sync(): Promise<void>;
  /** One alarm an object; a later call replaces it, null takes it away. Unix milliseconds. */
  setAlarm(at: number | null): Promise<void>;
};

/** D1, as the outbox sees it. */
export type Mirror = {
  /** Writes rows, each only over an older revision. All or none of them. */
  apply(rows: readonly MirrorRow[]): Promise<void>;
  /** The highest revision that the mirror holds, 0 when it is empty. */
  highestRevision(): Promise<number>;
  /** Operations with a natural key after this one, in the order of the keys. */
  operationsAfter(id: string, limit: number): Promise<Operation[]>;
  /** The `journal` column of a table's rows with an id after this one, in the order of the ids. */
  recordsAfter(table: RecordTable, id: string, limit: number): Promise<{ id: string; journal: string }[]>;
};

/** D1 tables that mirror more than an operation. Each has `id`, `revision` and `journal`, the own row as JSON. */
export const RECORD_TABLES = [
  'invoices',
  'tokens',
  'listings',
  'refunds',
  'asry_claims',
  'asry_epochs',
  'proofs',
] as const;
export type RecordTable = (typeof RECORD_TABLES)[number];

/** One row of D1, keyed by what it is about. */
export type MirrorRow =
  | {
      readonly entity: 'operation';
      readonly id: string;
      readonly revision: number;
      readonly operation: Operation;
    }
  | {
      readonly entity: RecordTable;
      readonly id: string;
      readonly revision: number;
      /** All columns but `id` and `revision`. */
      readonly columns: Readonly<Record<string, SqlValue>>;
    };

export type Signer = {
  /** The reserve's Solana address. */
  readonly address: string;
  /**
   * The ed25519 signature of a transaction message, 64 bytes, verified.
   * @throws AppError UPSTREAM_FAILED when a key service fails, is late, or returns another signature
   */
  sign(message: Uint8Array): Promise<Uint8Array>;
  /** True when the key is in another system: the message is then stored before it is sent there. */
  readonly isRemote?: true;
  /** Compares the service's public key with `address` and logs a difference. Never rejects. */
  check?(): Promise<void>;
};

export type Log = (line: Readonly<Record<string, unknown>>) => void;
