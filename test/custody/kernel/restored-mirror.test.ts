import { expect, it } from 'vitest';
import { createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { done, signingOf } from '../../kit/sample-operations.ts';
import { eachScene } from '../../kit/scenes.ts';
import { playCustody } from '../custody-scenes.ts';

/** A swap that has ended, and a D1 that goes back to its state right after the send. */
const RESTORED = 'swap a; remember; land; deliver; pass 2m cron; mirrored a = same; restore-d1';
/** D1 has these operations, and is then emptied. */
const emptied = (rows: number) =>
  `remember; operations ${rows}; pass 2m cron; d1rows; restore-d1; pass 2m cron`;

eachScene(`
  the next cron run reports a D1 restored to an older state, and the command republish sends its rows again
    | ${RESTORED}; pass 2m cron; mirrored a = signed; frozen = null; restored = true; ops republish = ok; mirrored a = same; logged mirror_restored = 1; signatures = 1; restored = false
  the next batch detects a D1 restored to an older state, without a cron run
    | ${RESTORED}; swap b client:other; pass 2s; logged mirror_restored = 1
  a new instance detects a D1 restored to an older state, and its journal is not frozen
    | ${RESTORED}; restart; wake; logged mirror_restored = 1; frozen = null
  an outage is not mistaken for a restoration of D1
    | wake; d1 down; swap a; pass 3m cron; d1 up; pass 3m cron; logged mirror_restored = 0
  batches whose responses are lost are not mistaken for a restoration of D1
    | wake; d1 loses answers; swap a; pass 3m cron; d1 up; pass 3m cron; logged mirror_restored = 0
  an empty D1 receives every row again
    | ${emptied(250)}; ops republish = ok; rows = 250; d1rows = same
  one republish command sends a bounded number of rows, and a repeated command continues after them
    | ${emptied(2_050)}; ops republish = ok; said again to continue = true; rows = 2000; restored = true; ops republish = ok; rows = 2050; restored = false
  the republish command continues where a crash or an outage of D1 has stopped it
    | ${emptied(250)}; fail-at 80; ops republish = refused; mend; restart; ops republish = ok; rows = 250
  a D1 that is restored again between two commands receives every row, from the first row on
    | ${emptied(2_050)}; ops republish; restore-d1; pass 2m cron; ops republish; ops republish; rows = 2050
  reads the revision of the newest batch from D1 at most once at the start and then once a minute
    | count-marks; swap a; pass 10m cron; marks-are-at-most 11 = true
`)('%s', (_title, steps = '') => {
  const w = createCustodianWorld();
  const { apply, mark } = w.mirror;
  let marks = 0;
  return playCustody(steps, w, {
    /** Operations that have ended. */
    operations: (count: string) =>
      w.storage.transaction(() => {
        for (let at = 0; at < Number(count); at++)
          w.journal.insert(done({ id: `swap:${at}`, dueAt: null, signing: signingOf(`${at}`) }));
      }),
    /** D1 goes down once it has this many rows. */
    'fail-at'(rows: string) {
      w.mirror.apply = async (...batch) => {
        if (w.mirror.rows.size >= Number(rows)) w.mirror.state = 'down';
        return apply(...batch);
      };
    },
    mend: () => Object.assign(w.mirror, { apply, state: 'up' }),
    'count-marks'() {
      w.mirror.mark = () => {
        marks++;
        return mark();
      };
    },
    'marks-are-at-most': (most: string) => marks <= Number(most),
  });
});

it('a read of D1 that ends after a later delivery is not mistaken for a restoration of D1', async () => {
  const w = createCustodianWorld();
  await w.custody.wake();
  const { mark } = w.mirror;
  const delivery = Promise.withResolvers<void>();
  w.mirror.mark = async () => {
    const found = await mark();
    await delivery.promise;
    return found;
  };
  const cron = w.custody.wake();
  await w.custody.createSwap(keyed('a'));
  expect(w.mirror.operation('swap:key-a')).toBeDefined();
  delivery.resolve();
  await cron;
  expect(w.logged).not.toContain('mirror_restored');
});
