import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { createAlarmStore } from '../../src/features/status/alarm-store.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const AT = '2026-11-20T12:00:00.000Z';
const LATER = '2026-11-20T12:01:00.000Z';
/** A location whose copy of KV never changes. */
const location = () => createAlarmStore(env.DB, { get: async () => null, put: async () => undefined });

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

it("D1 takes over the alarms that KV stored during its outage, and the outage's end is reported", async () => {
  const row = { name: 'status_unreadable', since: AT, reported: true };
  await env.KV.put('alarms:outage', JSON.stringify([row]));
  const store = createAlarmStore(env.DB, env.KV);
  expect(await store.note([], LATER)).toEqual([row]);
  await store.settle([], ['status_unreadable']);
  expect(await store.note([], LATER)).toEqual([]);
});
