import { expect } from 'vitest';
import { Agenda, backoff } from '../../../src/custody/kernel/agenda.ts';
import { NOW } from '../../kit/sample-operations.ts';
import { eachRow, msOf, playScenes } from '../../kit/scenes.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const FAILURE = { reason: 'timeout' };
const NAMES = ['one', 'another', 'cron'];

/** An agenda. Work is called `one` unless a step names another; times are relative to the clock. */
function createVerbs() {
  const storage = createSqliteStorage();
  const clock = { now: NOW };
  const lines: Record<string, unknown>[] = [];
  const open = () =>
    new Agenda(
      storage,
      () => clock.now,
      (line) => void lines.push(line),
    );
  let agenda = open();
  const later = (time: number | undefined) => (time === undefined ? 'none' : `${time - clock.now}`);
  const fail = (id: string, count = '1', name = 'one') => {
    for (let tries = 0; tries < Number(count); tries++) agenda.failed(name, id, FAILURE, name === 'cron');
  };
  return {
    /** @param ms `never` removes the work */
    plan: (id: string, ms: string, name = 'one') =>
      agenda.plan(name, id, ms === 'never' ? null : clock.now + Number(ms)),
    fail,
    /** Fails the work as often, each time when it is due: its waits in seconds. */
    waits(id: string, count: string) {
      const waits = Array.from({ length: Number(count) }, () => {
        fail(id);
        const wait = (agenda.dueAt('one', id) ?? 0) - clock.now;
        clock.now += wait;
        return wait / 1_000;
      });
      return waits.join(' ');
    },
    /** Postpones the work by 1 to 3 seconds: how often it was, and its wait. */
    postpone(id: string) {
      const looks = agenda.postpone('one', id, { first: 1_000, most: 3_000 });
      return `${looks}: ${(agenda.dueAt('one', id) ?? 0) - clock.now}`;
    },
    /** Alarms of different operations, each for a day. */
    again(count: string, what: string) {
      const days = Array.from({ length: Number(count) }, (_, n) =>
        agenda.isDueAgain(`${what}:${n}`, msOf('1d')),
      );
      return days.every(Boolean);
    },
    wait: (length: string) => Object.assign(clock, { now: clock.now + msOf(length) }),
    restart: () => {
      agenda = open();
    },
    due: (limit = '9') => agenda.due('one', Number(limit)).join(' ') || 'none',
    'is-due': (id: string) => agenda.isDue('one', id),
    at: (id: string) => later(agenda.dueAt('one', id)),
    next: (...names: string[]) => later(agenda.next(names.length > 0 ? names : NAMES)),
    count: (name = 'one') => agenda.count(name),
    ids: (name: string) => agenda.ids(name).join(' '),
    /** The names of failing work, in the order in which a list of this length shows it. */
    'failing-names': (limit: string) =>
      agenda
        .failing(Number(limit))
        .map(({ work }) => work)
        .join(' '),
    failing: () =>
      agenda
        .failing(9)
        .map(({ failures }) => failures)
        .join(' ') || 'none',
    levels: () => lines.map(({ level }) => level).join(' '),
    /** The last line of the log without its level. */
    said: () => JSON.stringify({ ...lines.at(-1), level: undefined }),
  };
}

eachRow<[failures: number, wait: number]>(`
  0       | 1000
  1       | 1000
  2       | 2000
  4       | 8000
  5       | 10000
  1000000 | 10000
`)('the wait before a retry after %i failures is %i ms', (failures, wait) => {
  expect(backoff(failures, { first: 1_000, most: 10_000 })).toBe(wait);
});

playScenes(`
  work is due from its time on, the longest overdue first, and the timer is set to the earliest due time
    | plan late -5; plan later -9; plan now 0; plan fraction 0.4; plan soon 7; plan x -20 another; due = later late now; due 1 = later; next = -20; wait 1ms; due = later late now fraction
  work whose name is not asked for sets no timer
    | plan later -9; plan x -20 another; next third = none; next one = -9
  work that is planned again waits until its new time, and work without a time is removed
    | next = none; at a = none; plan a 0; plan a 5; due = none; next = 5; is-due a = false; plan a never; next = none; count = 0
  work that was planned at a time ahead of the clock is due at once, after work that is overdue
    | plan ahead 86400000; due = none; wait -1ms; plan overdue -5; due = overdue ahead; next = 0; at ahead = 0
  alarms that are repeated for many operations leave rows for at most a day after their next time
    | again 100 swap = true; again 1 swap = false; wait 2d; again 1 other = true; count again = 101; wait 1ms; again 1 another = true; ids again = another:0 other:0
  failed work waits twice as long after each failure, at most 6 minutes, and not at all after a success
    | waits a 10 = 2 4 8 16 32 64 128 256 360 360; plan a 0; waits a 1 = 2
  raises an alarm at the third failure of the same work, and logs a warning at every other failure
    | fail swap:one 5 operation; levels = warn warn alarm warn warn; said = {"event":"work_failed","work":"operation","id":"swap:one","reason":"timeout"}
  work that is not possible yet waits longer after each check, and its failure count does not change
    | fail a 3; postpone a = 1: 1000; postpone a = 2: 2000; postpone a = 3: 3000; levels = warn warn alarm; failing = 3; plan a 0; postpone a = 1: 1000; failing = none
  failed work keeps its wait and its failure count in the next instance
    | fail treasury; restart; at treasury = 2000; fail treasury; restart; fail treasury; levels = warn warn alarm
  failing work of one name does not hide other failing work, whatever its number
    | fail a 9; fail b 8; fail c 7; fail swap:one 3 another; fail mint 4 cron; failing-names 3 = one cron another; failing-names 9 = one cron another one one
  failing work of the cron is counted and does not set the timer
    | fail mint 3 cron; next = none; levels = warn warn alarm; plan mint never cron; fail mint 1 cron; levels = warn warn alarm warn
`)(createVerbs);
