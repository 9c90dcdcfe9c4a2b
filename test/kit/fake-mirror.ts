/** The mirror over D1, as the outbox uses it; it may be down. */
import { RECORD_TABLES } from '../../src/core/record-tables.ts';
import { decodeOperation, type Operation } from '../../src/custody/kernel/operation.ts';
import { createD1Mirror } from '../../src/custody/kernel/outbox.ts';
import type { Mirror, MirrorBirth, MirrorRow } from '../../src/custody/kernel/ports.ts';
import { openD1 } from './d1.ts';

export type FakeMirror = Mirror & {
  readonly d1: D1Database;
  /** By entity and id. */
  readonly rows: Map<string, MirrorRow>;
  /** `down` accepts nothing; `loses answers` writes and then fails. */
  state: 'up' | 'down' | 'loses answers';
  applied: number;
  /** The birth of the batch with the highest mark. */
  birth: MirrorBirth | undefined;
  reads: number;
  operation(id: string): Operation | undefined;
  records(entity: string): { readonly id: string; readonly journal: string }[];
  /** Copies the present state; the returned function restores it. */
  remember(): () => void;
};

const lost = () => new Error('D1_ERROR: network connection lost');

export function createFakeMirror(): FakeMirror {
  const { d1, rows, remember } = openD1({
    reach() {
      if (mirror.state === 'down') throw lost();
    },
    write(_batch, commit) {
      const results = commit();
      if (mirror.state === 'loses answers') throw lost();
      return results;
    },
  });
  const real = createD1Mirror(d1);
  const mirror: FakeMirror = {
    ...real,
    d1,
    get rows() {
      const all = (['operation', ...RECORD_TABLES] as const).flatMap((entity) =>
        rows(entity === 'operation' ? 'operations' : entity).map(({ id, revision, ...columns }) => {
          const row = { entity, id: String(id), revision: Number(revision), columns };
          return [`${entity} ${id}`, row] as const;
        }),
      );
      return new Map(all);
    },
    state: 'up',
    applied: 0,
    birth: undefined,
    reads: 0,
    operation(id) {
      const row = mirror.rows.get(`operation ${id}`);
      return row && decodeOperation(String(row.columns.journal));
    },
    records: (entity) =>
      [...mirror.rows.values()]
        .filter((row) => row.entity === entity)
        .map(({ id, columns }) => ({ id, journal: String(columns.journal) })),
    async apply(batch, next, birth) {
      if (mirror.state !== 'down') mirror.applied++;
      if (next >= (Number(rows('mirror_marks')[0]?.revision) || 0)) mirror.birth = birth;
      return real.apply(batch, next, birth);
    },
    newestRevision() {
      mirror.reads++;
      return real.newestRevision();
    },
    recordsAfter(entity, id, limit) {
      mirror.reads++;
      return real.recordsAfter(entity, id, limit);
    },
    remember,
  };
  return mirror;
}
