import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { createAlarmStore } from '../../src/features/status/alarm-store.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const AT = '2026-11-20T12:00:00.000Z';
const LATER = '2026-11-20T12:01:00.000Z';
const location = () => createAlarmStore(env.DB);

it('reports an alarm once and clears it once, across all locations', async () => {
  const row = { name: 'sol_low', since: AT };
  expect(await location().note(['sol_low'], AT)).toEqual([{ ...row, reported: false }]);
  await location().settle(['sol_low'], []);
  expect(await location().note(['sol_low'], LATER)).toEqual([{ ...row, reported: true }]);
  expect(await location().names()).toEqual(['sol_low']);
  expect(await location().note([], LATER)).toEqual([{ ...row, reported: true }]);
  await location().settle([], ['sol_low']);
  expect(await location().note([], LATER)).toEqual([]);
});
