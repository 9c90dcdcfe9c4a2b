/**
 * The custodian's own tables and the source of truth about money. Anything that may happen only once, such as the use
 * of a payment, is recorded in the same storage transaction as the row that depends on it.
 * @module
 */

import { lamports } from '../../core/amount.ts';
import type { BudgetUse } from '../../core/budget.ts';
import { isTimeOver } from '../../core/due-time.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { RowStore } from '../row-store.ts';
import { ALARM_FAILURES, OPERATION, openAgenda, planWork } from './agenda.ts';
import {
  columnsOf,
  decodeOperation,
  encodeOperation,
  type Facts,
  isTerminal,
  type Operation,
} from './operation.ts';
import type { Columns, Entity, MirrorRow, SqlRow, Storage } from './ports.ts';
import type { Entry } from './spending-limits.ts';

/** `created_at` of an operation is the time from which the limits count it: its creation, later its signing. */
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
  `CREATE TABLE IF NOT EXISTS calls (purpose TEXT NOT NULL, client TEXT NOT NULL, at INTEGER NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS calls_by_purpose ON calls (purpose, at)`,
  `CREATE TABLE IF NOT EXISTS once (
    name TEXT PRIMARY KEY,
    used_by TEXT NOT NULL,
    used_at INTEGER NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS audit (at INTEGER NOT NULL, command TEXT NOT NULL, facts TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS outbox (
    entity TEXT NOT NULL,
    id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    since INTEGER NOT NULL,
    columns TEXT,
    PRIMARY KEY (entity, id)
  )`,
] as const;

const text = (row: SqlRow | undefined, column: string): string | undefined => {
  const value = row?.[column];
  return typeof value === 'string' ? value : undefined;
};
const integer = (row: SqlRow | undefined, column: string): number => Number(row?.[column] ?? 0);

/** Key of `meta`: the highest number of an operation that the lost journal had. */
const LAST_NUMBER = 'last_number';

/** Name in the agenda of rows that D1 refused while it accepted others. */
export const REFUSED_ROW = 'mirror_row';
export const refusedKey = ({ entity, id }: Pick<MirrorRow, 'entity' | 'id'>): string => `${entity}:${id}`;

const REFUSAL = `LEFT JOIN agenda r ON r.name = '${REFUSED_ROW}' AND r.id = o.entity || ':' || o.id`;
const OUTBOX_ROWS = `SELECT o.entity, o.id, o.revision, o.columns, p.row FROM outbox o
  LEFT JOIN operations p ON o.entity = 'operation' AND p.id = o.id ${REFUSAL}`;

const mirrorRowOf = (row: SqlRow): MirrorRow => ({
  entity: row.entity as Entity,
  id: String(row.id),
  revision: integer(row, 'revision'),
  columns:
    row.entity === 'operation'
      ? columnsOf(decodeOperation(String(row.row)))
      : (JSON.parse(String(row.columns)) as Columns),
});

/** An ended operation reserves nothing and has nothing unsettled. */
const endedEntry = (kind: Operation['kind'], row: SqlRow): Entry => ({
  kind,
  state: row.state as Operation['state'],
  createdAt: integer(row, 'created_at'),
  signedAt: null,
  amount: lamports(BigInt(String(row.amount))),
  cost: lamports(BigInt(String(row.cost))),
  reserved: lamports(0n),
  unsettled: lamports(0n),
});

/** Whether two rows of an operation differ at most in the times, the number and the findings of their checks. */
function isSameState(stored: Operation, after: Operation): boolean {
  const { dueAt, looks, updatedAt, outcome } = stored;
  if ((dueAt === null) !== (after.dueAt === null)) return false;
  return encodeOperation({ ...after, dueAt, looks, updatedAt, outcome }) === encodeOperation(stored);
}

/** What the limits count: an open operation with its id, or the sums of several that ended. */
type Counted = Entry & { readonly id?: string };

export type JournalEvents = {
  /** An operation began, or its state or detail changed. Must not throw. */
  readonly onChange?: (operation: Operation) => void;
  /** An operation becomes terminal in the open storage transaction. A throw rolls back the change. */
  readonly onEnd?: (operation: Operation) => void;
};

/** The name, used once, of a key that signed operations of a lost journal. */
export const lostSigner = (address: string): string => `signer:${address}`;

