/** D1 as the outbox uses it: an older revision cannot overwrite a newer row, and writes may fail. */
import { decodeOperation, type Operation } from '../../src/custody/kernel/operation.ts';
import type { Mirror, MirrorBirth, MirrorRow } from '../../src/custody/kernel/ports.ts';

export type FakeMirror = Mirror & {
  readonly rows: Map<string, MirrorRow>;
  /** `down` accepts nothing; `loses answers` writes and then fails. */
  state: 'up' | 'down' | 'loses answers';
  applied: number;
  /** The birth of the batch with the highest mark. */
  birth: MirrorBirth | undefined;
  reads: number;
  operation(id: string): Operation | undefined;
  /** The rows of an entity, in the order of their arrival. */
  records(entity: string): { readonly id: string; readonly journal: string }[];
  /** Copies the present state; the returned function restores it. */
  remember(): () => void;
};

export function createFakeMirror(): FakeMirror {
  const rows = new Map<string, MirrorRow>();
  let mark = 0;
  const reading = (): void => {
    mirror.reads++;
    if (mirror.state === 'down') throw new Error('D1_ERROR: network connection lost');
  };
  const mirror: FakeMirror = {
    rows,
    state: 'up',
    applied: 0,
    birth: undefined,
    reads: 0,
    operation(id) {
      const row = rows.get(`operation ${id}`);
      return row && decodeOperation(String(row.columns.journal));
    },
    records: (entity) =>
      [...rows.values()]
        .filter((row) => row.entity === entity)
        .map(({ id, columns }) => ({ id, journal: String(columns.journal) })),
    async apply(batch, next, birth) {
      if (mirror.state === 'down') throw new Error('D1_ERROR: network connection lost');
      mirror.applied++;
      const before = mark;
      if (next >= mark) mirror.birth = birth;
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
    async newestRevision() {
      reading();
      return Math.max(0, ...[...rows.values()].map(({ revision }) => revision));
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
    async recordsAfter(entity, id, limit) {
      reading();
      return mirror
        .records(entity)
        .filter((row) => row.id > id)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit);
    },
  };
  return mirror;
}
