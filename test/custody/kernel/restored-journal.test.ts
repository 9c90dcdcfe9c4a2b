import { expect, it } from 'vitest';
import { RESERVE } from '../../kit/addresses.ts';
import { type CustodianWorld, createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { credit } from '../../kit/fake-bridge.ts';
import { land } from '../../kit/fake-chain.ts';
import { SOL } from '../../kit/sample-operations.ts';
import { scenes } from '../../kit/scenes.ts';
import { createSqliteStorage, type SqliteStorage } from '../../kit/sqlite-storage.ts';
import { copyOf, playCustody } from '../custody-scenes.ts';
import { createPaymentWorld } from '../payments/payment-world.ts';

/** A swap that was sent, a copy of the storage at that time, and a later swap that the copy lacks. */
async function restored(): Promise<{ w: CustodianWorld; old: SqliteStorage }> {
  const w = createCustodianWorld();
  await w.custody.createSwap(keyed('first'));
  const old = copyOf(w.storage);
  land(w.chain);
  w.clock.now += 5_000;
  await w.custody.alarm();
  await w.custody.createSwap(keyed('second', { client: '192.0.2.2' }));
  return { w, old };
}

/** A swap that was sent, a copy of the journal at that time, and a later swap that the copy lacks. */
const LOST = 'swap a; remember; land; wait 5s; fire; swap b client:192.0.2.2; d1rows';

it.each(
  scenes(`
    a restored journal signs nothing, and its report shows the reason
      | ${LOST}; restore-journal; swap c plain client:192.0.2.3 = SWAPS_PAUSED reason:journal_behind_mirror; signatures = 2; frozen = journal_behind_mirror
    a restored journal is unverified in every report until D1 responds
      | ${LOST}; d1 down; restore-journal; signing = unverified; frozen = unverified; d1 up; signing = journal_behind_mirror
    a restored journal never overwrites rows in D1, because it will be restored from them
      | ${LOST}; restore-journal; ticks 60; wake; d1rows = same
    a restored journal is still detected after it has run without D1 for a while
      | ${LOST}; d1 down; restore-journal; ticks 60; d1 up; ticks 3; frozen = journal_behind_mirror; d1rows = same
    a restored journal uses up no Bitcoin output and no refund
      | ${LOST}; fail; restore-journal; ticks 10; state a = signed
    a restored journal does not wake itself often while it waits for the operator
      | ${LOST}; restore-journal; ticks 2; next = none
    a restored journal refuses to retry an operation, because its rows may be old
      | ${LOST}; restore-journal; ops retry swap:key-a = refused; said lost rows = true; state a = signed
    a restored journal refuses to write off an operation, because its rows may be old
      | ${LOST}; restore-journal; ops write-off swap:key-a = refused; said lost rows = true; state a = signed
    a restored journal refuses a refund, because its rows may be old
      | ${LOST}; restore-journal; ops refund swap:key-a = refused; said lost rows = true; state a = signed
  `),
)('%s', (_title, steps = '') => playCustody(steps));

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

it('a restored journal shows no swap, epoch or mint, and a repeated call learns that its first call may have started a swap', async () => {
  const { w, old } = await restored();
  const signature = String(w.journal.get('swap:key-first')?.signing?.signature);
  expect(await w.custody.findSwap(signature)).toMatchObject({ signature });
  const custody = w.start(old);
  await custody.alarm();
  await expect(custody.findSwap(signature)).rejects.toThrow('lost rows');
  await expect(custody.listAsryEpochs(5)).rejects.toThrow('lost rows');
  await expect(custody.listMints(5)).rejects.toThrow('lost rows');
  await expect(custody.previewMint()).rejects.toThrow('lost rows');
  const repeated = await custody.createSwap(keyed('second', { client: '192.0.2.2' }));
  expect(repeated).toMatchObject({
    type: 'refused',
    refusal: {
      code: 'SWAPS_PAUSED',
      message: expect.stringContaining('an earlier call may have started a swap'),
    },
  });
});

it('a request that the journal has lost is read from D1, so that a paid one is not shown as unpaid', async () => {
  const payers = createPaymentWorld();
  const reads = { balanceOf: async () => 1n, leastBalance: async () => 1n };
  const w = createCustodianWorld({ payments: { ...payers.ports, ...reads } as never });
  w.clock.now = payers.state.now;
  const subject = {
    name: 'Moon',
    symbol: 'MOON',
    decimals: 9,
    supply: '1',
    program: 'token',
    mint: 'foreign',
  } as const;
  const opened = await w.custody.openRequest({
    kind: 'listing',
    subject,
    baseFeeLamports: 20_000_000n,
    client: 'ip',
  });
  if (opened.type !== 'opened') throw new Error(opened.type);
  const { id, feeLamports, reference } = opened.request;
  const old = copyOf(w.storage);
  payers.pay(BigInt(feeLamports), [reference]);
  w.clock.now += 2_000;
  await w.custody.wake();
  expect(await w.custody.findRequest(id)).toMatchObject({ detail: 'completed' });
  const custody = w.start(old);
  await custody.alarm();
  await expect(custody.findRequest(id)).rejects.toThrow('lost rows');
});
