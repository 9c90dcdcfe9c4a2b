import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { createAlarmStore } from '../../src/features/status/alarm-store.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const AT = '2026-11-20T12:00:00.000Z';
const LATER = '2026-11-20T12:01:00.000Z';
const location = () => createAlarmStore(env.DB);

it('reports an alarm once and clears it once, across all locations', async () => {
  const ids = ['a', 'b'];
  const row = { name: 'sol_low', since: AT, ids };
  const named = (count: number, since = LATER) => [{ name: 'sol_low', since, count, ids }];
  expect(await location().note(named(2, AT))).toEqual([{ ...row, sentAt: null, count: 2 }]);
  await location().settle(named(2), [], AT);
  expect(await location().note(named(3))).toEqual([{ ...row, sentAt: AT, count: 2 }]);
  expect(await location().rows()).toEqual([{ ...row, sentAt: AT, count: 2 }]);
  expect(await location().note(named(1))).toEqual([{ ...row, sentAt: AT, count: 1 }]);
  expect(await location().note([])).toEqual([{ ...row, sentAt: AT, count: 1 }]);
  await location().settle([], ['sol_low'], LATER);
  expect(await location().note([])).toEqual([]);
});
