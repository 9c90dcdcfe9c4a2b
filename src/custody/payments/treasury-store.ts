/**
 * Finalized payments to the treasury with the requests or claims that they pay for, and transactions that have not been
 * read yet.
 * @module
 */
import type { SqlRow, Storage } from '../kernel/ports.ts';
import type { Debt } from '../operator-api.ts';
import { debtOf, numberOf } from '../row-store.ts';

/** Payments above dust that pay for nothing. */
const UNMATCHED = 'used_by IS NULL AND CAST(lamports AS INTEGER) > 10000';

/**
 * Unmatched payments that the operator may return, by hand if several accounts paid. Each paid the treasury more than 10,000 lamports, so
 * sending many of them is expensive. A swap's refund is marked as used only in `once`. The parameters are {@link
 * NotReturned}.
 */
const RETURNABLE = `FROM treasury_payments AS paid WHERE ${UNMATCHED} AND slot > ?1
  AND COALESCE(payer, '') NOT IN (SELECT payee UNION SELECT value FROM json_each(?2))
  AND NOT EXISTS (SELECT 1 FROM once WHERE name = 'payment:' || paid.signature)
  AND NOT EXISTS (SELECT 1 FROM json_each(?3) AS swap WHERE json_extract(swap.value, '$.payee') = paid.payee
    AND CAST(lamports AS INTEGER) BETWEEN json_extract(swap.value, '$.least') AND json_extract(swap.value, '$.most')
    AND COALESCE(block_time * 1000 >= json_extract(swap.value, '$.since'), TRUE))`;

/**
 * The newest slot whose payments a lost journal may have used; our own addresses, as JSON; {@link AwaitedReturn}s, as
 * JSON.
 */
