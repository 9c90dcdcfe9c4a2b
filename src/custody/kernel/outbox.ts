/**
 * Delivers changes of the journal to D1. Every write is an upsert that ignores older revisions, so a batch
 * with a lost answer is written again.
 * @module
 */
import type { Journal } from './journal.ts';
import { decodeOperation, encodeOperation, mirrorStatus, type Operation } from './operation.ts';
import {
  type Log,
  type Mirror,
  type MirrorRow,
  RECORD_TABLES,
  type RecordTable,
  type Storage,
} from './ports.ts';

/** Rows of one D1 batch. */
const BATCH = 40;

/** Where the next batch begins, and its size. Only a hint: if a crash loses it, rows are delivered twice. */
type Place = { readonly above: number; readonly size: number };

const PLACE = 'outbox_place';
const START: Place = { above: 0, size: BATCH };

const placeOf = (journal: Journal): Place => {
  const text = journal.getMeta(PLACE);
  return text === undefined ? START : (JSON.parse(text) as Place);
};

/**
 * After a rejected batch the next one has half its size. A row that is rejected alone is skipped, so that it
 * does not block the others.
 */
function placeAfter(rows: readonly MirrorRow[], { above, size }: Place): Place {
  const [alone, second] = rows;
  if (alone && !second) return { above: alone.revision, size };
  return { above, size: Math.max(1, Math.floor(Math.min(rows.length, size) / 2)) };
}

/**
 * Delivers waiting rows. False when the mirror rejected a batch, which stays for a later attempt.
 * @throws in an instance that was replaced: its state must not reach the mirror
 */
export async function flushOutbox(
  journal: Journal,
  storage: Pick<Storage, 'sync'>,
  mirror: Mirror,
  log: Log,
): Promise<boolean> {
  for (;;) {
    const place = placeOf(journal);
    const rows = journal.outbox(place.size, place.above);
    if (rows.length === 0) {
      if (place.size !== BATCH || place.above !== 0) journal.setMeta(PLACE, JSON.stringify(START));
      if (place.above === 0) return true;
      continue;
    }
    // If the mirror had a change that a crash then undid here, the next instance would freeze.
    journal.offering(Math.max(...rows.map(({ revision }) => revision)));
    await storage.sync();
    try {
      await mirror.apply(rows);
    } catch (error) {
      log({
        level: 'warn',
        event: 'mirror_failed',
        waiting: rows.length,
        error: String(error).slice(0, 200),
      });
      journal.setMeta(PLACE, JSON.stringify(placeAfter(rows, place)));
      return false;
    }
    journal.delivered(rows);
    if (place.size < BATCH)
      journal.setMeta(PLACE, JSON.stringify({ ...place, size: Math.min(BATCH, place.size * 2) }));
    else if (rows.length < BATCH && place.above === 0) return true;
  }
}

const UPSERT = `INSERT INTO operations (id, seq, revision, kind, status, detail, reason, signature, amount_lamports, expected_sats,
  btc_sats, btc_txid, landed_slot, block_time, created_at, updated_at, journal)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, status = excluded.status, detail = excluded.detail,
  reason = excluded.reason, signature = excluded.signature, amount_lamports = excluded.amount_lamports,
  expected_sats = excluded.expected_sats, btc_sats = excluded.btc_sats, btc_txid = excluded.btc_txid,
  landed_slot = excluded.landed_slot, block_time = excluded.block_time, updated_at = excluded.updated_at,
  journal = excluded.journal
WHERE excluded.revision > operations.revision`;

/** One scalar subquery per table: D1 rejects a compound SELECT of more than a few terms. */
const HIGHEST = `SELECT MAX(${['operations', ...RECORD_TABLES]
  .map((table) => `COALESCE((SELECT MAX(revision) FROM ${table}), 0)`)
  .join(', ')}) AS revision`;

function statement(db: D1Database, row: MirrorRow): D1PreparedStatement {
  if (row.entity === 'operation') return db.prepare(UPSERT).bind(...columns(row.operation));
  const { entity, id, revision } = row;
  const names = Object.keys(row.columns);
  const all = ['id', 'revision', ...names];
  const query = `INSERT INTO ${entity} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})
    ON CONFLICT (id) DO UPDATE SET ${all
      .slice(1)
      .map((name) => `${name} = excluded.${name}`)
      .join(', ')}
    WHERE excluded.revision > ${entity}.revision`;
  return db.prepare(query).bind(id, revision, ...Object.values(row.columns));
}

export function createD1Mirror(db: D1Database): Mirror {
  return {
    async apply(rows: readonly MirrorRow[]) {
      await db.batch(rows.map((row) => statement(db, row)));
    },
    async highestRevision() {
      const row = await db.prepare(HIGHEST).first<{ revision: number | null }>();
      return row?.revision ?? 0;
    },
    async operationsAfter(id, limit) {
      const { results } = await db
        .prepare('SELECT journal FROM operations WHERE id > ? ORDER BY id LIMIT ?')
        .bind(id, limit)
        .all<{ journal: string }>();
      return results.map((row) => decodeOperation(row.journal));
    },
    async recordsAfter(table, id, limit) {
      const query = `SELECT id, journal FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`;
      return (await db.prepare(query).bind(id, limit).all<{ id: string; journal: string }>()).results;
    },
  };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function columns(op: Operation): (string | number | null)[] {
  const iso = (ms: number) => new Date(ms).toISOString();
  return [
    op.id,
    op.seq,
    op.revision,
    op.kind,
    mirrorStatus(op),
    op.detail,
    op.reason,
    op.signing?.signature ?? null,
    textOf(op.plan.askedLamports) ?? op.amount.toString(),
    textOf(op.plan.expectedSats),
    textOf(op.outcome.btcSats),
    textOf(op.outcome.btcTxid),
    op.landing ? Number(op.landing.slot) : null,
    op.landing?.blockTime ?? null,
    iso(op.createdAt),
    iso(op.updatedAt),
    encodeOperation(op),
  ];
}

const PAGE = 200;

/** @throws when D1 cannot be read */
export async function eachRecord(
  mirror: Pick<Mirror, 'recordsAfter'>,
  table: RecordTable,
  take: (journal: string) => void,
): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await mirror.recordsAfter(table, after, PAGE);
    for (const row of rows) take(row.journal);
    const last = rows[rows.length - 1];
    if (!last || rows.length < PAGE) return;
    after = last.id;
  }
}
