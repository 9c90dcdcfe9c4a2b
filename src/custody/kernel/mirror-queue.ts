/**
 * The journal's changes that D1 does not have yet, and the numbers that order them: row revisions and batch marks. A
 * change is queued in the storage transaction that makes it.
 * @module
 */
import { numberOf } from '../row-store.ts';
import { ALARM_FAILURES, planWork } from './agenda.ts';
import { decodeOperation, encodeOperation, mirrorStatus, type Operation, textOf } from './operation.ts';
import type { Columns, Entity, MirrorRow, SqlRow, Storage } from './ports.ts';
import { reasonText } from './reason.ts';

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS outbox (
    entity TEXT NOT NULL,
    id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    since INTEGER NOT NULL,
    columns TEXT,
    PRIMARY KEY (entity, id)
  )`,
  'CREATE INDEX IF NOT EXISTS outbox_by_revision ON outbox (revision)',
  'CREATE INDEX IF NOT EXISTS outbox_by_age ON outbox (since)',
] as const;

/** Agenda name of rows that D1 refused while it accepted others. */
export const REFUSED_ROW = 'mirror_row';
export const refusedKey = ({ entity, id }: Pick<MirrorRow, 'entity' | 'id'>): string => `${entity}:${id}`;

const REFUSAL = `LEFT JOIN agenda r ON r.name = '${REFUSED_ROW}' AND r.id = o.entity || ':' || o.id`;
const COLUMNS = 'o.entity, o.id, o.revision, o.columns, p.row';
const OPERATION_ROW = `LEFT JOIN operations p ON o.entity = 'operation' AND p.id = o.id`;
/** Reads only the refused rows, and finds them in the outbox by the parts of their keys. */
const REFUSED = `agenda r CROSS JOIN outbox o ON r.name = '${REFUSED_ROW}'
  AND o.entity = substr(r.id, 1, instr(r.id, ':') - 1) AND o.id = substr(r.id, instr(r.id, ':') + 1)`;

/** All of D1's columns of an operation except `id` and `revision`. */
export function columnsOf(op: Operation): Columns {
  return {
    seq: op.seq,
    kind: op.kind,
    status: mirrorStatus(op),
    detail: op.detail,
    reason: reasonText(op.reason),
    signature: op.signing?.signature ?? null,
    amount_lamports: textOf(op.plan.askedLamports) ?? op.amount.toString(),
    expected_sats: textOf(op.plan.expectedSats),
    btc_sats: textOf(op.outcome.btcSats),
    btc_txid: textOf(op.outcome.btcTxid),
    landed_slot: op.landing ? Number(op.landing.slot) : null,
    block_time: op.landing?.blockTime ?? null,
    created_at: new Date(op.createdAt).toISOString(),
    updated_at: new Date(op.updatedAt).toISOString(),
    journal: encodeOperation(op),
  };
}

const mirrorRowOf = (row: SqlRow): MirrorRow => ({
  entity: row.entity as Entity,
  id: String(row.id),
  revision: Number(row.revision),
  columns:
    row.entity === 'operation'
      ? columnsOf(decodeOperation(String(row.row)))
      : (JSON.parse(String(row.columns)) as Columns),
});

export type MetaRows = {
  getMeta(key: string): string | undefined;
  setMeta(key: string, value: string): void;
};

export class MirrorQueue {
  readonly #exec: Storage['exec'];
  readonly #meta: MetaRows;

  constructor(exec: Storage['exec'], meta: MetaRows) {
    for (const statement of SCHEMA) exec(statement);
    this.#exec = exec;
    this.#meta = meta;
  }

  revision(): number {
    return Number(this.#meta.getMeta('revision') ?? 0);
  }

  /** Takes the next revision. Call inside a transaction. */
  takeRevision(): number {
    const next = this.revision() + 1;
    this.#meta.setMeta('revision', String(next));
    return next;
  }

  adoptRevision(mirrored: number): void {
    if (mirrored > this.revision()) this.#meta.setMeta('revision', String(mirrored));
  }

  /** Queues a row for the mirror. Call inside the transaction that changes the row. */
  publish(
    entity: Entity,
    id: string,
    columns: Columns,
    now: number,
    revision: number = this.takeRevision(),
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

  /** Rows that the mirror neither has nor has refused, oldest change first. */
  waiting(limit: number): MirrorRow[] {
    const query = `SELECT ${COLUMNS} FROM outbox o ${OPERATION_ROW} ${REFUSAL} WHERE r.id IS NULL ORDER BY o.revision LIMIT ?`;
    return this.#exec(query, limit).map(mirrorRowOf);
  }

  /** Whether `waiting` would return a row. */
  isQueued(): boolean {
    return this.#exec(`SELECT 1 FROM outbox o ${REFUSAL} WHERE r.id IS NULL LIMIT 1`).length > 0;
  }

  backlog(): number {
    return numberOf(this.#exec, 'SELECT COUNT(*) AS n FROM outbox') ?? 0;
  }

  /**
   * Removes delivered rows from the outbox. A row that changed meanwhile stays, and its wait restarts at `beganAt`. So
   * a row that changes during every delivery is not treated as late.
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

  /** When the oldest change that waits for D1 was made, in Unix milliseconds. Rows that were set aside are excluded. */
  undeliveredSince(): number | undefined {
    return numberOf(
      this.#exec,
      `SELECT o.since AS n FROM outbox o ${REFUSAL} WHERE r.id IS NULL OR r.tries < ? ORDER BY o.since LIMIT 1`,
      ALARM_FAILURES,
    );
  }

  /** An upper bound on the revisions that this journal has ever sent to the mirror. */
  offered(): number {
    return Number(this.#meta.getMeta('offered') ?? this.revision());
  }

  /** Takes the revision that marks a batch. Make it durable before the batch is sent. */
  takeMark(): number {
    const mark = this.takeRevision();
    this.#meta.setMeta('offered', String(mark));
    return mark;
  }

  /** The highest mark that the mirror has acknowledged; 0 before the first acknowledgement. */
  acknowledged(): number {
    return Number(this.#meta.getMeta('acknowledged') ?? 0);
  }

  acknowledge(mark: number): void {
    this.#meta.setMeta('acknowledged', String(mark));
  }

  /** The current content of a row that the mirror refused. @param key see {@link refusedKey} */
  refused(key: string): MirrorRow | undefined {
    const query = `SELECT ${COLUMNS} FROM ${REFUSED} ${OPERATION_ROW} WHERE r.id = ?`;
    return this.#exec(query, key).map(mirrorRowOf)[0];
  }

  /** Rows that the mirror has refused so often that the operator was alerted. They are no longer treated as waiting. */
  setAside(limit: number): { entity: string; id: string; refusals: number }[] {
    return this.#exec(
      `SELECT o.entity, o.id, r.tries FROM ${REFUSED} WHERE r.tries >= ? ORDER BY o.revision LIMIT ?`,
      ALARM_FAILURES,
      limit,
    ).map((row) => ({ entity: String(row.entity), id: String(row.id), refusals: Number(row.tries) }));
  }
}
