import { expect, it } from 'vitest';
import { Custodian } from '../../../src/custody/custodian.ts';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import { RESERVE, wallet } from '../../kit/addresses.ts';
import { type CustodianWorld, createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { credit } from '../../kit/fake-bridge.ts';
import { land } from '../../kit/fake-chain.ts';
import { SOL } from '../../kit/sample-operations.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const MINUTE = 60_000;

/** A journal whose mark in D1 is higher, as after `restore-storage`, ten minutes after it was found. */
async function restored() {
  const w = createCustodianWorld();
  await w.custody.createSwap(keyed('a'));
  land(w.chain);
  await w.pass(2 * MINUTE);
  await w.mirror.apply([], (await w.mirror.mark()) + 5, undefined);
  const custody = w.start();
  await custody.alarm();
  w.clock.now += 10 * MINUTE;
  return { w, custody };
}
const frozen = async (custody: CustodianWorld['custody']) => (await custody.report()).frozen;

it('a restored journal that lacks nothing is no longer frozen, but paused, after the command unfreeze', async () => {
  const { w, custody } = await restored();
  expect(await frozen(custody)).toBe('journal_behind_mirror');
  expect(await custody.ops({ name: 'unfreeze' })).toMatchObject({ ok: true });
  expect(await custody.report()).toMatchObject({ frozen: null, paused: 'operator' });
  await custody.ops({ name: 'resume' });
  expect(await custody.createSwap(keyed('b', { client: 'other' }))).toMatchObject({ type: 'created' });
  expect(await frozen(w.start())).toBeNull();
});

it.each<[string, (w: CustodianWorld) => unknown]>([
  [
    'D1 has a row that it lacks',
    ({ mirror }) => {
      const columns = { created_at: '', journal: '{}' };
      return mirror.apply([{ entity: 'asry_epochs', id: '1', revision: 10_000, columns }], 1, undefined);
    },
  ],
  [
    'the reserve signed a transaction that it lacks',
    ({ swap }) => {
      credit(swap, 'lost', SOL);
      const shown = swap.transactions.get('lost');
      if (shown) swap.transactions.set('lost', { ...shown, signers: [RESERVE] });
    },
  ],
  [
    'D1 does not respond',
    ({ mirror }) => {
      mirror.state = 'down';
    },
  ],
  [
    'ten minutes have not passed',
    ({ clock }) => {
      clock.now -= 5 * MINUTE;
    },
  ],
])('a restored journal stays frozen if %s', async (_name, spoil) => {
  const { w, custody } = await restored();
  await spoil(w);
  expect(await custody.ops({ name: 'unfreeze' })).toMatchObject({ ok: false });
  w.mirror.state = 'up';
  expect(await frozen(custody)).toBe('journal_behind_mirror');
});

it('a restored journal stays frozen if a key before a rotation signed a transaction that it lacks', async () => {
  const { w } = await restored();
  const signer = { ...w.deps.signer, address: wallet(77) };
  const custody = new Custodian(w.storage, { ...w.deps, signer });
  credit(w.swap, 'lost', SOL);
  const shown = w.swap.transactions.get('lost');
  if (shown) w.swap.transactions.set('lost', { ...shown, signers: [RESERVE] });
  expect(await custody.ops({ name: 'unfreeze' })).toMatchObject({
    ok: false,
    rows: [{ signature: 'lost' }],
  });
  w.swap.transactions.delete('lost');
  w.swap.listed = [];
  expect(await custody.ops({ name: 'unfreeze' })).toMatchObject({ ok: true });
});

it('an empty journal stays frozen, because it has lost every row', async () => {
  const { w } = await restored();
  const storage = createSqliteStorage();
  const custody = w.start(storage);
  await custody.alarm();
  w.clock.now += 10 * MINUTE;
  expect(await custody.ops({ name: 'unfreeze' })).toMatchObject({ ok: false });
  expect(new Journal(storage).isEmpty()).toBe(true);
});

it('restore-storage of a lost journal leaves a mark above every mark of D1, and none in the journal', async () => {
  const { w, custody } = await restored();
  const [mark, revision] = [await w.mirror.mark(), w.journal.revision()];
  w.storage.restore = async () => undefined;
  const id = new Date(w.clock.now - MINUTE).toISOString();
  expect(await custody.ops({ name: 'restore-storage', id })).toMatchObject({ ok: true });
  expect([await w.mirror.mark(), w.journal.revision()]).toEqual([mark + 1, revision]);
});
