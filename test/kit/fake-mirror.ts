/** D1 as the outbox uses it: an older revision cannot overwrite a newer row, and writes may fail. */
import { encodeOperation, type Operation } from '../../src/custody/kernel/operation.ts';
import type { Mirror, MirrorRow } from '../../src/custody/kernel/ports.ts';

export type FakeMirror = Mirror & {
  readonly rows: Map<string, MirrorRow>;
  /** `down` accepts nothing; `loses answers` writes and then fails. */
  state: 'up' | 'down' | 'loses answers';
  applied: number;
  reads: number;
  operation(id: string): Operation | undefined;
  /** The rows of an entity other than an operation, in the order of their arrival. */
  records(entity: string): { readonly id: string; readonly journal: string }[];
  /** Copies the present state; the returned function restores it. */
  remember(): () => void;
};

const journalOf = (row: MirrorRow): string =>
  row.entity === 'operation' ? encodeOperation(row.operation) : String(row.columns.journal);

export function createFakeMirror(): FakeMirror {
  const rows = new Map<string, MirrorRow>();
  let mark = 0;
  const operations = (): Operation[] =>
    [...rows.values()].flatMap((row) => (row.entity === 'operation' ? [row.operation] : []));
  const reading = (): void => {
    mirror.reads++;
    if (mirror.state === 'down') throw new Error('D1_ERROR: network connection lost');
  };
  const mirror: FakeMirror = {
    rows,
    state: 'up',
    applied: 0,
    reads: 0,
    operation: (id) => operations().find((operation) => operation.id === id),
    records: (entity) =>
      [...rows.values()].flatMap((row) =>
        row.entity === entity && row.entity !== 'operation'
          ? [{ id: row.id, journal: String(row.columns.journal) }]
          : [],
      ),
    async apply(batch, next) {
      if (mirror.state === 'down') throw new Error('D1_ERROR: network connection lost');
      mirror.applied++;
      const before = mark;
      mark = Math.max(mark, next);
      for (const row of batch) {
        const key = `${row.entity} ${row.id}`;
        if ((rows.get(key)?.revision ?? 0) < row.revision) rows.set(key, row);
      }
      if (mirror.state === 'loses answers') throw new Error('D1_ERROR: network connection lost');
      return before;
    },
    async mark() {
      if (mirror.state === 'down') throw new Error('D1_ERROR: network connection lost');
      return mark;
    },
    async journalsOf(table, ids) {
      reading();
      const entity = table === 'operations' ? 'operation' : table;
      return new Map(
        ids.flatMap((id) => {
          const row = rows.get(`${entity} ${id}`);
          return row ? [[id, journalOf(row)] as const] : [];
        }),
      );
    },
    remember() {
      const kept = { rows: [...rows], mark };
      return () => {
        rows.clear();
        for (const [key, row] of kept.rows) rows.set(key, row);
        mark = kept.mark;
      };
    },
    async probe() {
      if (mirror.state !== 'up') throw new Error('D1_ERROR: network connection lost');
    },
    async recordsAfter(table, id, limit) {
      reading();
      const records = [...rows.values()].flatMap((row) =>
        row.entity === (table === 'operations' ? 'operation' : table)
          ? [{ id: row.id, journal: journalOf(row) }]
          : [],
      );
      return records
        .filter((row) => row.id > id)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit);
    },
  };
  return mirror;
}
