/**
 * The custodian's own tables, the source of truth about money. Some events may happen only once, such as the use of a
 * payment. Each is recorded in one storage transaction with the row that depends on it.
 * @module
 */

import { lamports } from '../../core/amount.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { numberOf, RowStore } from '../row-store.ts';
import { OPERATION, openAgenda, planWork } from './agenda.ts';
import { MirrorQueue } from './mirror-queue.ts';
import { decodeOperation, encodeOperation, isTerminal, type Operation, textOf } from './operation.ts';
import type { SqlRow, Storage } from './ports.ts';
import type { Entry } from './spending-limits.ts';

/**
 * `created_at` of an operation is the time from which the limits count it: when it was stored or, once signed, when it
 * was signed.
 */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS operations (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    signer TEXT NOT NULL,
    signature TEXT UNIQUE,
    counts INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    amount INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    row TEXT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS operations_counting ON operations (created_at) WHERE counts = 1`,
  // A covering index: it has every column that the sums of ended operations read.
  `CREATE INDEX IF NOT EXISTS operations_ended ON operations (kind, created_at, state, amount, cost) WHERE counts = 0`,
  `CREATE INDEX IF NOT EXISTS operations_by_kind ON operations (kind, seq)`,
  `CREATE INDEX IF NOT EXISTS operations_by_signer ON operations (signer)`,
  `CREATE TABLE IF NOT EXISTS once (
    name TEXT PRIMARY KEY,
    used_by TEXT NOT NULL,
    used_at INTEGER NOT NULL
  )`,
] as const;

/** Key of `meta`: the highest number of an operation that the lost journal had. */
const LAST_NUMBER = 'last_number';

/** An ended operation has neither reserved nor unsettled lamports. */
const endedEntry = (kind: Operation['kind'], row: SqlRow): Entry => ({
  kind,
  state: row.state as Operation['state'],
  createdAt: Number(row.created_at),
  signedAt: null,
  amount: lamports(BigInt(String(row.amount))),
  cost: lamports(BigInt(String(row.cost))),
  reserved: lamports(0n),
  unsettled: lamports(0n),
});

/** True if two rows of an operation differ only in what a check writes: times, number of checks, and findings. */
function isSameState(stored: Operation, after: Operation): boolean {
  const { dueAt, looks, updatedAt, outcome } = stored;
  if ((dueAt === null) !== (after.dueAt === null)) return false;
  return encodeOperation({ ...after, dueAt, looks, updatedAt, outcome }) === encodeOperation(stored);
}

/** What the limits count: an open operation with its id, or the sums of several ended operations. */
type Counted = Entry & { readonly id?: string };

export type JournalEvents = {
  /** Called when an operation starts, or its state or detail changes. Must not throw. */
  readonly onChange?: (operation: Operation) => void;
  /** Called in the storage transaction that makes an operation terminal. A throw rolls back the change. */
  readonly onEnd?: (operation: Operation) => void;
};

/** The name of a key that signed operations of a lost journal; see `useOnce`. */
export const lostSigner = (address: string): string => `signer:${address}`;

export class Journal {
  readonly queue: MirrorQueue;
  readonly #storage: Storage;
  readonly #exec: Storage['exec'];
  readonly #operations: RowStore<Operation>;
  readonly #events: JournalEvents;

  constructor(storage: Storage, events: JournalEvents = {}) {
    this.#storage = storage;
    this.#exec = storage.exec;
    this.#operations = new RowStore(storage.exec, 'operations', decodeOperation);
    this.#events = events;
    storage.transaction(() => {
      for (const statement of SCHEMA) storage.exec(statement);
      openAgenda(storage);
    });
    this.queue = new MirrorQueue(storage.exec, this);
  }

  getMeta(key: string): string | undefined {
    return textOf(this.#exec('SELECT value FROM meta WHERE key = ?', key)[0]?.value) ?? undefined;
  }

  setMeta(key: string, value: string): void {
    this.#exec(
      'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
      key,
      value,
    );
  }

  /** A stored time in Unix milliseconds; 0 if none is stored. */
  getTime(key: string): number {
    return Number(this.getMeta(key) ?? 0);
  }

  setTime(key: string, at: number): void {
    this.setMeta(key, String(at));
  }

  /**
   * A balance at this slot or later includes the outcome of every operation whose reservation has ended; initially 0.
   */
  releasedSlot(): bigint {
    return BigInt(this.getMeta('released_slot') ?? 0);
  }

  adoptReleasedSlot(slot: bigint): void {
    if (slot > this.releasedSlot()) this.setMeta('released_slot', slot.toString());
  }

  #nextSeq(): number {
    const stored = numberOf(this.#exec, 'SELECT MAX(seq) AS n FROM operations') ?? 0;
    return Math.max(stored, Number(this.getMeta(LAST_NUMBER) ?? 0)) + 1;
  }

  /** Makes the next operation's number higher than this one, which only D1 has. */
  adoptNumber(seq: number): void {
    if (seq > Number(this.getMeta(LAST_NUMBER) ?? 0)) this.setMeta(LAST_NUMBER, String(seq));
  }

  /** Deletes every row of every table except these keys of `meta`. Call inside a transaction. */
  clear(kept: readonly string[]): void {
    const tables = this.#exec(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 1) <> '_' AND substr(name, 1, 7) <> 'sqlite_'`,
    ).map(({ name }) => String(name));
    for (const table of tables) if (table !== 'meta') this.#exec(`DELETE FROM "${table}"`);
    this.#exec('DELETE FROM meta WHERE key NOT IN (SELECT value FROM json_each(?))', JSON.stringify(kept));
  }

  /** Writes a row with the next revision and queues it for the mirror. Call inside a transaction. */
  #write(operation: Operation, now: number): Operation {
    const row = { ...operation, revision: this.queue.takeRevision() };
    // `counts` is 1 while the row reserves lamports, is unsettled or is due for a check. The limits also add up all
    // rows of the last day, regardless of `counts`.
    const counts = row.reserved > 0n || row.unsettled > 0n || row.dueAt !== null ? 1 : 0;
    this.#exec(
      `INSERT INTO operations (seq, id, kind, signer, signature, counts, created_at, state, amount, cost, row)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (seq) DO UPDATE SET signature = excluded.signature, counts = excluded.counts,
         created_at = excluded.created_at, state = excluded.state, amount = excluded.amount,
         cost = excluded.cost, row = excluded.row`,
      row.seq,
      row.id,
      row.kind,
      row.signer,
      row.signing?.signature ?? null,
      counts,
      row.signedAt ?? row.createdAt,
      row.state,
      // SQLite's column affinity converts the string to an integer. A JavaScript number would be inexact.
      row.amount.toString(),
      row.cost.toString(),
      encodeOperation(row),
    );
    planWork(this.#exec, { ...row, name: OPERATION }, now);
    if (row.releasedSlot !== null) this.adoptReleasedSlot(row.releasedSlot);
    // The D1 columns are read from the row when the row is sent.
    this.queue.publish('operation', row.id, {}, now, row.revision);
    return row;
  }

  /** Stores a new intent under the next number. @throws when its natural key exists */
  insert(operation: Operation): Operation {
    const begun = this.#write({ ...operation, seq: this.#nextSeq() }, operation.createdAt);
    this.#events.onChange?.(begun);
    return begun;
  }

  /**
   * Replaces the row that `before` was read from. Undefined if another caller has changed the row since. A check
   * without a change of state takes no revision; D1 gets its findings with the next state.
   * @throws what `onEnd` throws; the row is then unchanged
   */
  update(before: Operation, after: Operation, now: number): Operation | undefined {
    const written = this.#storage.transaction(() => {
      const stored = this.#operations.first('WHERE seq = ?', before.seq);
      if (stored?.revision !== before.revision) return undefined;
      if (isSameState(stored, after)) {
        const row = encodeOperation({ ...stored, outcome: after.outcome });
        if (row !== encodeOperation(stored))
          this.#exec('UPDATE operations SET row = ? WHERE seq = ?', row, stored.seq);
        planWork(this.#exec, { ...after, name: OPERATION }, now);
        return after;
      }
      const row = this.#write(after, now);
      if (isTerminal(row) && !isTerminal(stored)) this.#events.onEnd?.(row);
      return row;
    });
    if (written && (written.state !== before.state || written.detail !== before.detail))
      this.#events.onChange?.(written);
    return written;
  }

  /** An operation, with the times and number of its checks from the agenda. */
  get(id: string | null): Operation | undefined {
    const operation = this.#operations.first('WHERE id = ?', id);
    const [planned] = this.#exec('SELECT due_at, looks FROM agenda WHERE name = ? AND id = ?', OPERATION, id);
    if (!operation || planned?.due_at === null || planned?.due_at === undefined) return operation;
    return { ...operation, dueAt: Number(planned.due_at), looks: Number(planned.looks) };
  }

  bySignature(signature: string): Operation | undefined {
    return this.#operations.first('WHERE signature = ?', signature);
  }

  /**
   * Limit entries of one kind: each open operation, and two sums of ended operations. One sum covers the last hour, the
   * other the 23 hours before it. These are the only windows that limits use. Operations of an earlier key count
   * against the limits, but do not reserve part of the balance of `reserveAddress`.
   */
  counting(reserveAddress: string, now: number, kind: Operation['kind']): Counted[] {
    const open = this.open().map((row) =>
      row.signer === reserveAddress ? row : { ...row, reserved: lamports(0n) },
    );
    const hour = now - HOUR_MS;
    return [
      ...open,
      this.#endedSum(kind, { since: hour, until: Number.MAX_SAFE_INTEGER, at: now }),
      this.#endedSum(kind, { since: now - DAY_MS, until: hour, at: hour }),
    ];
  }

  /**
   * One entry for the ended operations of a kind that count from after `since` up to `until`. The entry itself counts
   * from `at`, the end of its window. It then stays in the window even if the clock advances between this read and the
   * decision.
   */
  #endedSum(
    kind: Operation['kind'],
    { since, until, at }: { readonly since: number; readonly until: number; readonly at: number },
  ): Entry {
    const ended = 'FROM operations WHERE counts = 0 AND kind = ? AND created_at > ? AND created_at <= ?';
    const [sums = {}] = this.#exec(
      `SELECT COUNT(*) FILTER (WHERE state <> 'failed') AS landed, CAST(COALESCE(SUM(amount), 0) AS TEXT) AS amount,
         CAST(COALESCE(SUM(cost), 0) AS TEXT) AS cost ${ended}`,
      kind,
      since,
      until,
    );
    return {
      ...endedEntry(kind, { ...sums, state: 'done', created_at: at }),
      rows: Number(sums.landed),
      each: () =>
        this.#exec(
          `SELECT state, created_at, CAST(amount AS TEXT) AS amount, CAST(cost AS TEXT) AS cost ${ended}`,
          kind,
          since,
          until,
        ).map((row) => endedEntry(kind, row)),
    };
  }

  /** True if an operation has this address as its signer, so the address is or was the reserve's. */
  isSigner(address: string): boolean {
    return (
      this.#exec('SELECT 1 FROM operations WHERE signer = ? LIMIT 1', address).length > 0 ||
      this.userOf(lostSigner(address)) !== undefined
    );
  }

  /** Every key that has signed for this journal or for a lost one. */
  signers(): string[] {
    const rows = this.#exec(
      `SELECT signer FROM operations GROUP BY signer
       UNION SELECT substr(name, ?) FROM once WHERE name >= ? AND name < ?`,
      lostSigner('').length + 1,
      lostSigner(''),
      lostSigner('~'),
    );
    return rows.map(({ signer }) => String(signer));
  }

  /** Rows that can still change, oldest first. */
  open(): Operation[] {
    return this.#operations.all('WHERE counts = 1 ORDER BY created_at');
  }

  openAndLanded(kind: Operation['kind']): Operation[] {
    return [
      ...this.#operations.all('WHERE kind = ? AND counts = 1', kind),
      ...this.#operations.all(
        `WHERE kind = ? AND counts = 0 AND json_extract(row, '$.landing.slot') IS NOT NULL ORDER BY seq DESC LIMIT 1`,
        kind,
      ),
    ];
  }

  ofKind(kind: Operation['kind'], limit: number): Operation[] {
    return this.#operations.all('WHERE kind = ? ORDER BY seq DESC LIMIT ?', kind, limit);
  }

  latest(limit: number): Operation[] {
    return this.#operations.all('ORDER BY seq DESC LIMIT ?', limit);
  }

  after(id: string, limit: number): Operation[] {
    return this.#operations.all('WHERE id > ? ORDER BY id LIMIT ?', id, limit);
  }

  isEmpty(): boolean {
    return this.#exec('SELECT 1 FROM operations LIMIT 1').length === 0;
  }

  /**
   * Uses a name for one row, permanently: `payment:<signature>`, `output:<txid>:<vout>`, `deposit:<address>`.
   * @param by the row: an operation's id, a request as `token:<id>`, or a claim as `asry:<signature>`
   * @throws when another row already uses it, so that the storage transaction is rolled back
   */
  useOnce(name: string, by: string, now: number): void {
    this.keepUsed(name, by, now);
    const user = this.userOf(name);
    if (user !== by) throw new Error(`${name} is used by ${user}`);
  }

  /** Like `useOnce`, but if another row has used the name, that row keeps it. */
  keepUsed(name: string, by: string, now: number): void {
    this.#exec(
      'INSERT INTO once (name, used_by, used_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      name,
      by,
      now,
    );
  }

  userOf(name: string): string | undefined {
    return textOf(this.#exec('SELECT used_by FROM once WHERE name = ?', name)[0]?.used_by) ?? undefined;
  }
}
