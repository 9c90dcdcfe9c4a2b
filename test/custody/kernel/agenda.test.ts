import { describe, expect, it } from 'vitest';
import { Agenda, backoff } from '../../../src/custody/kernel/agenda.ts';
import { NOW } from '../../kit/sample-operations.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const DAY_MS = 86_400_000;
const FAILURE = { reason: 'timeout' };

function setUp() {
  const storage = createSqliteStorage();
  const clock = { now: NOW };
  const lines: Record<string, unknown>[] = [];
  /** The agenda as a new instance reads it. */
  const open = () =>
    new Agenda(
      storage,
      () => clock.now,
      (line) => void lines.push(line),
    );
  return { storage, clock, lines, open, agenda: open() };
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

const NAMES = ['one', 'another', 'cron'];

describe('work that waits', () => {
  it('work is due from its time on, the longest overdue first, and the timer is set to the earliest due time', () => {
    const { agenda, clock } = setUp();
    for (const [id, ms] of [
      ['late', -5],
      ['later', -9],
      ['now', 0],
      ['fraction', 0.4],
      ['soon', 7],
    ] as const)
      agenda.plan('one', id, NOW + ms);
    agenda.plan('another', 'x', NOW - 20);
    expect(agenda.due('one', 9)).toEqual(['later', 'late', 'now']);
    expect(agenda.due('one', 1)).toEqual(['later']);
    expect(agenda.next(NAMES)).toBe(NOW - 20);
    // Nobody does the other work now, so it sets no alarm.
    expect([agenda.next(['third']), agenda.next(['one'])]).toEqual([undefined, agenda.dueAt('one', 'later')]);
    clock.now += 1;
    expect(agenda.due('one', 9)).toHaveLength(4);
  });

  it('work that is planned again waits until its new time, and work without a time is removed', () => {
    const { agenda } = setUp();
    expect([agenda.next(NAMES), agenda.dueAt('one', 'a')]).toEqual([undefined, undefined]);
    agenda.plan('one', 'a', NOW);
    agenda.plan('one', 'a', NOW + 5);
    expect([agenda.due('one', 9), agenda.next(NAMES), agenda.isDue('one', 'a')]).toEqual([
      [],
      NOW + 5,
      false,
    ]);
    agenda.plan('one', 'a', null);
    expect([agenda.next(NAMES), agenda.count('one')]).toEqual([undefined, 0]);
  });

  it('work that was planned at a time ahead of the clock is due at once, after work that is overdue', () => {
    const { agenda, clock } = setUp();
    agenda.plan('one', 'ahead', NOW + DAY_MS);
    expect(agenda.due('one', 9)).toEqual([]);
    clock.now -= 1;
    agenda.plan('one', 'overdue', clock.now - 5);
    expect(agenda.due('one', 9)).toEqual(['overdue', 'ahead']);
    expect([agenda.next(NAMES), agenda.dueAt('one', 'ahead')]).toEqual([clock.now, clock.now]);
  });
});

it('alarms that are repeated for many operations leave rows for at most a day after their next time', () => {
  const { agenda, clock } = setUp();
  for (let id = 0; id < 100; id++) agenda.isDueAgain(`history_too_short swap:${id}`, DAY_MS);
  clock.now += 2 * DAY_MS;
  expect([agenda.isDueAgain('other', DAY_MS), agenda.count('again')]).toEqual([true, 101]);
  clock.now += 1;
  expect([agenda.isDueAgain('another', DAY_MS), agenda.ids('again')]).toEqual([true, ['another', 'other']]);
});

describe('work that fails', () => {
  it('failed work waits twice as long after each failure, at most 6 minutes, and not at all after a success', () => {
    const { agenda, clock } = setUp();
    const waits = Array.from({ length: 10 }, () => {
      agenda.failed('one', 'a', FAILURE);
      const wait = (agenda.dueAt('one', 'a') ?? 0) - clock.now;
      clock.now += wait;
      return wait / 1_000;
    });
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
    agenda.plan('one', 'a', clock.now);
    agenda.failed('one', 'a', FAILURE);
    expect(agenda.dueAt('one', 'a')).toBe(clock.now + 2_000);
  });

  it('raises an alarm at the third failure of the same work, and logs a warning at every other failure', () => {
    const { lines, agenda } = setUp();
    for (let tries = 0; tries < 5; tries++) agenda.failed('operation', 'swap:one', FAILURE);
    const line = { event: 'work_failed', work: 'operation', id: 'swap:one', ...FAILURE };
    expect(lines).toEqual(['warn', 'warn', 'alarm', 'warn', 'warn'].map((level) => ({ level, ...line })));
  });

  it('work that is not possible yet waits longer after each check, and its failure count does not change', () => {
    const { agenda, clock, lines } = setUp();
    for (let tries = 0; tries < 3; tries++) agenda.failed('one', 'a', FAILURE);
    const waits = [1, 2, 3].map((looks) => {
      expect(agenda.postpone('one', 'a', { first: 1_000, most: 3_000 })).toBe(looks);
      return (agenda.dueAt('one', 'a') ?? 0) - clock.now;
    });
    expect([waits, lines.length, agenda.failing(9)[0]?.failures]).toEqual([[1_000, 2_000, 3_000], 3, 3]);
    agenda.plan('one', 'a', clock.now);
    expect([agenda.postpone('one', 'a', { first: 1_000, most: 3_000 }), agenda.failing(9)]).toEqual([1, []]);
  });

  it('failed work keeps its wait and its failure count in the next instance', () => {
    const { lines, open, agenda } = setUp();
    agenda.failed('search', 'treasury', FAILURE);
    expect(open().dueAt('search', 'treasury')).toBe(NOW + 2_000);
    open().failed('search', 'treasury', FAILURE);
    open().failed('search', 'treasury', FAILURE);
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'alarm']);
  });

  it('failing work of the cron is counted and does not set the timer', () => {
    const { lines, agenda } = setUp();
    for (let tries = 0; tries < 3; tries++) agenda.failed('cron', 'mint', FAILURE, true);
    expect([agenda.next(NAMES), lines.at(-1)?.level]).toEqual([undefined, 'alarm']);
    agenda.plan('cron', 'mint', null);
    agenda.failed('cron', 'mint', FAILURE, true);
    expect(lines.at(-1)?.level).toBe('warn');
  });
});
