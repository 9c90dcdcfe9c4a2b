/**
 * Every finalized payment to the treasury that the scan has seen, and what it pays for. A row is written once; what a
 * payment serves is decided in the same storage transaction.
 * @module
 */
import type { SqlRow, Storage } from '../kernel/ports.ts';

const SCHEMA = `CREATE TABLE IF NOT EXISTS treasury_payments (
  signature TEXT PRIMARY KEY,
  slot INTEGER NOT NULL,
  block_time INTEGER,
  lamports TEXT NOT NULL,
  payer TEXT,
  purpose TEXT,
  walk INTEGER NOT NULL
)`;

/** A payment as the chain shows it. */
export type TreasuryPayment = {
  readonly signature: string;
  readonly slot: bigint;
  /** Unix seconds. */
  readonly blockTime: number | null;
  /** What the treasury gained, in lamports; above zero. */
  readonly lamports: bigint;
  /** The one signer who paid; null when several did. */
  readonly payer: string | null;
};

export type RecordedPayment = TreasuryPayment & {
  /** What it pays for; null is unmatched. */
  readonly purpose: string | null;
};

export type TreasuryStore = ReturnType<typeof openTreasuryStore>;

const recorded = (row: SqlRow): RecordedPayment => ({
  signature: String(row.signature),
  slot: BigInt(String(row.slot)),
  blockTime: row.block_time === null ? null : Number(row.block_time),
  lamports: BigInt(String(row.lamports)),
  payer: typeof row.payer === 'string' ? row.payer : null,
  purpose: typeof row.purpose === 'string' ? row.purpose : null,
});

export function openTreasuryStore(storage: Storage) {
  storage.exec(SCHEMA);

  return {
    get(signature: string): RecordedPayment | undefined {
      return storage.exec('SELECT * FROM treasury_payments WHERE signature = ?', signature).map(recorded)[0];
    },

    /** The walk that recorded a signature; undefined when none did. */
    walkOf(signature: string): number | undefined {
      const row = storage.exec('SELECT walk FROM treasury_payments WHERE signature = ?', signature)[0];
      return row && Number(row.walk);
    },

    record(payment: TreasuryPayment, purpose: string | null, walk: number): void {
      storage.exec(
        `INSERT INTO treasury_payments (signature, slot, block_time, lamports, payer, purpose, walk)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (signature) DO UPDATE SET purpose = COALESCE(purpose, excluded.purpose)`,
        payment.signature,
        Number(payment.slot),
        payment.blockTime,
        payment.lamports.toString(),
        payment.payer,
        purpose,
        walk,
      );
    },
  };
}
