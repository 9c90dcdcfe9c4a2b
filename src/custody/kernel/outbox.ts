/**
 * Delivers changes of the journal to D1.
 *
 * Every write is an upsert that ignores older revisions. A batch whose response was lost is therefore written again,
 * and rows may arrive in any order. Each batch writes a mark, a revision that only increases, and the journal stores
 * the highest one that D1 has acknowledged. A lower mark in D1 means that D1 was restored to an older state. Payments
 * never depend on D1, so a restored D1 changes none.
 * @module
 */

import { failureReason } from '../../core/errors.ts';
import { RECORD_TABLES } from '../../core/record-tables.ts';
import { inTime } from '../../providers/http.ts';
import type { Backoff } from './agenda.ts';
import { birthOf } from './birth.ts';
import type { Journal } from './journal.ts';
import { REFUSED_ROW, refusedKey } from './mirror-queue.ts';
import type { ModuleTools } from './module.ts';
import type { Entity, Log, Mirror, MirrorBirth, MirrorRecord, MirrorRow, Storage, Within } from './ports.ts';

const BATCH = 40;
/** A flush ends after this many rejected batches while D1 accepts other writes. Each of them costs two calls to D1. */
const MAX_REJECTIONS = 16;
const MOST_REFUSED = 1_000;

/** Waits between deliveries while D1 is not accepting writes. */
export const DELIVERIES: Backoff = { first: 5_000, most: 60_000 };

/** Set when a restored D1 is detected, and removed once every row has been sent again. */
export const RESTORED = 'mirror_restored';
/** The last row that `ops republish` has sent; empty before the first row. */
export const REPUBLISHED_TO = 'republish';

export const isMirrorRestored = (journal: Journal): boolean => (journal.getMeta(RESTORED) ?? '') !== '';

/**
 * Compares D1's mark to detect that D1 was restored. Call inside a transaction.
 * @param acknowledged the highest acknowledged mark when D1 was read; a concurrent batch may have stored a higher one
 * since
 */
export function compareMark(journal: Journal, log: Log, acknowledged: number, found: number): void {
  if (found >= acknowledged) return;
  log({ level: 'alarm', event: 'mirror_restored', acknowledged, found });
  // Otherwise each read before the next batch would report the same difference again.
  journal.queue.acknowledge(found);
  journal.setMeta(RESTORED, '1');
  // D1 may again lack rows that an earlier `ops republish` sent, so the next command starts at the first row.
  journal.setMeta(REPUBLISHED_TO, '');
}

/** Limit of one call to D1. A write that ends later is harmless, because a row replaces only an older one. */
const MIRROR_MS = 10_000;

/** The mirror with a time limit for each call, because each start, call and run of the timer waits for the mirror. */
export function timelyMirror(mirror: Mirror, within: Within): Mirror {
  const timely = <T>(call: Promise<T>) => inTime(call, MIRROR_MS, 'd1', within);
  return {
    apply: (...batch) => timely(mirror.apply(...batch)),
    mark: () => timely(mirror.mark()),
    // Reads whole tables, for one command of the operator only.
    newestRevision: () => mirror.newestRevision(),
    probe: () => timely(mirror.probe()),
    recordsAfter: (...page) => timely(mirror.recordsAfter(...page)),
  };
}

type OutboxPorts = Pick<ModuleTools, 'agenda' | 'journal' | 'now' | 'log'> & {
  readonly storage: Pick<Storage, 'sync' | 'transaction'>;
  readonly mirror: Pick<Mirror, 'apply' | 'probe'>;
};

/** `down`: D1 is not accepting writes. */
type Delivery = 'delivered' | 'refused' | 'down';

/**
 * Delivers waiting rows. If D1 rejects a batch but accepts other writes, the batch is split until the refused row is
 * found. That row leaves the queue and is then tried alone, so it does not delay the others. During an outage of D1,
 * rows stay in the queue.
 * @param postponed how often in a row D1 accepted too little; each time halves the first batch, because D1 may be too
 * slow for a larger one
 * @returns whether D1 did not accept rows; false if rows are left only because they came during the delivery
 * @throws in an instance that was replaced, because its state must not reach D1
 */
export async function flushOutbox(ports: OutboxPorts, postponed = 0): Promise<boolean> {
  const { agenda, journal } = ports;
  let rejections = 0;
  let isDown = false;
  for (let size = Math.max(1, Math.floor(BATCH / 2 ** postponed)); !isDown; ) {
    const rows = journal.queue.waiting(size);
    if (rows.length === 0) break;
    const delivery = await deliver(ports, rows);
    isDown = delivery === 'down' || (delivery === 'refused' && ++rejections >= MAX_REJECTIONS);
    if (delivery === 'delivered' && rows.length < size) break;
    size = delivery === 'delivered' ? Math.min(BATCH, size * 2) : Math.max(1, Math.floor(rows.length / 2));
  }
  for (const key of agenda.due(REFUSED_ROW, MOST_REFUSED)) {
    const row = journal.queue.refused(key);
    if (!row) agenda.plan(REFUSED_ROW, key, null);
    else if (!isDown && ++rejections > MAX_REJECTIONS) return false;
    else if (isDown || (await deliver(ports, [row])) === 'down') {
      // An outage is not a refusal.
      isDown = true;
      agenda.postpone(REFUSED_ROW, key, DELIVERIES);
    }
  }
  return isDown;
}

