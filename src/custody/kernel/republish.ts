/**
 * Publishes the rows again that a restored D1 has lost. Each batch writes a mark, a growing revision, and the
 * journal
 * stores the highest one that D1 has acknowledged. A lower mark in D1 means that it was restored to an older
 * state. Then every row of the journal is compared with D1 and queued where they differ. No payment depends
 * on D1, so a restored D1 changes none.
 * @module
 */
import type { Journal } from './journal.ts';
import type { CustodyModule, MirrorSource, ModuleTools } from './module.ts';
import { encodeOperation } from './operation.ts';
import type { Log, Mirror, MirrorTable } from './ports.ts';

/** Rows of one comparison. */
const PAGE = 100;

/** Progress of the comparison: it continues after this id of this table. */
type Place = { readonly table: MirrorTable; readonly after: string; readonly queued: number };

const PLACE = 'republish';

export const isRepublishing = (journal: Pick<Journal, 'getMeta'>): boolean =>
  (journal.getMeta(PLACE) ?? '') !== '';

/** Begins to compare every row of the journal with D1, from the first one on. */
export function startRepublishing(journal: Pick<Journal, 'setMeta'>): void {
  const place: Place = { table: 'operations', after: '', queued: 0 };
  journal.setMeta(PLACE, JSON.stringify(place));
}

/**
 * Detects a restored D1. Call inside a transaction.
 *
 * @param acknowledged the highest acknowledged mark when D1 was asked; a concurrent batch may have raised it since
 * @param found        the mark that D1 had
 */
export function compareMark(
  { journal, log }: { readonly journal: Journal; readonly log: Log },
  acknowledged: number,
  found: number,
): void {
  if (found >= acknowledged) return;
  log({ level: 'alarm', event: 'mirror_restored', acknowledged, found });
  // Otherwise each read until the next batch would find the same difference again.
  journal.acknowledge(found);
  startRepublishing(journal);
}

/** Equal apart from the order of members, which depends on how a row was decoded. */
function isSameJson(a: string | undefined, b: string): boolean {
  return a === b || (a !== undefined && sortedJson(a) === sortedJson(b));
}

const sortedJson = (text: string): string =>
  JSON.stringify(JSON.parse(text), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );

type Row = { readonly id: string; readonly journal: string; queue(): void };

type Source = { readonly table: MirrorTable; after(id: string, limit: number): Row[] };

/** @param sources the tables of every module, which may be created after this one */
export function createRepublishing(
  { journal, storage, now, log }: ModuleTools,
  mirror: Pick<Mirror, 'mark' | 'journalsOf'>,
  sources: () => readonly MirrorSource[],
): CustodyModule {
  const operations: Source = {
    table: 'operations',
    after: (id, limit) =>
      journal.after(id, limit).map((operation) => ({
        id: operation.id,
        journal: encodeOperation(operation),
        queue: () => journal.requeue(operation, now()),
      })),
  };
  const records = ({ table, rowsAfter }: MirrorSource): Source => ({
    table,
    after: (after, limit) =>
      rowsAfter(after, limit).map(({ id, columns }) => ({
        id,
        journal: String(columns.journal),
        queue: () => journal.publish(table, id, columns, now()),
      })),
  });

  /** Compares one page of rows. */
  async function comparePage(text: string): Promise<void> {
    const { table, after, queued } = JSON.parse(text) as Place;
    const tables = [operations, ...sources().map(records)];
    const at = tables.findIndex((source) => source.table === table);
    const source = tables[at];
    const ids = source?.after(after, PAGE).map(({ id }) => id) ?? [];
    const mirrored = ids.length === 0 ? new Map() : await mirror.journalsOf(table, ids);
    storage.transaction(() => {
      // Another restoration began the comparison again.
      if (journal.getMeta(PLACE) !== text) return;
      // Read again: a row that changed meanwhile must not be queued in its older form.
      const rows = source?.after(after, PAGE).filter(({ id }) => ids.includes(id)) ?? [];
      const lost = rows.filter((row) => !isSameJson(mirrored.get(row.id), row.journal));
      for (const row of lost) row.queue();
      const last = ids.at(-1);
      const next = last === undefined ? tables[at + 1]?.table : table;
      const total = queued + lost.length;
      if (next) journal.setMeta(PLACE, JSON.stringify({ table: next, after: last ?? '', queued: total }));
      else {
        journal.setMeta(PLACE, '');
        log({ level: 'info', event: 'mirror_republished', rows: total });
      }
    });
  }

  return {
    nextRunAt: () => (isRepublishing(journal) ? now() : undefined),
    async run() {
      const text = journal.getMeta(PLACE);
      if (text) await comparePage(text);
    },
    async onCron() {
      const acknowledged = journal.acknowledged();
      const found = await mirror.mark();
      storage.transaction(() => compareMark({ journal, log }, acknowledged, found));
    },
  };
}
