import { describe, expect, it } from 'vitest';
import { type CustodianWorld, createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { done, signingOf } from '../../kit/sample-operations.ts';
import { scenes } from '../../kit/scenes.ts';
import { playCustody } from '../custody-scenes.ts';

const MINUTE = 60_000;

/** A swap that has ended, and a D1 that goes back to its state right after the send. */
const RESTORED = 'swap a; remember; land; deliver; pass 2m cron; mirrored a = same; restore-d1';

it.each(
  scenes(`
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
  `),
)('%s', (_title, steps = '') => playCustody(steps));

const restorations = (w: CustodianWorld) => w.logged.filter((event) => event === 'mirror_restored').length;

const republish = (w: CustodianWorld) => w.custody.ops({ name: 'republish' });

describe('a D1 that was restored to an older state', () => {
  /** Inserts operations, delivers them, and empties D1. */
  async function emptied(rows: number) {
    const w = createCustodianWorld();
    const empty = w.mirror.remember();
    w.storage.transaction(() => {
      for (let at = 0; at < rows; at++)
        w.journal.insert(done({ id: `swap:${at}`, dueAt: null, signing: signingOf(`${at}`) }));
    });
    await w.pass(2 * MINUTE, true);
    const before = [...w.mirror.rows];
    empty();
    await w.pass(2 * MINUTE, true);
    return { w, before, empty };
  }

  it('an empty D1 receives every row again', async () => {
    const { w, before } = await emptied(250);
    await republish(w);
    expect([...w.mirror.rows].toSorted()).toEqual(before.toSorted());
  });

  it('one republish command sends a bounded number of rows, and a repeated command continues after them', async () => {
    const { w } = await emptied(2_050);
    expect(await republish(w)).toMatchObject({
      ok: true,
      message: expect.stringContaining('again to continue'),
    });
    expect([w.mirror.rows.size, (await w.custody.report()).mirrorRestored]).toEqual([2_000, true]);
    expect(await republish(w)).toMatchObject({ ok: true });
    expect([w.mirror.rows.size, (await w.custody.report()).mirrorRestored]).toEqual([2_050, false]);
  });

  it('the republish command continues where a crash or an outage of D1 has stopped it', async () => {
    const { w } = await emptied(250);
    const { apply } = w.mirror;
    w.mirror.apply = async (...batch) => {
      if (w.mirror.rows.size >= 80) w.mirror.state = 'down';
      return apply(...batch);
    };
    expect(await republish(w)).toMatchObject({ ok: false });
    w.mirror.apply = apply;
    w.mirror.state = 'up';
    expect(await w.start().ops({ name: 'republish' })).toMatchObject({ ok: true });
    expect(w.mirror.rows.size).toBe(250);
  });

  it('a D1 that is restored again between two commands receives every row from the first one on', async () => {
    const { w, empty } = await emptied(2_050);
    await republish(w);
    empty();
    await w.pass(2 * MINUTE, true);
    await republish(w);
    await republish(w);
    expect(w.mirror.rows.size).toBe(2_050);
  });
});

describe('detects no restoration', () => {
  it('responses to simultaneous batches in any order are not mistaken for a restoration of D1', async () => {
    const w = createCustodianWorld();
    const { apply } = w.mirror;
    const held: (() => void)[] = [];
    w.mirror.apply = async (...batch) => {
      const before = await apply(...batch);
      await new Promise<void>((answer) => held.push(answer));
      return before;
    };
    const swaps = ['a', 'b', 'c'].map((name) => w.custody.createSwap(keyed(name, { client: name })));
    for (let turns = 0; turns < 500 && held.length < 3; turns++) await Promise.resolve();
    expect(held.length).toBeGreaterThan(1);
    w.mirror.apply = apply;
    for (const answer of held.toReversed()) answer();
    await Promise.all(swaps);
    await w.pass(3 * MINUTE, true);
    expect(restorations(w)).toBe(0);
  });

  it('reads the revision of the newest batch from D1 at most once at the start and then once a minute', async () => {
    const w = createCustodianWorld();
    let reads = 0;
    const { mark } = w.mirror;
    w.mirror.mark = () => {
      reads++;
      return mark();
    };
    await w.custody.createSwap(keyed('a'));
    await w.pass(10 * MINUTE, true);
    expect(reads).toBeLessThanOrEqual(1 + 10);
  });
});
