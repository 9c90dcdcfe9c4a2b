/**
 * Delivers changes of the journal to D1, and publishes rows again that a restored D1 has lost.
 *
 * Every write is an upsert that ignores older revisions. A batch whose response was lost is therefore written again, and
 * rows may arrive in any order. Each batch writes a mark, a growing revision, and the journal stores the highest one
 * that D1 has acknowledged. A lower mark in D1 means that it was restored to an older state. Then every row of the
 * journal is compared with D1 and queued where they differ. No payment depends on D1, so a restored D1 changes none.
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import { type Journal, SET_ASIDE_REFUSALS } from './journal.ts';
import type { CustodyModule, MirrorSource, ModuleTools } from './module.ts';
import { columnsOf } from './operation.ts';
import type { Columns, Entity, Mirror, MirrorRow, Storage } from './ports.ts';

/** Maximum rows of one D1 batch. */
const BATCH = 40;
/** A flush ends after this many rejected batches while D1 accepts other writes. Each costs two calls to D1. */
const MAX_REJECTIONS = 16;

type OutboxPorts = Pick<ModuleTools, 'journal' | 'now' | 'log'> & {
  readonly storage: Pick<Storage, 'sync' | 'transaction'>;
  readonly mirror: Pick<Mirror, 'apply' | 'probe'>;
};

/** `down`: D1 accepts no writes at all. */
type Delivery = 'delivered' | 'refused' | 'down';

/**
 * Delivers waiting rows. If D1 rejects a batch but accepts other writes, the batch is split until the refused row is
 * found. That row leaves the queue and is then tried on its own, so that it does not delay the others. An outage of
 * D1 takes no row out of the queue.
 *
 * @returns whether D1 accepted what was due
 * @throws in an instance that was replaced: its state must not reach the mirror
 */
export async function flushOutbox(p: OutboxPorts): Promise<boolean> {
  const { journal } = p;
  let rejections = 0;
  for (let size = BATCH; ; ) {
    const rows = journal.outbox(size);
    if (rows.length === 0) break;
    const delivery = await deliver(p, rows);
    if (delivery === 'down' || (delivery === 'refused' && ++rejections >= MAX_REJECTIONS)) return false;
    if (delivery === 'delivered' && rows.length < size) break;
    size = delivery === 'delivered' ? Math.min(BATCH, size * 2) : Math.max(1, Math.floor(rows.length / 2));
  }
  while (rejections++ < MAX_REJECTIONS) {
    const row = journal.refusedDue(p.now());
    if (!row) return true;
    if ((await deliver(p, [row])) === 'down') return false;
  }
  return true;
}

async function deliver(p: OutboxPorts, rows: readonly MirrorRow[]): Promise<Delivery> {
  const { journal, log } = p;
  const acknowledged = journal.acknowledged();
  // Sync before the write: if D1 had a change that a crash then removed from the journal, the next instance
  // would freeze.
  const mark = p.storage.transaction(() => journal.takeMark());
  await p.storage.sync();
  let before: number;
  try {
    before = await p.mirror.apply(rows, mark);
  } catch (failure) {
    const error = String(failure).slice(0, 200);
    log({ level: 'warn', event: 'mirror_failed', waiting: rows.length, error });
    if (!(await acceptsWrites(p.mirror))) return 'down';
    const [alone, second] = rows;
    if (alone && !second) refuse(p, alone, error);
    return 'refused';
  }
  p.storage.transaction(() => {
    journal.delivered(rows);
    compareMark(p, acknowledged, before);
    journal.acknowledge(mark);
  });
  return 'delivered';
}

const acceptsWrites = (mirror: Pick<Mirror, 'probe'>): Promise<boolean> =>
  mirror.probe().then(
    () => true,
    () => false,
  );

function refuse({ journal, now, log }: OutboxPorts, row: MirrorRow, error: string): void {
  const refusals = journal.refuse(row, error, now());
  const { entity, id } = row;
  const level = refusals === SET_ASIDE_REFUSALS ? 'alarm' : 'warn';
  log({ level, event: 'mirror_row_refused', entity, row: id, refusals, error });
}

/** Size of the row of a probe; most rows are smaller. */
const PROBE_BYTES = 16_384;

const READ_MARK = `SELECT revision FROM mirror_marks WHERE name = 'journal'`;
const WRITE_MARK = `INSERT INTO mirror_marks (name, revision) VALUES ('journal', ?)
  ON CONFLICT (name) DO UPDATE SET revision = excluded.revision WHERE excluded.revision > mirror_marks.revision`;

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
    async apply(rows: readonly MirrorRow[], mark: number) {
      const [read] = await db.batch<{ revision: number }>([
        db.prepare(READ_MARK),
        db.prepare(WRITE_MARK).bind(mark),
        ...rows.map((row) => statement(db, row)),
      ]);
      return read?.results[0]?.revision ?? 0;
    },
    async mark() {
      return (await db.prepare(READ_MARK).first<{ revision: number }>())?.revision ?? 0;
    },
    async journalsOf(entity, ids) {
      const query = `SELECT id, journal FROM ${tableOf(entity)} WHERE id IN (SELECT value FROM json_each(?))`;
      const { results } = await db
        .prepare(query)
        .bind(JSON.stringify(ids))
        .all<{ id: string; journal: string }>();
      return new Map(results.map(({ id, journal }) => [id, journal]));
    },
    async probe() {
      // In a full database a small row may still fit into a free page.
      await db.batch([
        db.prepare(
          `INSERT INTO mirror_marks (name, revision, filler) VALUES ('probe', 0, zeroblob(${PROBE_BYTES}))
             ON CONFLICT (name) DO UPDATE SET filler = excluded.filler`,
        ),
        db.prepare(`DELETE FROM mirror_marks WHERE name = 'probe'`),
      ]);
    },
    async recordsAfter(entity, id, limit) {
      const query = `SELECT id, journal FROM ${tableOf(entity)} WHERE id > ? ORDER BY id LIMIT ?`;
      return (await db.prepare(query).bind(id, limit).all<{ id: string; journal: string }>()).results;
    },
  };
}

