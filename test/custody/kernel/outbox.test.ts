/** A scene is steps: what the journal queues, what D1 does, and what is delivered. */
import { expect, it } from 'vitest';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { Agenda } from '../../../src/custody/kernel/agenda.ts';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import { REFUSED_ROW } from '../../../src/custody/kernel/mirror-queue.ts';
import { createD1Mirror, flushOutbox } from '../../../src/custody/kernel/outbox.ts';
import { openD1 } from '../../kit/d1.ts';
import { createFakeMirror } from '../../kit/fake-mirror.ts';
import { NOW, planned } from '../../kit/sample-operations.ts';
import { msOf, playScenes } from '../../kit/scenes.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const orNone = (texts: readonly unknown[]): string => texts.join(', ') || 'none';

function createStage() {
  const storage = createSqliteStorage();
  const journal = new Journal(storage);
  const { queue } = journal;
  const mirror = createFakeMirror();
  const clock = { now: NOW };
  const logged: Readonly<Record<string, unknown>>[] = [];
  const log = (line: Readonly<Record<string, unknown>>) => void logged.push(line);
  const agenda = new Agenda(storage, () => clock.now, log);
  const refused = new Set<string>();
  /** Times of the batches that had only a refused row, in milliseconds since the start. */
  const tries: number[] = [];
  const order: string[] = [];
  const d1 = { isSlow: false };
  let duringDelivery = (): void => undefined;
  const { sync } = storage;
  storage.sync = async () => {
    order.push(`sync, offered ${queue.offered()}`);
    return sync();
  };
  const { apply } = mirror;
  mirror.apply = async (rows, mark, birth) => {
    order.push('apply');
    if (d1.isSlow) throw upstreamFailed('d1', 'timeout');
    if (rows.some(({ id }) => refused.has(id))) {
      if (rows.length === 1) tries.push(clock.now - NOW);
      throw new Error('D1_ERROR: string or blob too big');
    }
    const before = await apply(rows, mark, birth);
    duringDelivery();
    return before;
  };
  function change(detail: string): void {
    const row = journal.get('swap:0');
    if (row) journal.update(row, { ...row, detail }, clock.now);
  }
  const flush = () =>
    flushOutbox({ agenda, journal, storage, mirror, now: () => clock.now, log }).then(
      () => 'ok',
      ({ message }) => message,
    );
  return {
    tries,
    logged,
    verbs: {
      rows(count: string) {
        for (let at = 0; at < Number(count); at++)
          storage.transaction(() => journal.insert(planned({ id: `swap:${at}` })));
      },
      invoice(status: string) {
        const columns = { status, created_at: '', journal: '{}' };
        storage.transaction(() => queue.publish('invoices', 'i1', columns, clock.now));
      },
      change,
      /** D1 refuses every batch with one of the first rows, as for a broken constraint. */
      refuse(count: string) {
        for (let at = 0; at < Number(count); at++) refused.add(`swap:${at}`);
      },
      accept: () => refused.clear(),
      /** Writes end after their limit, while D1 responds to probes. */
      slow: (on: string) => Object.assign(d1, { isSlow: on === 'on' }),
      d1: (...state: string[]) => Object.assign(mirror, { state: state.join(' ') }),
      /** Another instance has taken over. */
      replaced: () => Object.assign(storage, { sync: () => Promise.reject(new Error('replaced')) }),
      /** Row 0 changes during a delivery: `once`, or `always`, each time five seconds after it began. */
      changes(how: string) {
        duringDelivery = () => {
          if (how === 'once') duringDelivery = () => undefined;
          else clock.now += 5_000;
          change(`${how} at ${clock.now}`);
        };
        if (how === 'never') duringDelivery = () => undefined;
      },
      wait: (length: string) => Object.assign(clock, { now: clock.now + msOf(length) }),
      flush,
      async flushes(count: string, pause = '0s', detail = '') {
        for (let at = 0; at < Number(count); at++) {
          if (detail) change(`${detail} ${at}`);
          clock.now += msOf(pause);
          await flush();
        }
      },
      /** The next retry of row 0 is due. */
      due: () => Object.assign(clock, { now: agenda.dueAt(REFUSED_ROW, 'operation:swap:0') ?? 0 }),
      /** The operator asks for a retry of row 0. */
      retry: () => agenda.plan(REFUSED_ROW, 'operation:swap:0', clock.now),
      delivered: () => mirror.rows.size,
      batches: () => mirror.applied,
      order: () => orNone(order),
      calls: () => order.filter((step) => step === 'apply').length,
      tries: () => tries.length,
      queue: () => orNone(queue.waiting(99).map(({ entity, id, revision }) => `${entity} ${id} ${revision}`)),
      waiting: () => queue.waiting(99).length,
      /** Milliseconds from the start until the oldest undelivered change. */
      since: () => (queue.undeliveredSince() ?? Number.NaN) - NOW,
      aside: () => orNone(queue.setAside(9).map(({ entity, id, refusals }) => `${entity} ${id} ${refusals}`)),
      planned: () => orNone(agenda.ids(REFUSED_ROW)),
      detail: () => mirror.operation('swap:0')?.detail,
      invoiced: () => {
        const { revision, columns } = mirror.rows.get('invoices i1') ?? {};
        return `${revision} ${columns?.status}`;
      },
      failures: () =>
        logged.filter(({ event, waiting }) => event === 'mirror_failed' && waiting === 3).length,
    },
  };
}