export class Journal {
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
  }

  getMeta(key: string): string | undefined {
    return text(this.#exec('SELECT value FROM meta WHERE key = ?', key)[0], 'value');
  }

  setMeta(key: string, value: string): void {
    this.#exec(
      'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
      key,
      value,
    );
  }

  /** A stored time in Unix milliseconds; 0 when there is none. */
  getTime(key: string): number {
    return Number(this.getMeta(key) ?? 0);
  }

  setTime(key: string, at: number): void {
    this.setMeta(key, String(at));
  }

  /**
   * Whether something that happens at most once in `everyMs` is due; if so, stores the time. Without the stored time,
   * an eviction would repeat an hourly alarm each minute.
   */
  isDueAgain(what: string, everyMs: number, now: number): boolean {
    const key = `again:${what}`;
    if (!isTimeOver(this.getTime(key) + everyMs, everyMs, now)) return false;
    this.setTime(key, now);
    return true;
  }

  /** The names that {@link isDueAgain} has stored within the last `ms` milliseconds. */
  happenedWithin(ms: number, now: number): string[] {
    return this.#exec("SELECT key, value FROM meta WHERE key > 'again:' AND key < 'again;'")
      .filter(({ value }) => Math.abs(now - Number(value)) <= ms)
      .map(({ key }) => String(key).slice('again:'.length));
  }

  revision(): number {
    return Number(this.getMeta('revision') ?? 0);
  }

  /** Slot from which a balance shows the outcome of every operation that no longer reserves lamports; 0 at first. */
  releasedSlot(): bigint {
    return BigInt(this.getMeta('released_slot') ?? 0);
  }

  adoptReleasedSlot(slot: bigint): void {
    if (slot > this.releasedSlot()) this.setMeta('released_slot', slot.toString());
  }

  /** Takes the next revision. Call inside a transaction. */
  #takeRevision(): number {
    const next = this.revision() + 1;
    this.setMeta('revision', String(next));
    return next;
  }

  #nextSeq(): number {
    const stored = integer(this.#exec('SELECT MAX(seq) AS seq FROM operations')[0], 'seq');
    return Math.max(stored, Number(this.getMeta(LAST_NUMBER) ?? 0)) + 1;
  }

  /** Continues after the number of an operation that only D1 has. */
  adoptNumber(seq: number): void {
    if (seq > Number(this.getMeta(LAST_NUMBER) ?? 0)) this.setMeta(LAST_NUMBER, String(seq));
  }

  /** Deletes every row of every table except the audit and these keys of `meta`. Call inside a transaction. */
  clear(kept: readonly string[]): void {
    const tables = this.#exec(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 1) <> '_' AND substr(name, 1, 7) <> 'sqlite_'`,
    ).map(({ name }) => String(name));
    for (const table of tables)
      if (table !== 'audit' && table !== 'meta') this.#exec(`DELETE FROM "${table}"`);
    this.#exec('DELETE FROM meta WHERE key NOT IN (SELECT value FROM json_each(?))', JSON.stringify(kept));
  }

  /** Writes a row with the next revision and queues it for the mirror. Call inside a transaction. */
  #write(operation: Operation, now: number): Operation {
    const row = { ...operation, revision: this.#takeRevision() };
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
      // The column's affinity turns the text into an integer. A JavaScript number would be inexact.
      row.amount.toString(),
      row.cost.toString(),
      encodeOperation(row),
    );
    this.#plan(row, now);
    if (row.releasedSlot !== null) this.adoptReleasedSlot(row.releasedSlot);
    // Its columns are read from the row when it is sent.
    this.publish('operation', row.id, {}, now, row.revision);
    return row;
  }

  #plan({ id, dueAt, looks }: Operation, now: number): void {
    planWork(this.#exec, { name: OPERATION, id, dueAt, looks }, now);
  }

  /** Stores a new intent under the next number. @throws when its natural key exists */
  insert(operation: Operation): Operation {
    const begun = this.#write({ ...operation, seq: this.#nextSeq() }, operation.createdAt);
    this.#events.onChange?.(begun);
    return begun;
  }

  /**
   * Replaces the row that `before` was read from. Undefined if another caller has changed the row since. A check that
   * changes no state takes no revision; the mirror gets its findings with the next state.
   * @throws what `onEnd` throws; nothing has changed then
   */
  update(before: Operation, after: Operation, now: number): Operation | undefined {
    const written = this.#storage.transaction(() => {
      const stored = this.#operations.first('WHERE seq = ?', before.seq);
      if (stored?.revision !== before.revision) return undefined;
      if (isSameState(stored, after)) {
        this.#keepFindings(stored, after.outcome);
        this.#plan(after, now);
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

  #keepFindings(stored: Operation, outcome: Facts): void {
    const row = encodeOperation({ ...stored, outcome });
    if (row !== encodeOperation(stored))
      this.#exec('UPDATE operations SET row = ? WHERE seq = ?', row, stored.seq);
  }

  /** Continues from a revision of the mirror, if it is higher. */
  adoptRevision(mirrored: number): void {
    if (mirrored > this.revision()) this.setMeta('revision', String(mirrored));
  }

  /** An operation, with the times and number of its checks from the agenda. */
  get(id: string | null): Operation | undefined {
    const operation = this.#operations.first('WHERE id = ?', id);
    const [planned] = this.#exec('SELECT due_at, looks FROM agenda WHERE name = ? AND id = ?', OPERATION, id);
    if (!operation || planned?.due_at === null || planned?.due_at === undefined) return operation;
    return { ...operation, dueAt: Number(planned.due_at), looks: integer(planned, 'looks') };
  }

  bySignature(signature: string): Operation | undefined {
    return this.#operations.first('WHERE signature = ?', signature);
  }

  /**
   * Entries for the limits of one kind: every open operation, and two sums of the ended ones, of the last hour and of
   * the rest of the last day. No limit has another window. Operations of an earlier key count against the limits, but
   * reserve nothing of the balance of `reserveAddress`.
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
      rows: integer(sums, 'landed'),
      each: () =>
        this.#exec(
          `SELECT state, created_at, CAST(amount AS TEXT) AS amount, CAST(cost AS TEXT) AS cost ${ended}`,
          kind,
          since,
          until,
        ).map((row) => endedEntry(kind, row)),
    };
  }

  /** Whether an operation names this address as its signer: the address is or was the reserve's. */
  isSigner(address: string): boolean {
    return (
      this.#exec('SELECT 1 FROM operations WHERE signer = ? LIMIT 1', address).length > 0 ||
      this.usedBy(lostSigner(address)) !== undefined
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

  /** Rows of a kind that are still open, and the newest landed one. */
  openAndLanded(kind: Operation['kind']): Operation[] {
    return [
      ...this.#operations.all('WHERE kind = ? AND counts = 1', kind),
      ...this.#operations.all(
        `WHERE kind = ? AND counts = 0 AND json_extract(row, '$.landing.slot') IS NOT NULL ORDER BY seq DESC LIMIT 1`,
        kind,
      ),
    ];
  }

  /** Operations of a kind, newest first. */
  ofKind(kind: Operation['kind'], limit: number): Operation[] {
    return this.#operations.all('WHERE kind = ? ORDER BY seq DESC LIMIT ?', kind, limit);
  }

  latest(limit: number): Operation[] {
    return this.#operations.all('ORDER BY seq DESC LIMIT ?', limit);
  }

  /** Operations whose id follows `id`, in the order of their ids. */
  after(id: string, limit: number): Operation[] {
    return this.#operations.all('WHERE id > ? ORDER BY id LIMIT ?', id, limit);
  }

  isEmpty(): boolean {
    return this.#exec('SELECT 1 FROM operations LIMIT 1').length === 0;
  }

  /** Calls of one purpose after `since`, oldest first. */
  calls(purpose: string, since: number): BudgetUse[] {
    return this.#exec(
      'SELECT client, at FROM calls WHERE purpose = ? AND at > ? ORDER BY at',
      purpose,
      since,
    ).map((row) => ({ client: row.client === '' ? null : String(row.client), at: integer(row, 'at') }));
  }

  /** @param client null for the service itself */
  recordCall(purpose: string, client: string | null, at: number): void {
    this.#exec('INSERT INTO calls (purpose, client, at) VALUES (?, ?, ?)', purpose, client ?? '', at);
  }

  /** Deletes recorded calls that are older than a day. No limit on calls has a longer window. */
  purge(now: number): void {
    this.#exec('DELETE FROM calls WHERE at < ?', now - DAY_MS);
  }

  /**
   * Uses a name for one row, permanently: `payment:<signature>`, `output:<txid>:<vout>`, `deposit:<address>`.
   * @param by the row: an operation's id, a request as `token:<id>`, or a claim as `asry:<signature>`
   * @returns false when another row already uses it
   */
  useOnce(name: string, by: string, now: number): boolean {
    this.#exec(
      'INSERT INTO once (name, used_by, used_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      name,
      by,
      now,
    );
    return this.usedBy(name) === by;
  }

  /** The row that uses a name, if any. */
  usedBy(name: string): string | undefined {
    return text(this.#exec('SELECT used_by FROM once WHERE name = ?', name)[0], 'used_by');
  }

  /**
   * Queues a row for the mirror. Call inside the transaction that changes it.
   *
   * @param columns all of D1's columns except `id` and `revision`; `journal` is the row itself as JSON
   */
  publish(
    entity: Entity,
    id: string,
    columns: Columns,
    now: number,
    revision: number = this.#takeRevision(),
  ): void {
    this.#exec(
      `INSERT INTO outbox (entity, id, revision, since, columns) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (entity, id) DO UPDATE SET revision = excluded.revision, columns = excluded.columns`,
      entity,
      id,
      revision,
      now,
      JSON.stringify(columns),
    );
  }

  /** Rows that are not in the mirror yet and that it has not refused, oldest change first. */
  outbox(limit: number): MirrorRow[] {
    return this.#exec(`${OUTBOX_ROWS} WHERE r.id IS NULL ORDER BY o.revision LIMIT ?`, limit).map(
      mirrorRowOf,
    );
  }

  /** Whether `outbox` would return a row. */
  isQueued(): boolean {
    return this.#exec(`SELECT 1 FROM outbox o ${REFUSAL} WHERE r.id IS NULL LIMIT 1`).length > 0;
  }

  /** Number of changes that the mirror does not have yet. */
  backlog(): number {
    return integer(this.#exec('SELECT COUNT(*) AS n FROM outbox')[0], 'n');
  }

  /**
   * Removes delivered rows from the outbox. A row that changed in the meantime stays, and waits only since the delivery
   * began: a row that changes during each delivery is never late.
   */
  delivered(rows: readonly MirrorRow[], beganAt: number): void {
    for (const row of rows) {
      this.#exec(
        'DELETE FROM outbox WHERE entity = ? AND id = ? AND revision <= ?',
        row.entity,
        row.id,
        row.revision,
      );
      this.#exec(
        'UPDATE outbox SET since = ? WHERE entity = ? AND id = ? AND since < ?',
        beganAt,
        row.entity,
        row.id,
        beganAt,
      );
      planWork(this.#exec, { name: REFUSED_ROW, id: refusedKey(row), dueAt: null }, 0);
    }
  }

  /**
   * When the oldest undelivered change was made, in Unix milliseconds. Rows that were set aside are not included,
   * because the mirror accepts all others.
   */
  undeliveredSince(): number | undefined {
    const row = this.#exec(
      `SELECT MIN(o.since) AS since FROM outbox o ${REFUSAL} WHERE r.id IS NULL OR r.tries < ?`,
      ALARM_FAILURES,
    )[0];
    return row?.since === null || row?.since === undefined ? undefined : Number(row.since);
  }

  /** An upper bound of the revisions that this journal has ever sent to the mirror. */
  offered(): number {
    return Number(this.getMeta('offered') ?? this.revision());
  }

  /** Takes the revision that marks a batch. Make it durable before the batch is sent. */
  takeMark(): number {
    const mark = this.#takeRevision();
    this.setMeta('offered', String(mark));
    return mark;
  }

  /** The highest mark that the mirror has acknowledged; 0 before the first. */
  acknowledged(): number {
    return Number(this.getMeta('acknowledged') ?? 0);
  }

  acknowledge(mark: number): void {
    this.setMeta('acknowledged', String(mark));
  }

  /** The newest content of a row that the mirror refused. @param key see {@link refusedKey} */
  refused(key: string): MirrorRow | undefined {
    return this.#exec(`${OUTBOX_ROWS} WHERE r.id = ?`, key).map(mirrorRowOf)[0];
  }

  /** Rows that the mirror has refused so often that the operator was alerted. They no longer count as waiting. */
  setAside(limit: number): { entity: string; id: string; refusals: number }[] {
    return this.#exec(
      `SELECT o.entity, o.id, r.tries FROM outbox o ${REFUSAL} WHERE r.tries >= ? ORDER BY o.revision LIMIT ?`,
      ALARM_FAILURES,
      limit,
    ).map((row) => ({ entity: String(row.entity), id: String(row.id), refusals: integer(row, 'tries') }));
  }

  audit(command: string, facts: string, now: number): void {
    this.#exec('INSERT INTO audit (at, command, facts) VALUES (?, ?, ?)', now, command, facts);
  }
}
