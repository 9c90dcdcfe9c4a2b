import { describe, expect, it } from 'vitest';
import { backoff, Retries } from '../../../src/custody/kernel/retries.ts';
import { NOW } from '../../kit/sample-operations.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const MINUTE = 60_000;

function setUp() {
  const storage = createSqliteStorage();
  const clock = { now: NOW };
  const lines: Record<string, unknown>[] = [];
  /** The retries as a new instance reads them. */
  const open = () =>
    new Retries(
      storage,
      () => clock.now,
      (line) => void lines.push(line),
    );
  return { clock, lines, open, retries: open() };
}

it.each([
  [0, 1_000],
  [1, 1_000],
  [2, 2_000],
  [4, 8_000],
  [5, 10_000],
  [1_000_000, 10_000],
])('the wait before a retry after %i failures is %i ms', (failures, wait) => {
  expect(backoff(failures, { first: 1_000, most: 10_000 })).toBe(wait);
});

describe('work that fails', () => {
  it('failed work waits twice as long after each failure, at most 6 minutes, and not at all after a success', () => {
    const { clock, retries } = setUp();
    const waits = Array.from({ length: 10 }, () => {
      clock.now = retries.failed('cron', 'mint', {});
      return clock.now;
    }).map((until, at, all) => until - (all[at - 1] ?? NOW));
    expect(waits.map((ms) => ms / 1_000)).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
    retries.succeeded('cron', 'mint');
    expect(retries.waitsUntil('cron', 'mint')).toBeUndefined();
    expect(retries.failed('cron', 'mint', {})).toBe(clock.now + 2_000);
  });

  it('raises an alarm at the third failure of the same work, and logs a warning at every other failure', () => {
    const { lines, retries } = setUp();
    for (let tries = 0; tries < 5; tries++) retries.failed('operation', 'swap:one', { error: 'x' });
    const line = { event: 'work_failed', work: 'operation', id: 'swap:one', error: 'x' };
    expect(lines).toEqual(['warn', 'warn', 'alarm', 'warn', 'warn'].map((level) => ({ level, ...line })));
  });

  it('failed work keeps its wait and its failure count in the next instance', () => {
    const { lines, open, retries } = setUp();
    retries.failed('module', 'payments', {});
    expect(open().waitsUntil('module', 'payments')).toBe(NOW + 2_000);
    open().failed('module', 'payments', {});
    open().failed('module', 'payments', {});
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'alarm']);
  });

  it('work that fails does not delay work of another name or id', () => {
    const { retries } = setUp();
    retries.failed('module', 'payments', {});
    expect(retries.waitsUntil('cron', 'payments')).toBeUndefined();
    expect(retries.waitsUntil('module', 'asry')).toBeUndefined();
    expect([retries.count('module'), retries.count('cron')]).toEqual([1, 0]);
  });

  it('failed work is due from its stored time on, and at once after the clock was set back', () => {
    const { clock, retries } = setUp();
    const until = retries.failed('module', 'payments', {});
    clock.now = until - 1;
    expect(retries.waitsUntil('module', 'payments')).toBe(until);
    clock.now = until;
    expect(retries.waitsUntil('module', 'payments')).toBeUndefined();
    clock.now = until - 7 * MINUTE;
    expect(retries.waitsUntil('module', 'payments')).toBeUndefined();
  });
});

describe('rows that are recorded one by one', () => {
  /** Ten rows; booking an odd one throws. */
  function booking() {
    const w = setUp();
    const left = Array.from({ length: 10 }, (_, id) => id);
    const rows = w.retries.rows({
      name: 'booking',
      read: (limit) => left.slice(0, limit),
      idOf: String,
    });
    const run = (limit: number, fails = (id: number) => id % 2 === 1) =>
      rows.run(limit, (id) => {
        if (fails(id)) throw new Error(`row ${id}`);
        left.splice(left.indexOf(id), 1);
      });
    return { ...w, left, rows, run };
  }

  it('rows that are recorded one by one do not wait for a row whose recording throws', () => {
    const { left, rows, run } = booking();
    for (let runs = 0; runs < 5; runs++) run(2);
    expect(left).toEqual([1, 3, 5, 7, 9]);
    expect(rows.nextAt()).toBe(NOW + 2_000);
  });

  it('a row that could not be recorded is tried again after its wait, and forgotten once recorded', () => {
    const { clock, left, lines, retries, rows, run } = booking();
    run(10);
    run(10);
    expect(lines).toHaveLength(5);
    clock.now += 2_000;
    expect(rows.nextAt()).toBe(clock.now);
    run(10, () => false);
    expect(left).toEqual([]);
    expect([rows.nextAt(), retries.count('booking')]).toEqual([undefined, 0]);
  });
});
