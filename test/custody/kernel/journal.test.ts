import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { DAY_MS } from '../../../src/core/durations.ts';
import { Agenda } from '../../../src/custody/kernel/agenda.ts';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import type { Operation } from '../../../src/custody/kernel/operation.ts';
import { limitUse, reservedLamports } from '../../../src/custody/kernel/spending-limits.ts';
import { CustodyBounds } from '../../../src/custody/limits.ts';
import { RESERVE } from '../../kit/addresses.ts';
import { LIMITS } from '../../kit/limits.ts';
import { done, NOW, planned, signed } from '../../kit/sample-operations.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

function setUp() {
  const storage = createSqliteStorage();
  const journal = new Journal(storage);
  const add = (op: Operation): Operation => storage.transaction(() => journal.insert(op));
  const agenda = new Agenda(
    storage,
    () => NOW,
    () => undefined,
  );
  return { storage, journal, agenda, add };
}
const at = (id: string, change: Partial<Operation> = {}): Operation => planned({ id, ...change });
const swapLimits = new CustodyBounds(LIMITS).of('swap').limits;
const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id).toSorted();

describe('rows', () => {
  it('the journal gives rows numbers without gaps and ascending revisions, whatever the input contains', () => {
    const { journal, add } = setUp();
    const first = add(at('swap:a', { seq: 99, revision: 99 }));
    const second = add(at('swap:b'));
    expect([first.seq, second.seq, first.revision, second.revision]).toEqual([1, 2, 1, 2]);
    const changed = journal.update(first, { ...first, detail: 'x' }, NOW);
    expect(changed).toMatchObject({ seq: 1, revision: 3, detail: 'x' });
    expect(journal.queue.revision()).toBe(3);
    expect(journal.latest(1)).toMatchObject([{ id: 'swap:b' }]);
  });

  it('the journal refuses a second row with the same natural key', () => {
    const { journal, add } = setUp();
    const first = add(at('swap:a'));
    expect(() => add(at('swap:a', { amount: lamports(5n) }))).toThrow(/UNIQUE/);
    expect(journal.get('swap:a')).toEqual(first);
    expect(journal.queue.revision()).toBe(first.revision);
  });

  it('the journal refuses a second row with the same signature', () => {
    const { journal, add } = setUp();
    add(signed({ id: 'a' }));
    expect(() => add(signed({ id: 'b' }))).toThrow(/UNIQUE/);
    expect(journal.get('b')).toBeUndefined();
    expect(journal.bySignature('signature-one')?.id).toBe('a');
    expect(journal.bySignature('signature-two')).toBeUndefined();
  });

  it('an update of a row that has changed since it was read is refused, and the row stays as it is', () => {
    const { journal, add } = setUp();
    const read = add(at('a'));
    const winner = journal.update(read, { ...read, detail: 'winner' }, NOW);
    expect(journal.update(read, { ...read, detail: 'loser' }, NOW)).toBeUndefined();
    expect(journal.get('a')).toEqual(winner);
    expect(journal.update({ ...read, seq: 77 }, read, NOW)).toBeUndefined();
  });

  it('a storage transaction that throws leaves no row, revision, consumed payment or outbox entry', () => {
    const { storage, journal } = setUp();
    expect(() =>
      storage.transaction(() => {
        journal.insert(at('a'));
        journal.useOnce('payment:x', 'a', NOW);
        throw new Error('power cut');
      }),
    ).toThrow('power cut');
    expect(journal.isEmpty()).toBe(true);
    expect([journal.queue.revision(), journal.userOf('payment:x'), journal.queue.waiting(9)]).toEqual([
      0,
      undefined,
      [],
    ]);
  });
});

