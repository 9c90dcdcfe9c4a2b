import { expect, it } from 'vitest';
import type { Custodian } from '../../../src/custody/custodian.ts';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import { RESERVE } from '../../kit/addresses.ts';
import { type CustodianWorld, createCustodianWorld, keyed, request } from '../../kit/custodian.ts';
import { credit } from '../../kit/fake-bridge.ts';
import { land } from '../../kit/fake-chain.ts';
import { SOL } from '../../kit/sample-operations.ts';
import { createSqliteStorage, type SqliteStorage } from '../../kit/sqlite-storage.ts';

const TABLES = ['meta', 'operations', 'calls', 'once', 'outbox'];

/** Another storage with the same rows, as a point-in-time restore makes it. */
function copyOf(storage: SqliteStorage): SqliteStorage {
  const copy = createSqliteStorage();
  new Journal(copy);
  for (const table of TABLES) {
    for (const row of storage.exec(`SELECT * FROM ${table}`)) {
      const names = Object.keys(row);
      const marks = names.map(() => '?').join(', ');
      copy.exec(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`, ...Object.values(row));
    }
  }
  return copy;
}

/** A swap that was sent, a copy of the storage at that time, and a later swap that the copy lacks. */
async function restored(): Promise<{ w: CustodianWorld; old: SqliteStorage; truth: unknown }> {
  const w = createCustodianWorld();
  await w.custody.createSwap(keyed('first'));
  const old = copyOf(w.storage);
  land(w.chain);
  w.clock.now += 5_000;
  await w.custody.alarm();
  await w.custody.createSwap(keyed('second', { client: '192.0.2.2' }));
  return { w, old, truth: snapshot(w) };
}
const snapshot = (w: CustodianWorld) => [...w.mirror.rows.values()];

async function ticks(custody: Custodian, w: CustodianWorld, count: number): Promise<void> {
  for (let tick = 0; tick < count; tick++) {
    w.clock.now += 3_000;
    await custody.alarm();
  }
}

it('a restored journal signs nothing, and its report shows the reason', async () => {
  const { w, old } = await restored();
  const custody = w.start(old);
  const before = w.signatures();
  const answer = await custody.createSwap(request({ client: '192.0.2.3' }));
  expect(answer).toMatchObject({
    type: 'refused',
    refusal: { code: 'SWAPS_PAUSED', details: { reason: 'journal_behind_mirror' } },
  });
  expect(w.signatures()).toBe(before);
  expect((await custody.report()).frozen).toBe('journal_behind_mirror');
});

it.each([
  ['was restored to an older state', restored, 'journal_behind_mirror'],
  [
    'was emptied',
    async () => ({ ...(await restored()), old: createSqliteStorage() }),
    'journal_behind_mirror',
  ],
  [
    'is new, for a key that has signed',
    async () => {
      const w = createCustodianWorld();
      credit(w.swap, 'earlier', SOL);
      const shown = w.swap.transactions.get('earlier');
      if (shown) w.swap.transactions.set('earlier', { ...shown, signers: [RESERVE] });
      return { w, old: createSqliteStorage() };
    },
    'journal_empty_but_reserve_has_signed',
  ],
])('the first report shows a frozen journal for a Durable Object that %s', async (_what, lose, frozen) => {
  const { w, old } = await lose();
  expect(await w.start(old).signingState()).toMatchObject({ frozen });
  expect(await w.start(old).report()).toMatchObject({ frozen });
});

it('a restored journal is unverified in every report until D1 responds', async () => {
  const { w, old } = await restored();
  w.mirror.state = 'down';
  const custody = w.start(old);
  expect(await custody.signingState()).toMatchObject({ frozen: 'unverified' });
  expect(await custody.report()).toMatchObject({ frozen: 'unverified' });
  w.mirror.state = 'up';
  expect(await custody.signingState()).toMatchObject({ frozen: 'journal_behind_mirror' });
});

it('a restored journal never overwrites rows in D1, because it will be restored from them', async () => {
  const { w, old, truth } = await restored();
  const custody = w.start(old);
  await ticks(custody, w, 60);
  await custody.wake();
  expect(snapshot(w)).toEqual(truth);
});

it('a restored journal is still detected after it has run without D1 for a while', async () => {
  const { w, old, truth } = await restored();
  w.mirror.state = 'down';
  const custody = w.start(old);
  await ticks(custody, w, 60);
  w.mirror.state = 'up';
  await ticks(custody, w, 3);
  expect((await custody.report()).frozen).toBe('journal_behind_mirror');
  expect(snapshot(w)).toEqual(truth);
});

it('a restored journal consumes no Bitcoin output and no refund', async () => {
  const { w, old } = await restored();
  w.bridge.nextReport = () => ({ state: 'failed', reason: 'bridge_failed' });
  const custody = w.start(old);
  await ticks(custody, w, 10);
  const journal = new Journal(old);
  expect(journal.get('swap:key-first')).toMatchObject({ state: 'signed' });
});

it('a restored journal does not wake itself often while it waits for the operator', async () => {
  const { w, old } = await restored();
  const custody = w.start(old);
  await ticks(custody, w, 2);
  expect((old.alarm ?? Number.POSITIVE_INFINITY) - w.clock.now).toBeGreaterThanOrEqual(30_000);
});

it.each(['retry', 'write-off', 'refund'] as const)(
  'a restored journal refuses the command %s, because its rows may be old',
  async (name) => {
    const { w, old } = await restored();
    const custody = w.start(old);
    expect(await custody.ops({ name, id: 'swap:key-first' })).toMatchObject({
      ok: false,
      message: expect.stringContaining('lost rows'),
    });
    expect(new Journal(old).get('swap:key-first')?.state).toBe('signed');
  },
);