export type NotReturned = readonly [birthSlot: number, own: string, awaited: string];

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS treasury_payments (
    signature TEXT PRIMARY KEY,
    slot INTEGER NOT NULL,
    block_time INTEGER,
    lamports TEXT NOT NULL,
    payee TEXT NOT NULL,
    payer TEXT,
    used_by TEXT
  )`,
  `CREATE TABLE IF NOT EXISTS unread_transactions (
    signature TEXT NOT NULL,
    source TEXT NOT NULL,
    state TEXT NOT NULL,
    final_at INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    PRIMARY KEY (signature, source)
  )`,
  "CREATE INDEX IF NOT EXISTS unread_transactions_queue ON unread_transactions (source, final_at) WHERE state = 'queued'",
  'CREATE INDEX IF NOT EXISTS unread_transactions_state ON unread_transactions (state, source, first_at)',
  `CREATE INDEX IF NOT EXISTS treasury_payments_unmatched ON treasury_payments (CAST(lamports AS INTEGER)) WHERE ${UNMATCHED}`,
] as const;

export type TreasuryPayment = {
  readonly signature: string;
  readonly slot: bigint;
  /** Unix seconds. */
  readonly blockTime: number | null;
  /** Lamports that the payee gained; zero if the transaction does not pay it. */
  readonly lamports: bigint;
  /** The treasury that was paid: the request's, or the configured one if there is no request. */
  readonly payee: string;
  /** The only signer that paid; null if several signers paid. */
  readonly payer: string | null;
};

const paymentOf = (row: SqlRow): TreasuryPayment => ({
  signature: String(row.signature),
  slot: BigInt(Number(row.slot)),
  blockTime: row.block_time === null ? null : Number(row.block_time),
  lamports: BigInt(String(row.lamports)),
  payee: String(row.payee),
  payer: row.payer === null ? null : String(row.payer),
});

/** A listed transaction that has not been read yet. It has one row for each node that lists it. */
export type UnreadTransaction = {
  readonly signature: string;
  /** The node that listed it. */
  readonly source: string;
  /**
   * queued: not read yet; absent: no quorum shows it; waiting: cannot be read; undecided: read, but recorded only after
   * a swap or a sale has ended.
   */
  readonly state: 'queued' | 'absent' | 'waiting' | 'undecided';
  /** Earliest time at which the transaction can have become final, in Unix milliseconds. */
  readonly finalAt: number;
  readonly firstAt: number;
};

/** Maximum transactions of each node in these states. Above the maximum, the oldest are dropped. */
export const MOST_UNREAD = { absent: 1_000, waiting: 20_000, undecided: 20_000 } as const;

/** Queued transactions, none of which has been read. Times in Unix milliseconds. */
export type Queued = {
  /** The node whose transaction was queued first, and when that was. */
  readonly source: string;
  readonly since: number;
};

const unreadOf = (row: SqlRow): UnreadTransaction => ({
  signature: String(row.signature),
  source: String(row.source),
  state: row.state as UnreadTransaction['state'],
  finalAt: Number(row.final_at),
  firstAt: Number(row.first_at),
});

export class TreasuryStore {
  readonly #exec: Storage['exec'];

  constructor({ exec, transaction }: Storage) {
    transaction(() => {
      for (const statement of SCHEMA) exec(statement);
    });
    this.#exec = exec;
  }

  /**
   * Whether a transaction has been read and recorded, whatever it pays for. A record that it paid one treasury nothing
   * does not apply to another treasury.
   */
  hasRecord(signature: string, payee: string): boolean {
    const query = "SELECT 1 FROM treasury_payments WHERE signature = ? AND (lamports <> '0' OR payee = ?)";
    return this.#exec(query, signature, payee).length > 0;
  }

  /** The treasury that a recorded payment paid. */
  payeeOf(signature: string): string | undefined {
    const [row] = this.#exec('SELECT payee FROM treasury_payments WHERE signature = ?', signature);
    return row && String(row.payee);
  }

  /** @param usedBy its request, `own` for a movement of our own money, or null */
  record(payment: TreasuryPayment, usedBy: string | null): void {
    this.#exec(
      `INSERT INTO treasury_payments (signature, slot, block_time, lamports, payee, payer, used_by)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (signature) DO UPDATE SET used_by = COALESCE(used_by, excluded.used_by),
         lamports = excluded.lamports, payee = excluded.payee, payer = excluded.payer`,
      payment.signature,
      Number(payment.slot),
      payment.blockTime,
      payment.lamports.toString(),
      payment.payee,
      payment.payer,
      usedBy,
    );
    this.deleteUnread(payment.signature);
  }

  unmatched(not: NotReturned, signature: string): TreasuryPayment | undefined {
    return this.#exec(`SELECT * ${RETURNABLE} AND signature = ?4`, ...not, signature).map(paymentOf)[0];
  }

  /** Unmatched payments, largest first, so that strangers' small payments do not hide a customer's. */
  largestUnmatched(not: NotReturned, limit: number): TreasuryPayment[] {
    const query = `SELECT * ${RETURNABLE} ORDER BY CAST(lamports AS INTEGER) DESC LIMIT ?4`;
    return this.#exec(query, ...not, limit).map(paymentOf);
  }

  unmatchedDebt(not: NotReturned): Debt {
    const owed = `SELECT signature AS id, 'no_request' AS reason, CAST(lamports AS INTEGER) AS atoms,
      block_time * 1000 AS since, 1 AS awaits, -CAST(lamports AS INTEGER) AS place ${RETURNABLE}`;
    return debtOf(this.#exec, 'payment_unmatched', owed, ...not);
  }

  /** Transactions that could not be read or recorded, newest first. */
  unbooked(limit: number): readonly Pick<UnreadTransaction, 'signature' | 'firstAt'>[] {
    return this.#exec(
      `SELECT signature, MIN(first_at) AS first_at FROM unread_transactions
       WHERE state IN ('waiting', 'undecided') GROUP BY signature ORDER BY first_at DESC, MIN(rowid) DESC LIMIT ?`,
      limit,
    ).map((row) => ({ signature: String(row.signature), firstAt: Number(row.first_at) }));
  }

  countUnbooked(): number {
    const query =
      "SELECT COUNT(DISTINCT signature) AS n FROM unread_transactions WHERE state IN ('waiting', 'undecided')";
    return numberOf(this.#exec, query) ?? 0;
  }

  unread(signature: string): UnreadTransaction | undefined {
    return this.#exec('SELECT * FROM unread_transactions WHERE signature = ?', signature).map(unreadOf)[0];
  }

  /** Whether a quorum of nodes has shown this transaction in this slot. */
  isShown(signature: string, slot: bigint): boolean {
    const query = 'SELECT 1 FROM treasury_payments WHERE signature = ? AND slot = ?';
    return this.#exec(query, signature, Number(slot)).length > 0;
  }

  countQueued(source: string): number {
    const query = "SELECT COUNT(*) AS n FROM unread_transactions WHERE source = ? AND state = 'queued'";
    return numberOf(this.#exec, query, source) ?? 0;
  }

  queuedSources(): string[] {
    return this.#exec("SELECT DISTINCT source FROM unread_transactions WHERE state = 'queued'").map(
      ({ source }) => String(source),
    );
  }

  /** The newest and the oldest of a node's queued transactions. */
  endsOfQueue(source: string): readonly string[] {
    return ['DESC', 'ASC'].flatMap((direction) =>
      this.#exec(
        `SELECT signature FROM unread_transactions WHERE source = ? AND state = 'queued'
         ORDER BY final_at ${direction}, rowid ${direction} LIMIT 1`,
        source,
      ).map(({ signature }) => String(signature)),
    );
  }

  /**
   * The node that lists the oldest queued transaction, and since when. A time after `now` was stored before the clock was
   * set back.
   */
  queued(now: number): Queued | undefined {
    const [row] = this.#exec(
      "SELECT source, MIN(first_at) AS since FROM unread_transactions WHERE state = 'queued'",
    );
    if (typeof row?.source !== 'string') return undefined;
    const since = Number(row.since);
    if (since > now)
      this.#exec(
        "UPDATE unread_transactions SET first_at = ? WHERE state = 'queued' AND first_at > ?",
        now,
        now,
      );
    return { source: row.source, since: Math.min(since, now) };
  }

  /**
   * Earliest `final_at` among a node's transactions that are queued, are undecided or could not be read, in Unix
   * milliseconds.
   */
  unreadFrom(source: string): number | undefined {
    const query = `SELECT MIN(final_at) AS n FROM unread_transactions WHERE source = ? AND (state IN ('queued', 'undecided')
      OR (state = 'waiting' AND EXISTS (SELECT 1 FROM agenda WHERE name = 'unread' AND id = signature AND tries > 0)))`;
    return numberOf(this.#exec, query, source);
  }

  /** Stores a node's row. All rows of a transaction share the state. */
  putUnread(row: UnreadTransaction): void {
    this.#exec(
      `INSERT INTO unread_transactions (signature, source, state, final_at, first_at)
       VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      row.signature,
      row.source,
      row.state,
      row.finalAt,
      row.firstAt,
    );
    this.#exec('UPDATE unread_transactions SET state = ? WHERE signature = ?', row.state, row.signature);
  }

  /**
   * Due entries of the agenda: from each node in turn, the entry with the fewest checks. Invented transactions, or ones
   * of an unreadable version, then do not delay a payment that a single check missed. An entry whose transaction was
   * confirmed or dropped has no node.
   */
  dueUnread(now: number, limit: number): string[] {
    const found = this.#exec(
      `SELECT id FROM (
         SELECT id, looks + tries AS checks, due_at,
           row_number() OVER (PARTITION BY source ORDER BY looks + tries, due_at) AS turn
         FROM agenda LEFT JOIN unread_transactions ON signature = id
         WHERE agenda.rowid IN (
           SELECT rowid FROM agenda WHERE name = 'unread' AND due_at <= ?1
           UNION SELECT rowid FROM agenda WHERE name = 'unread' AND due_at IS NOT NULL AND set_at > ?1))
       GROUP BY id ORDER BY MIN(turn), checks, due_at LIMIT ?2`,
      Math.floor(now),
      limit,
    );
    return found.map(({ id }) => String(id));
  }

  deleteUnread(signature: string): void {
    this.#exec('DELETE FROM unread_transactions WHERE signature = ?', signature);
  }

  /**
   * Deletes a node's rows in this state, the oldest first, until `most` are left.
   * @returns whether it deleted any
   */
  trimUnread(source: string, state: keyof typeof MOST_UNREAD, most: number): boolean {
    return (
      this.#exec(
        `DELETE FROM unread_transactions WHERE rowid IN (
           SELECT rowid FROM unread_transactions WHERE source = ? AND state = ?
           ORDER BY first_at DESC, rowid DESC LIMIT -1 OFFSET ?) RETURNING 1`,
        source,
        state,
        most,
      ).length > 0
    );
  }
}
