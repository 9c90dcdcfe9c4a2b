import { describe, expect, it } from 'vitest';
import { Agenda } from '../../../src/custody/kernel/agenda.ts';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import { REFUSED_ROW } from '../../../src/custody/kernel/mirror-queue.ts';
import { createD1Mirror, flushOutbox } from '../../../src/custody/kernel/outbox.ts';
import { openD1 } from '../../kit/d1.ts';
import { createFakeMirror } from '../../kit/fake-mirror.ts';
import { NOW, planned } from '../../kit/sample-operations.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

function setUp(rows: number) {
  const storage = createSqliteStorage();
  const journal = new Journal(storage);
  const mirror = createFakeMirror();
  const logged: unknown[] = [];
  for (let at = 0; at < rows; at++) storage.transaction(() => journal.insert(planned({ id: `swap:${at}` })));
  const clock = { now: NOW };
  const log = (line: unknown) => void logged.push(line);
  const agenda = new Agenda(storage, () => clock.now, log);
  const flush = () => flushOutbox({ agenda, journal, storage, mirror, now: () => clock.now, log });
  return { storage, agenda, journal, mirror, logged, flush, clock };
}

/** D1 refuses every batch that has one of these rows, as for a broken constraint. */
function refusing(w: ReturnType<typeof setUp>, ...ids: readonly string[]) {
  const refused = new Set(ids);
  const { apply } = w.mirror;
  const tries: string[] = [];
  w.mirror.apply = async (rows, mark, birth) => {
    const found = rows.find(({ id }) => refused.has(id));
    if (!found) return apply(rows, mark, birth);
    if (rows.length === 1) tries.push(found.id);
    throw new Error('D1_ERROR: string or blob too big');
  };
  return { refused, tries };
}

const waiting = (w: ReturnType<typeof setUp>) => w.journal.queue.waiting(99).map(({ id }) => id);

describe('the outbox', () => {
  it('the outbox delivers all rows in batches, then is empty', async () => {
    const w = setUp(95);
    await w.flush();
    expect([w.mirror.rows.size, w.mirror.applied]).toEqual([95, 3]);
    await w.flush();
    expect(w.mirror.applied).toBe(3);
  });

  it.each([40, 80])('delivers %i rows that fill whole batches, then stops', async (rows) => {
    const w = setUp(rows);
    await w.flush();
    expect([w.mirror.rows.size, w.journal.queue.waiting(1)]).toEqual([rows, []]);
  });

  it('makes rows durable before D1 receives them, and records the highest revision sent', async () => {
    const w = setUp(2);
    const order: string[] = [];
    const { sync } = w.storage;
    w.storage.sync = async () => {
      order.push(`sync, offered ${w.journal.queue.offered()}`);
      return sync();
    };
    const { apply } = w.mirror;
    w.mirror.apply = async (...batch) => {
      order.push('apply');
      return apply(...batch);
    };
    await w.flush();
    expect(order).toEqual(['sync, offered 3', 'apply']);
  });

  it('the outbox of a replaced instance sends nothing to D1', async () => {
    const w = setUp(2);
    w.storage.sync = () => Promise.reject(new Error('replaced'));
    await expect(w.flush()).rejects.toThrow('replaced');
    expect(w.mirror.applied).toBe(0);
  });

  it('a row that changes during its delivery is delivered again', async () => {
    const w = setUp(1);
    const { apply } = w.mirror;
    w.mirror.apply = async (...batch) => {
      const row = w.journal.get('swap:0');
      if (row && row.detail !== 'newer') w.journal.update(row, { ...row, detail: 'newer' }, NOW);
      return apply(...batch);
    };
    await w.flush();
    expect(w.journal.queue.waiting(9)).toHaveLength(1);
    await w.flush();
    expect(w.mirror.operation('swap:0')).toMatchObject({ detail: 'newer' });
    expect(w.journal.queue.waiting(9)).toEqual([]);
  });

  it('rows of other tables are delivered with their columns, in the order of their changes', async () => {
    const w = setUp(1);
    for (const status of ['pending', 'completed']) {
      const columns = { status, created_at: '', journal: '{}' };
      w.storage.transaction(() => w.journal.queue.publish('invoices', 'i1', columns, NOW));
    }
    expect(w.journal.queue.waiting(9).map(({ entity, id, revision }) => [entity, id, revision])).toEqual([
      ['operation', 'swap:0', 1],
      ['invoices', 'i1', 3],
    ]);
    await w.flush();
    expect(w.mirror.rows.get('invoices i1')).toMatchObject({ revision: 3, columns: { status: 'completed' } });
  });
});