/** Maximum rows of one comparison. */
const COMPARED_PAGE = 100;

/** Progress of the comparison: it continues after this id of this table. */
type Place = { readonly table: Entity; readonly after: string; readonly queued: number };

const PLACE = 'republish';

export const isRepublishing = (journal: Pick<Journal, 'getMeta'>): boolean =>
  (journal.getMeta(PLACE) ?? '') !== '';

/** Begins to compare every row of the journal with D1, from the first one on. */
export function startRepublishing(journal: Pick<Journal, 'setMeta'>): void {
  const place: Place = { table: 'operation', after: '', queued: 0 };
  journal.setMeta(PLACE, JSON.stringify(place));
}

/**
 * Detects a restored D1. Call inside a transaction.
 *
 * @param acknowledged the highest acknowledged mark when D1 was read; a concurrent batch may have raised it since
 * @param found        the mark that D1 had
 */
function compareMark(
  { journal, log }: Pick<ModuleTools, 'journal' | 'log'>,
  acknowledged: number,
  found: number,
): void {
  if (found >= acknowledged) return;
  log({ level: 'alarm', event: 'mirror_restored', acknowledged, found });
  // Without this, each read before the next batch would find the same difference again.
  journal.acknowledge(found);
  startRepublishing(journal);
}

/** Equal apart from the order of members, which depends on how a row was decoded. */
const isSameJson = (a: string | undefined, b: string): boolean =>
  a === b || (a !== undefined && isDeepStrictEqual(JSON.parse(a), JSON.parse(b)));

/** Rows that D1 mirrors. An operation has a revision of its own; a record takes the next one. */
type Source = {
  readonly table: Entity;
  rowsAfter(
    id: string,
    limit: number,
  ): readonly { readonly id: string; readonly columns: Columns; readonly revision?: number }[];
};

/** Compares every row with D1, page by page, and queues the rows that D1 has lost. */
export class Republishing implements CustodyModule {
  readonly #tools: ModuleTools;
  readonly #mirror: Pick<Mirror, 'mark' | 'journalsOf'>;
  readonly #sources: () => readonly MirrorSource[];

  /** @param sources the tables of every module, which may be created after this one */
  constructor(
    tools: ModuleTools,
    mirror: Pick<Mirror, 'mark' | 'journalsOf'>,
    sources: () => readonly MirrorSource[],
  ) {
    this.#tools = tools;
    this.#mirror = mirror;
    this.#sources = sources;
  }

  nextRunAt(): number | undefined {
    const { journal, now } = this.#tools;
    return isRepublishing(journal) ? now() : undefined;
  }

  async run(): Promise<void> {
    const place = this.#tools.journal.getMeta(PLACE);
    if (place) await this.#comparePage(place);
  }

  async onCron(): Promise<void> {
    const { journal, storage } = this.#tools;
    const acknowledged = journal.acknowledged();
    const found = await this.#mirror.mark();
    storage.transaction(() => compareMark(this.#tools, acknowledged, found));
  }

  async #comparePage(place: string): Promise<void> {
    const { journal, storage, now } = this.#tools;
    const { table, after } = JSON.parse(place) as Place;
    const tables = this.#tables();
    const at = tables.findIndex((source) => source.table === table);
    const source = tables[at];
    const ids = source?.rowsAfter(after, COMPARED_PAGE).map(({ id }) => id) ?? [];
    const mirrored = ids.length === 0 ? new Map() : await this.#mirror.journalsOf(table, ids);
    storage.transaction(() => {
      // Another restoration began the comparison again.
      if (journal.getMeta(PLACE) !== place) return;
      // Read again: a row that changed meanwhile must not be queued in its older form.
      const rows = source?.rowsAfter(after, COMPARED_PAGE).filter(({ id }) => ids.includes(id)) ?? [];
      const lost = rows.filter(({ id, columns }) => !isSameJson(mirrored.get(id), String(columns.journal)));
      for (const { id, columns, revision } of lost) journal.publish(table, id, columns, now(), revision);
      const last = ids.at(-1);
      this.#continueAt(place, last === undefined ? tables[at + 1]?.table : table, last ?? '', lost.length);
    });
  }

  /** @param table the table to compare next; undefined when all have been compared */
  #continueAt(place: string, table: Entity | undefined, after: string, lost: number): void {
    const { journal, log } = this.#tools;
    const queued = (JSON.parse(place) as Place).queued + lost;
    journal.setMeta(PLACE, table ? JSON.stringify({ table, after, queued }) : '');
    if (!table) log({ level: 'info', event: 'mirror_republished', rows: queued });
  }

  #tables(): Source[] {
    const { journal } = this.#tools;
    const operations: Source = {
      table: 'operation',
      rowsAfter: (id, limit) =>
        journal.after(id, limit).map((operation) => ({
          id: operation.id,
          columns: columnsOf(operation),
          revision: operation.revision,
        })),
    };
    return [operations, ...this.#sources()];
  }
}