async function deliver(ports: OutboxPorts, rows: readonly MirrorRow[]): Promise<Delivery> {
  const { journal, log, now } = ports;
  const beganAt = now();
  const acknowledged = journal.queue.acknowledged();
  // Sync before the write. If D1 had a change that a crash removed from the journal, the next instance would freeze.
  const mark = ports.storage.transaction(() => journal.queue.takeMark());
  await ports.storage.sync();
  let before: number;
  try {
    before = await ports.mirror.apply(rows, mark, birthOf(journal));
  } catch (failure) {
    const error = String(failure).slice(0, 200);
    log({ level: 'warn', event: 'mirror_failed', waiting: rows.length, error });
    // A late response is an outage, not a refusal of a row.
    if (failureReason(failure) === 'timeout' || !(await acceptsWrites(ports.mirror))) return 'down';
    const [alone, second] = rows;
    if (alone && !second) ports.agenda.failed(REFUSED_ROW, refusedKey(alone), { reason: 'refused', error });
    return 'refused';
  }
  ports.storage.transaction(() => {
    journal.queue.delivered(rows, beganAt);
    compareMark(journal, log, acknowledged, before);
    journal.queue.acknowledge(mark);
  });
  return 'delivered';
}

const acceptsWrites = (mirror: Pick<Mirror, 'probe'>): Promise<boolean> =>
  mirror.probe().then(
    () => true,
    () => false,
  );

/** Size of a probe's row; most rows are smaller. */
const PROBE_BYTES = 16_384;

const READ_MARK = `SELECT revision FROM mirror_marks WHERE name = 'journal'`;
// `begin-anew` stores its birth with the newest mark of the lost journal, which D1 already has. A journal restored to a
// time before its birth has an older birth or none. D1 keeps the newest birth.
const isNewerBirth = 'excluded.born_after >= COALESCE(mirror_marks.born_after, -1)';
const WRITE_MARK = `INSERT INTO mirror_marks (name, revision, born_after, born_at) VALUES ('journal', ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET revision = excluded.revision,
    born_after = IIF(${isNewerBirth}, excluded.born_after, mirror_marks.born_after),
    born_at = IIF(${isNewerBirth}, excluded.born_at, mirror_marks.born_at)
  WHERE excluded.revision >= mirror_marks.revision`;

const tableOf = (entity: Entity): string => (entity === 'operation' ? 'operations' : entity);

function statement(db: D1Database, row: MirrorRow): D1PreparedStatement {
  const { entity, id, revision, columns } = row;
  const table = tableOf(entity);
  const names = Object.keys(columns);
  const all = ['id', 'revision', ...names];
  const query = `INSERT INTO ${table} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})
    ON CONFLICT (id) DO UPDATE SET ${all
      .slice(1)
      .map((name) => `${name} = excluded.${name}`)
      .join(', ')}
    WHERE excluded.revision > ${table}.revision`;
  return db.prepare(query).bind(id, revision, ...Object.values(columns));
}

export function createD1Mirror(db: D1Database): Mirror {
  return {
    async apply(rows: readonly MirrorRow[], mark: number, birth: MirrorBirth | undefined) {
      const [read] = await db.batch<{ revision: number }>([
        db.prepare(READ_MARK),
        db.prepare(WRITE_MARK).bind(mark, birth?.revision ?? null, birth?.at ?? null),
        ...rows.map((row) => statement(db, row)),
      ]);
      return read?.results[0]?.revision ?? 0;
    },
    async mark() {
      return (await db.prepare(READ_MARK).first<{ revision: number }>())?.revision ?? 0;
    },
    async newestRevision() {
      // D1 accepts at most five terms in a compound SELECT, so each table has its own statement.
      const newest = (['operation', ...RECORD_TABLES] as const).map((entity) =>
        db.prepare(`SELECT MAX(revision) AS revision FROM ${tableOf(entity)}`),
      );
      const found = await db.batch<{ revision: number | null }>(newest);
      return Math.max(...found.map(({ results }) => results[0]?.revision ?? 0));
    },
    async probe() {
      // A small row may still fit into a free page of a full database.
      await db.batch([
        db.prepare(
          `INSERT INTO mirror_marks (name, revision, filler) VALUES ('probe', 0, zeroblob(${PROBE_BYTES}))
             ON CONFLICT (name) DO UPDATE SET filler = excluded.filler`,
        ),
        db.prepare(`DELETE FROM mirror_marks WHERE name = 'probe'`),
      ]);
    },
    async recordsAfter(entity, id, limit) {
      const query = `SELECT id, revision, journal FROM ${tableOf(entity)} WHERE id > ? ORDER BY id LIMIT ?`;
      return (await db.prepare(query).bind(id, limit).all<MirrorRecord>()).results;
    },
  };
}