describe('a row that D1 refuses', () => {
  it('a row that D1 refuses leaves the queue at once, and all other rows are delivered in the same flush', async () => {
    const w = setUp(95);
    const { tries } = refusing(w, 'swap:0');
    await w.flush();
    expect([w.mirror.rows.size, waiting(w), tries]).toEqual([94, [], ['swap:0']]);
  });

  it('all other rows are delivered while D1 refuses the 50 oldest, more than a batch', async () => {
    const w = setUp(120);
    refusing(w, ...Array.from({ length: 50 }, (_, at) => `swap:${at}`));
    for (let tries = 0; tries < 60; tries++) await w.flush();
    expect([w.mirror.rows.size, waiting(w)]).toEqual([70, []]);
  });

  it('a row that D1 refuses is retried with growing delays of at most six minutes, and raises one alarm', async () => {
    const w = setUp(1);
    const { tries } = refusing(w, 'swap:0');
    const times: number[] = [];
    for (const end = NOW + 2 * 3_600_000; w.clock.now < end; w.clock.now += 1_000) {
      const before = tries.length;
      await w.flush();
      if (tries.length > before) times.push((w.clock.now - NOW) / 1_000);
    }
    expect(times.slice(0, 5)).toEqual([0, 2, 6, 14, 30]);
    const waits = times.map((at, n) => at - (times[n - 1] ?? 0));
    expect(Math.max(...waits)).toBe(360);
    const alarms = w.logged.filter((line) => (line as { level: string }).level === 'alarm');
    expect(alarms).toEqual([
      expect.objectContaining({
        event: 'work_failed',
        work: 'mirror_row',
        id: 'operation:swap:0',
        error: 'Error: D1_ERROR: string or blob too big',
      }),
    ]);
  });

  it('a row is reported as waiting for D1 until its third refusal, and is listed as refused from then on', async () => {
    const w = setUp(1);
    refusing(w, 'swap:0');
    for (const wait of [0, 2_000, 4_000]) {
      expect([w.journal.queue.undeliveredSince(), w.journal.queue.setAside(9)]).toEqual([NOW, []]);
      w.clock.now += wait;
      await w.flush();
    }
    expect(w.journal.queue.undeliveredSince()).toBeUndefined();
    expect(w.journal.queue.setAside(9)).toEqual([{ entity: 'operation', id: 'swap:0', refusals: 3 }]);
  });

  it('measures the wait of a row that changes during every delivery from the start of the last one', async () => {
    const w = setUp(1);
    const { apply } = w.mirror;
    w.mirror.apply = async (...batch) => {
      const before = await apply(...batch);
      w.clock.now += 5_000;
      const row = w.journal.get('swap:0');
      if (row) w.journal.update(row, { ...row, detail: `change ${w.clock.now}` }, w.clock.now);
      return before;
    };
    for (let change = 0; change < 20; change++) {
      const beganAt = w.clock.now;
      await w.flush();
      expect(w.journal.queue.undeliveredSince()).toBe(beganAt);
    }
    w.mirror.apply = apply;
    await w.flush();
    expect(w.journal.queue.undeliveredSince()).toBeUndefined();
  });

  it("a row that D1 refuses waits for its next time, and is delivered at once at the operator's request", async () => {
    const w = setUp(1);
    const { refused } = refusing(w, 'swap:0');
    for (let tries = 0; tries < 8; tries++) {
      await w.flush();
      w.clock.now = w.agenda.dueAt(REFUSED_ROW, 'operation:swap:0') ?? 0;
    }
    w.clock.now -= 1_000;
    refused.clear();
    await w.flush();
    expect(w.mirror.rows.size).toBe(0);
    w.agenda.plan(REFUSED_ROW, 'operation:swap:0', w.clock.now);
    await w.flush();
    expect(w.mirror.operation('swap:0')).toBeDefined();
    expect([w.journal.queue.setAside(9), w.agenda.ids(REFUSED_ROW)]).toEqual([[], []]);
  });

  it('a row that D1 refuses is retried with its newest content, and a change does not cause more retries', async () => {
    const w = setUp(2);
    const { refused, tries } = refusing(w, 'swap:0');
    for (let change = 0; change < 20; change++) {
      const row = w.journal.get('swap:0');
      if (row) w.journal.update(row, { ...row, detail: `change ${change}` }, NOW);
      await w.flush();
    }
    expect(tries).toHaveLength(1);
    refused.clear();
    w.clock.now += 5_000;
    await w.flush();
    expect(w.mirror.operation('swap:0')).toMatchObject({ detail: 'change 19' });
    expect(w.journal.queue.undeliveredSince()).toBeUndefined();
  });

  it('a row that D1 refuses is retried after the clock has gone back by a day', async () => {
    const w = setUp(1);
    const { refused } = refusing(w, 'swap:0');
    await w.flush();
    refused.clear();
    w.clock.now -= 86_400_000;
    await w.flush();
    expect(w.mirror.rows.size).toBe(1);
  });
});

