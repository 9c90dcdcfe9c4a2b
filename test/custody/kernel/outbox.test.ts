import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../src/custody/kernel/journal.ts';
import { flushOutbox } from '../../../src/custody/kernel/outbox.ts';
import { createFakeMirror } from '../fake-mirror.ts';
import { NOW, planned } from '../sample-operations.ts';
import { createSqliteStorage } from '../sqlite-storage.ts';

function setUp(rows: number) {
  const storage = createSqliteStorage();
  const journal = openJournal(storage);
  const mirror = createFakeMirror();
  const logged: unknown[] = [];
  for (let at = 0; at < rows; at++) storage.transaction(() => journal.insert(planned({ id: `swap:${at}` })));
  const flush = () => flushOutbox(journal, storage, mirror, (line) => logged.push(line));
  return { storage, journal, mirror, logged, flush };
}

describe('the outbox', () => {
  it('delivers everything in batches, then has nothing to do', async () => {
    const w = setUp(95);
    expect(await w.flush()).toBe(true);
    expect([w.mirror.rows.size, w.mirror.applied]).toEqual([95, 3]);
    expect(await w.flush()).toBe(true);
    expect(w.mirror.applied).toBe(3);
  });

  it.each([40, 80])('%i rows, full batches only, are delivered and end', async (rows) => {
    const w = setUp(rows);
    expect(await w.flush()).toBe(true);
    expect([w.mirror.rows.size, w.journal.outbox(1)]).toEqual([rows, []]);
  });

  it('keeps everything while the mirror is unavailable, and logs it without the text of secrets', async () => {
    const w = setUp(3);
    w.mirror.state = 'down';
    expect(await w.flush()).toBe(false);
    expect(w.journal.outbox(9)).toHaveLength(3);
    expect(w.logged).toEqual([expect.objectContaining({ event: 'mirror_failed', waiting: 3 })]);
  });

  it('delivers again what the mirror stored without an answer, to the same rows', async () => {
    const w = setUp(3);
    w.mirror.state = 'loses answers';
    expect(await w.flush()).toBe(false);
    const before = [...w.mirror.rows];
    w.mirror.state = 'up';
    expect(await w.flush()).toBe(true);
    expect([...w.mirror.rows]).toEqual(before);
  });

  it('makes its rows durable before the mirror receives them, and records the highest revision sent', async () => {
    const w = setUp(2);
    const order: string[] = [];
    const { sync } = w.storage;
    w.storage.sync = async () => {
      order.push(`sync, offered ${w.journal.offered()}`);
      return sync();
    };
    const { apply } = w.mirror;
    w.mirror.apply = async (rows) => {
      order.push('apply');
      return apply(rows);
    };
    await w.flush();
    expect(order).toEqual(['sync, offered 2', 'apply']);
  });

  it('of a replaced instance sends nothing to the mirror', async () => {
    const w = setUp(2);
    w.storage.sync = () => Promise.reject(new Error('replaced'));
    await expect(w.flush()).rejects.toThrow('replaced');
    expect(w.mirror.applied).toBe(0);
  });

  it('a row that changes while it is delivered is delivered again', async () => {
    const w = setUp(1);
    const { apply } = w.mirror;
    w.mirror.apply = async (rows) => {
      const row = w.journal.get('swap:0');
      if (row && row.detail !== 'newer') w.journal.update(row, { ...row, detail: 'newer' }, NOW);
      return apply(rows);
    };
    await w.flush();
    expect(w.journal.outbox(9)).toHaveLength(1);
    await w.flush();
    expect(w.mirror.operation('swap:0')).toMatchObject({ detail: 'newer' });
    expect(w.journal.outbox(9)).toEqual([]);
  });

  it('rows of other tables travel with their columns, in the order of their changes', async () => {
    const w = setUp(1);
    w.storage.transaction(() =>
      w.journal.publish('invoices', 'i1', { status: 'pending', journal: '{}' }, NOW),
    );
    w.storage.transaction(() =>
      w.journal.publish('invoices', 'i1', { status: 'confirmed', journal: '{}' }, NOW),
    );
    expect(w.journal.outbox(9).map(({ entity, id, revision }) => [entity, id, revision])).toEqual([
      ['operation', 'swap:0', 1],
      ['invoices', 'i1', 3],
    ]);
    await w.flush();
    expect(w.mirror.rows.get('invoices i1')).toMatchObject({ revision: 3, columns: { status: 'confirmed' } });
  });
});