describe('the sums over rows', () => {
  const old = NOW - 2 * DAY_MS;
  it('the limits count all open rows and all rows of the last day, one by one or in sums, for every history and time', () => {
    const lamportsOf = fc.bigInt({ min: 0n, max: 2n ** 56n }).map(lamports);
    const row = fc.record({
      state: fc.constantFrom('planned', 'signed', 'settling', 'done', 'failed') as fc.Arbitrary<
        Operation['state']
      >,
      createdAt: fc.integer({ min: NOW - 2 * DAY_MS, max: NOW + DAY_MS }),
      signedAt: fc.option(fc.integer({ min: NOW - 2 * DAY_MS, max: NOW + DAY_MS }), { nil: null }),
      dueAt: fc.constantFrom(null, NOW),
      amount: lamportsOf,
      cost: lamportsOf,
      reserved: fc.oneof(fc.constant(lamports(0n)), lamportsOf),
      unsettled: fc.oneof(fc.constant(lamports(0n)), lamportsOf),
      releasedSlot: fc.oneof(fc.constant(null), fc.bigInt({ min: 1n, max: 2n ** 40n })),
    });
    // What reserves nothing, has nothing unsettled and is not due has ended.
    const endedIfIdle = <T extends Partial<Operation>>(op: T): T =>
      op.reserved || op.unsettled || op.dueAt || op.state === 'failed' ? op : { ...op, state: 'done' };
    const when = fc.integer({ min: NOW - DAY_MS, max: NOW + 2 * DAY_MS });
    fc.assert(
      fc.property(fc.array(fc.tuple(row, row), { maxLength: 25 }), when, (rows, now) => {
        const { journal, add } = setUp();
        let highest = 0n;
        for (const [index, pair] of rows.entries()) {
          const [first, second] = pair.map(endedIfIdle) as [(typeof pair)[0], (typeof pair)[1]];
          const added = add(planned({ id: `op:${index}`, ...first }));
          const later =
            index % 2 === 0
              ? {
                  ...added,
                  ...second,
                  createdAt: first.createdAt,
                  signedAt: second.signedAt ?? first.signedAt,
                }
              : added;
          if (later !== added) journal.update(added, later, NOW);
          for (const slot of [first.releasedSlot, later.releasedSlot]) {
            if (slot !== null && slot > highest) highest = slot;
          }
        }
        const all = journal.latest(99);
        const open = all.filter((op) => op.reserved > 0n || op.unsettled > 0n || op.dueAt !== null);
        // An ended row that is a day old is not counted, even if it still shows its amounts.
        const known = all.filter((op) => open.includes(op) || (op.signedAt ?? op.createdAt) > now - DAY_MS);
        expect(ids(journal.open())).toEqual(ids(open));
        const counted = journal.counting(RESERVE, now, 'swap');
        expect(reservedLamports(counted)).toBe(reservedLamports(known));
        for (const limit of swapLimits)
          for (const maximum of [1n, 2n ** 57n])
            expect(limitUse({ ...limit, maximum }, counted, now)).toEqual(
              limitUse({ ...limit, maximum }, known, now),
            );
        // The clock may advance between the read and the decision.
        for (const limit of swapLimits)
          expect(limitUse(limit, counted, now + 1).used).toBeGreaterThanOrEqual(
            limitUse(limit, known, now + 1).used,
          );
        expect(journal.releasedSlot()).toBe(highest);
      }),
    );
  });

  it('reads the rows that limits count through an index, however many operations have ended', () => {
    const { storage } = setUp();
    const plans: unknown[] = [];
    const journal = new Journal({
      ...storage,
      exec(query, ...params) {
        if (query.includes('counts =') && query.startsWith('SELECT'))
          plans.push(...storage.exec(`EXPLAIN QUERY PLAN ${query}`, ...params).map(({ detail }) => detail));
        return storage.exec(query, ...params);
      },
    });
    journal.counting(RESERVE, NOW, 'swap');
    expect(plans).toEqual([
      expect.stringMatching(/^(SCAN|SEARCH) operations USING INDEX operations_counting/),
      expect.stringMatching(/^SEARCH operations USING COVERING INDEX operations_ended/),
      expect.stringMatching(/^SEARCH operations USING COVERING INDEX operations_ended/),
    ]);
  });

  it('keeps the minimum slot for balance reads even when the row that set it is more than a day old', () => {
    const { journal, add } = setUp();
    const waited = add(signed({ id: 'asry:x', kind: 'asry', createdAt: old, unsettled: lamports(0n) }));
    journal.update(
      waited,
      { ...waited, state: 'done', reserved: lamports(0n), releasedSlot: 7_777n, dueAt: null },
      NOW,
    );
    expect(journal.releasedSlot()).toBe(7_777n);
    // A lower slot that is released later does not replace it.
    add(done({ id: 'swap:low', createdAt: old, releasedSlot: 5n, signing: null }));
    expect(journal.releasedSlot()).toBe(7_777n);
  });
});