playScenes(`
  the outbox delivers all rows in batches of forty, then is empty
    | rows 95; flush; delivered = 95; batches = 3; flush; batches = 3
  delivers 40 rows that fill one batch, then stops
    | rows 40; flush; delivered = 40; waiting = 0; batches = 1
  delivers 80 rows that fill two batches, then stops
    | rows 80; flush; delivered = 80; waiting = 0; batches = 2
  makes rows durable before D1 receives them, and records the highest revision sent
    | rows 2; flush; order = sync, offered 3, apply
  the outbox of a replaced instance sends nothing to D1
    | rows 2; replaced; flush = replaced; batches = 0
  a row that changes during its delivery is delivered again
    | rows 1; changes once; flush; waiting = 1; flush; detail = once at ${NOW}; waiting = 0
  rows of other tables are delivered with their columns, in the order of their changes
    | rows 1; invoice pending; invoice completed; queue = operation swap:0 1, invoices i1 3; flush; invoiced = 3 completed
  a row that D1 refuses leaves the queue at once, and all other rows are delivered in the same flush
    | rows 95; refuse 1; flush; delivered = 94; waiting = 0; tries = 1
  all other rows are delivered while D1 refuses the 50 oldest, more than a batch
    | rows 120; refuse 50; flushes 60; delivered = 70; waiting = 0
  a row is reported as waiting for D1 until its third refusal, and is listed as refused from then on
    | rows 1; refuse 1; since = 0; flush; since = 0; wait 2s; flush; since = 0; aside = none; wait 4s; flush; since = NaN; aside = operation swap:0 3
  measures the wait of a row that changes during every delivery from the start of the last delivery
    | rows 1; changes always; flush; since = 0; flush; since = 5000; flushes 17; flush; since = 95000; changes never; flush; since = NaN
  a row that D1 refuses waits for its next time, and is delivered at once at the operator's request
    | rows 1; refuse 1; flush; due; flush; due; flush; due; wait -1s; accept; flush; delivered = 0; aside = operation swap:0 3; retry; flush; delivered = 1; aside = none; planned = none
  a row that D1 refuses is retried with its newest content, and a change does not cause more retries
    | rows 2; refuse 1; flushes 20 0s change; tries = 1; accept; wait 5s; flush; detail = change 19; since = NaN
  a row that D1 refuses is retried after the clock has gone back by a day
    | rows 1; refuse 1; flush; accept; wait -1d; flush; delivered = 1
  an outage of D1 removes no row, calls D1 once per flush, and is followed by a delivery of all rows
    | rows 3; d1 down; flushes 20 1m; calls = 20; waiting = 3; aside = none; failures = 20; d1 up; flush; delivered = 3; waiting = 0
  writes to D1 that end after their time limit set no row aside
    | rows 3; slow on; flushes 20 1m; calls = 20; waiting = 3; aside = none; failures = 20; slow off; flush; delivered = 3; waiting = 0
  an outage of D1 that only loses its responses removes no row, and is followed by a delivery of all rows
    | rows 3; d1 loses answers; flushes 20 1m; calls = 20; waiting = 3; aside = none; failures = 20; d1 up; flush; delivered = 3; waiting = 0
  an outage of D1 is not treated as another refusal of a row that D1 refused before
    | rows 1; refuse 1; flush; d1 down; flushes 9 1h; aside = none
`)(() => createStage().verbs);

it('a row that D1 refuses is retried with growing delays of at most six minutes, and raises one alarm', async () => {
  const { verbs, tries, logged } = createStage();
  verbs.rows('1');
  verbs.refuse('1');
  await verbs.flushes('7200', '1s');
  expect(tries.slice(0, 5)).toEqual([1, 3, 7, 15, 31].map((second) => second * 1_000));
  const waits = tries.map((at, n) => at - (tries[n - 1] ?? 0));
  expect(Math.max(...waits)).toBe(360_000);
  expect(logged.filter(({ level }) => level === 'alarm')).toEqual([
    expect.objectContaining({
      event: 'work_failed',
      work: 'mirror_row',
      id: 'operation:swap:0',
      error: 'Error: D1_ERROR: string or blob too big',
    }),
  ]);
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
