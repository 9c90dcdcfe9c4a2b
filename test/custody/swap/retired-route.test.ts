/** Swaps that another release stored for a route that this one does not have. */
import { expect, it } from 'vitest';
import { held } from '../../../src/custody/kernel/reason.ts';
import { createCustodianWorld } from '../../kit/custodian.ts';
import { outstanding, SOL, settling, signingOf } from '../../kit/sample-operations.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const HOUR_MS = 3_600_000;
/** With facts that only the retired route had. */
const plan = { route: 'retired-route', tool: 'tool', quoteId: 'q', depositAddress: null, minimumSats: '1' };
const SETTLING = settling({ id: 'swap:settling', plan, signing: signingOf('settling') });
const FAILED = outstanding({ id: 'swap:failed', plan, signing: signingOf('failed') });

/** A custodian that starts on a journal with these rows. */
async function startWith(...rows: (typeof SETTLING)[]) {
  const storage = createSqliteStorage();
  const earlier = createCustodianWorld({}, storage);
  storage.transaction(() => {
    for (const row of rows) earlier.journal.insert(row);
  });
  const w = createCustodianWorld({}, storage);
  await w.custody.wake();
  return w;
}

it('a swap that only a retired route could settle waits for the operator, and no bridge is called about it', async () => {
  const w = await startWith(SETTLING, FAILED);
  await w.pass(HOUR_MS / 2);
  expect(w.journal.get('swap:settling')).toMatchObject({ state: 'settling', reason: held('unknown_state') });
  expect(w.journal.get('swap:failed')).toMatchObject({ state: 'failed', unsettled: SOL });
  expect((await w.custody.report()).heldOperations).toBe(2);
  expect(w.logged.filter((event) => event === 'operation_held')).toHaveLength(2);
  expect(w.bridge.reports).toEqual([]);
});

it.each([SETTLING, FAILED])('the operator can write off a swap of a retired route: $id', async ({ id }) => {
  const w = await startWith(SETTLING, FAILED);
  await w.pass(HOUR_MS / 2);
  expect(await w.custody.ops({ name: 'write-off', id })).toMatchObject({ ok: true });
  expect(w.journal.get(id)).toMatchObject({ state: 'failed', unsettled: 0n });
  expect((await w.custody.report()).heldOperations).toBe(1);
});
