/** Swaps that an earlier release stored for a route that this one does not have. */
import { expect, it } from 'vitest';
import { held } from '../../../src/custody/kernel/reason.ts';
import { createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { bitcoinTx } from '../../kit/fake-bridge.ts';
import { land } from '../../kit/fake-chain.ts';
import { outstanding, SOL, settling, signed, signingOf } from '../../kit/sample-operations.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const TXID = 'a'.repeat(64);
const HOUR_MS = 3_600_000;
/** With facts that only the retired route had. */
const plan = { route: 'retired-route', tool: 'tool', quoteId: 'q', depositAddress: null, minimumSats: '1' };
const SETTLING = settling({ id: 'swap:settling', plan, signing: signingOf('settling') });
const FAILED = outstanding({ id: 'swap:failed', plan, signing: signingOf('failed') });
const SIGNED = signed({ id: 'swap:signed', plan, signing: signingOf('signed'), looks: 1 });

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

it('holds a swap that only its retired route could settle, and calls no bridge about it', async () => {
  const w = await startWith(SETTLING, FAILED);
  await w.pass(HOUR_MS / 2);
  expect(w.journal.get('swap:settling')).toMatchObject({ state: 'settling', reason: held('unknown_state') });
  expect(w.journal.get('swap:failed')).toMatchObject({ state: 'failed', unsettled: SOL });
  expect((await w.custody.report()).heldOperations).toBe(2);
  expect(w.logged.filter((event) => event === 'operation_held')).toHaveLength(2);
  expect(w.bridge.reports).toEqual([]);
});

it('holds a swap of a retired route again after a retry', async () => {
  const w = await startWith(SETTLING);
  await w.pass(HOUR_MS / 2);
  expect(await w.custody.ops({ name: 'retry', id: 'swap:settling' })).toMatchObject({ ok: true });
  await w.custody.alarm();
  expect(w.journal.get('swap:settling')).toMatchObject({ state: 'settling', reason: held('unknown_state') });
});

it('still proves the end of a swap that its retired route has signed, then holds it', async () => {
  const w = await startWith(SIGNED);
  land(w.chain);
  await w.pass(HOUR_MS / 2);
  expect(w.journal.get('swap:signed')).toMatchObject({ state: 'settling', reason: held('unknown_state') });
  expect(w.signatures()).toBe(0);
});

it('checks a held swap once an hour, and settles the swaps of its own route meanwhile', async () => {
  const w = await startWith(SETTLING);
  await w.custody.createSwap(keyed('a'));
  land(w.chain);
  w.bridge.nextReport = () => ({ state: 'delivered', txids: [TXID] });
  w.swap.indexes = [() => bitcoinTx(TXID, [{ value: 124_375n }])];
  await w.pass(3 * HOUR_MS - 1);
  expect(w.journal.get('swap:key-a')?.state).toBe('done');
  expect(w.logged.filter((event) => event === 'operation_held')).toHaveLength(3);
});

it.each([SETTLING, FAILED])('lets the operator write off $id', async ({ id }) => {
  const w = await startWith(SETTLING, FAILED);
  await w.pass(HOUR_MS / 2);
  expect(await w.custody.ops({ name: 'write-off', id })).toMatchObject({ ok: true });
  expect(w.journal.get(id)).toMatchObject({ state: 'failed', unsettled: 0n });
  expect((await w.custody.report()).heldOperations).toBe(1);
});