describe('due rows', () => {
  it('a row stays in the agenda until its work is done', () => {
    const { journal, add, agenda } = setUp();
    const waiting = add(at('waits', { dueAt: NOW + 5 }));
    add(at('never', { dueAt: null }));
    expect([agenda.next(['operation']), agenda.dueAt('operation', 'waits')]).toEqual([NOW + 5, NOW + 5]);
    journal.update(waiting, { ...waiting, dueAt: null }, NOW);
    expect(agenda.next(['operation'])).toBeUndefined();
  });

  it('a check without a change of state takes no revision and is not sent to D1; its time, number and findings are kept', () => {
    const { journal, add, agenda } = setUp();
    const waiting = add(at('waits', { dueAt: NOW + 5 }));
    const revision = journal.queue.revision();
    journal.queue.delivered(journal.queue.waiting(9), NOW);
    const checked = { ...waiting, dueAt: NOW + 9, looks: 7, updatedAt: NOW + 6, outcome: { seen: 1 } };
    expect(journal.update(waiting, checked, NOW)).toEqual(checked);
    expect([journal.queue.revision(), journal.queue.waiting(9)]).toEqual([revision, []]);
    expect(agenda.dueAt('operation', 'waits')).toBe(NOW + 9);
    expect(journal.get('waits')).toEqual({ ...waiting, dueAt: NOW + 9, looks: 7, outcome: { seen: 1 } });
  });
});

it('only the swap that consumed a Bitcoin output may consume it again, at any later time', () => {
  const { journal } = setUp();
  journal.useOnce('output:t:0', 'swap:a', NOW);
  expect(() => journal.useOnce('output:t:0', 'swap:b', NOW + DAY_MS)).toThrow('is used by swap:a');
  journal.useOnce('output:t:0', 'swap:a', NOW + DAY_MS);
  expect(journal.userOf('output:t:0')).toBe('swap:a');
  expect(journal.userOf('output:t:1')).toBeUndefined();
  expect(() => journal.useOnce('output:t:0', 'swap:b', NOW)).toThrow('is used by swap:a');
});

describe('the outbox', () => {
  it('the outbox has one row for every change, the oldest change first', () => {
    const { journal, add } = setUp();
    const a = add(at('a'));
    add(at('b'));
    journal.update(a, { ...a, detail: 'again' }, NOW + 5);
    const rows = journal.queue.waiting(9);
    expect(rows.map(({ id, revision }) => [id, revision])).toEqual([
      ['b', 2],
      ['a', 3],
    ]);
    expect(rows[1]).toMatchObject({ entity: 'operation', revision: 3, columns: { detail: 'again' } });
    expect(journal.queue.waiting(1).map(({ id }) => id)).toEqual(['b']);
  });

  it('the waiting time of the outbox starts at the first undelivered change, not at the last', () => {
    const { journal, add } = setUp();
    const a = add(at('a', { createdAt: NOW }));
    const newer = journal.update(a, { ...a, detail: 'x' }, NOW + 50_000);
    expect(journal.queue.undeliveredSince()).toBe(NOW);
    if (newer) journal.queue.delivered(journal.queue.waiting(9), NOW);
    expect(journal.queue.undeliveredSince()).toBeUndefined();
  });
});