describe('an outage of D1', () => {
  it.each(['down', 'loses answers'] as const)(
    'an outage of D1 removes no row, calls D1 once per flush, and is followed by a delivery of all rows: %s',
    async (state) => {
      const w = setUp(3);
      const { apply } = w.mirror;
      let calls = 0;
      w.mirror.apply = (...batch) => {
        calls++;
        return apply(...batch);
      };
      w.mirror.state = state;
      for (let tries = 1; tries <= 20; tries++) {
        w.clock.now += 60_000;
        await w.flush();
        expect(calls).toBe(tries);
      }
      expect([waiting(w).length, w.journal.queue.setAside(9)]).toEqual([3, []]);
      expect(w.logged).toEqual(
        Array(20).fill(expect.objectContaining({ event: 'mirror_failed', waiting: 3 })),
      );
      w.mirror.state = 'up';
      await w.flush();
      expect([w.mirror.rows.size, waiting(w)]).toEqual([3, []]);
    },
  );

  it('an outage of D1 is not treated as another refusal of a row that D1 refused before', async () => {
    const w = setUp(1);
    refusing(w, 'swap:0');
    await w.flush();
    w.mirror.state = 'down';
    for (let tries = 0; tries < 9; tries++) {
      w.clock.now += 3_600_000;
      await w.flush();
    }
    expect(w.journal.queue.setAside(9)).toEqual([]);
  });
});

it.each<[string, { at: number; revision: number } | undefined]>([
  ['without a birth', undefined],
  ['with an older birth', { at: 10, revision: 3 }],
])('a restored journal %s changes no birth in D1, but raises the mark', async (_name, older) => {
  const { d1, rows } = openD1();
  const mirror = createD1Mirror(d1);
  await mirror.apply([], 5, { at: 20, revision: 5 });
  await mirror.apply([], 6, older);
  expect(rows('mirror_marks')).toMatchObject([{ revision: 6, born_after: 5, born_at: 20 }]);
  await mirror.apply([], 9, { at: 30, revision: 9 });
  expect(rows('mirror_marks')).toMatchObject([{ revision: 9, born_after: 9, born_at: 30 }]);
});
