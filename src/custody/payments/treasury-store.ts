/**
 * Finalized payments to the treasury with their purposes, and transactions that could not be read yet. A
 * payment's purpose is decided in the storage transaction that records it.
 * @module
 */
import type { SqlRow, Storage } from '../kernel/ports.ts';
import { numberOf } from '../row-store.ts';

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS treasury_payments (
    signature TEXT PRIMARY KEY,
    slot INTEGER NOT NULL,
    block_time INTEGER,
    lamports TEXT NOT NULL,
    payer TEXT,
    purpose TEXT
  )`,
  `CREATE TABLE IF NOT EXISTS unread_transactions (
    signature TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    reason TEXT NOT NULL,
    tries INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL
  )`,
  'CREATE INDEX IF NOT EXISTS unread_transactions_due ON unread_transactions (due_at)',
] as const;

/** A payment as shown by the chain. */
export type TreasuryPayment = {
  readonly signature: string;
  readonly slot: bigint;
  /** Unix seconds. */
  readonly blockTime: number | null;
  /** Lamports that the treasury gained; above zero. */
  readonly lamports: bigint;
  /** The only signer that paid; null if several did. */
  readonly payer: string | null;
};

/** A listed transaction whose content is not read yet. */
export type UnreadTransaction = {
  readonly signature: string;
  /** The node that listed it. */
  readonly source: string;
  readonly reason: string;
  readonly tries: number;
  /** Unix milliseconds. */
  readonly firstAt: number;
  readonly dueAt: number;
};

const unreadOf = (row: SqlRow): UnreadTransaction => ({
  signature: String(row.signature),
  source: String(row.source),
  reason: String(row.reason),
  tries: Number(row.tries),
  firstAt: Number(row.first_at),
  dueAt: Number(row.due_at),
});

export class TreasuryStore {
  readonly #exec: Storage['exec'];

  constructor({ exec, transaction }: Storage) {
    transaction(() => {
      for (const statement of SCHEMA) exec(statement);
    });
    this.#exec = exec;
  }

  /** The purpose of a recorded payment, null if it has none; undefined if the payment is not recorded. */
  purposeOf(signature: string): string | null | undefined {
    const [row] = this.#exec('SELECT purpose FROM treasury_payments WHERE signature = ?', signature);
    return row && (typeof row.purpose === 'string' ? row.purpose : null);
  }

  record(payment: TreasuryPayment, purpose: string | null): void {
    this.#exec(
      `INSERT INTO treasury_payments (signature, slot, block_time, lamports, payer, purpose)
       VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (signature) DO UPDATE SET purpose = COALESCE(purpose, excluded.purpose)`,
      payment.signature,
      Number(payment.slot),
      payment.blockTime,
      payment.lamports.toString(),
      payment.payer,
      purpose,
    );
  }

  unread(signature: string): UnreadTransaction | undefined {
    return this.#exec('SELECT * FROM unread_transactions WHERE signature = ?', signature).map(unreadOf)[0];
  }

  /** Unread transactions that are due, oldest first. @param longest the longest wait for a retry, in milliseconds */
  unreadDue(now: number, longest: number, limit: number): UnreadTransaction[] {
    return this.#exec(
      'SELECT * FROM unread_transactions WHERE due_at <= ? OR due_at > ? ORDER BY due_at LIMIT ?',
      now,
      now + longest,
      limit,
    ).map(unreadOf);
  }

  countUnread(source: string): number {
    return (
      numberOf(this.#exec, 'SELECT COUNT(*) AS n FROM unread_transactions WHERE source = ?', source) ?? 0
    );
  }

  putUnread({ signature, source, reason, tries, firstAt, dueAt }: UnreadTransaction): void {
    this.#exec(
      `INSERT INTO unread_transactions (signature, source, reason, tries, first_at, due_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (signature) DO UPDATE SET reason = excluded.reason, tries = excluded.tries, due_at = excluded.due_at`,
      signature,
      source,
      reason,
      tries,
      firstAt,
      dueAt,
    );
  }

  deleteUnread(signature: string): void {
    this.#exec('DELETE FROM unread_transactions WHERE signature = ?', signature);
  }
}
