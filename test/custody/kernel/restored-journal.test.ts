import { expect, it } from 'vitest';
import { createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { eachScene } from '../../kit/scenes.ts';
import { copyOf, playCustody } from '../custody-scenes.ts';

/** A swap that was sent, a copy of the journal at that time, and a later swap that the copy lacks. */
const LOST = 'swap a; remember; land; wait 5s; fire; swap b client:192.0.2.2; d1rows';

eachScene(`
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
  the first report shows a frozen journal for a Durable Object that was restored to an older state
    | ${LOST}; restore-journal; signing = journal_behind_mirror; frozen = journal_behind_mirror
  the first report shows a frozen journal for a Durable Object that was emptied
    | ${LOST}; lose-journal; signing = journal_behind_mirror; frozen = journal_behind_mirror
  the first report shows a frozen journal for a Durable Object that is new, for a key that has signed
    | sign-unknown; lose-journal; signing = journal_empty_but_reserve_has_signed; frozen = journal_empty_but_reserve_has_signed
  a repeated call to a restored journal learns that its first call may have started a swap
    | ${LOST}; restore-journal; fire; swap b client:192.0.2.2 = SWAPS_PAUSED; said an earlier call may have started a swap = true
`)('%s', (_title, steps = '') => playCustody(steps));

it('a restored journal shows no swap, epoch or mint', async () => {
  const w = createCustodianWorld();
  await w.custody.createSwap(keyed('first'));
  const old = copyOf(w.storage);
  await w.custody.createSwap(keyed('second', { client: '192.0.2.2' }));
  expect(await w.custody.findSwap('signature-1')).toMatchObject({ signature: 'signature-1' });
  const custody = w.start(old);
  await custody.alarm();
  const reads = [
    () => custody.findSwap('signature-1'),
    () => custody.listAsryEpochs(5),
    () => custody.listMints(5),
    () => custody.previewMint(),
  ];
  for (const read of reads) await expect(read()).rejects.toThrow('lost rows');
});
