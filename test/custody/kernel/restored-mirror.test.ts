import { describe, expect, it } from 'vitest';
import { type CustodianWorld, createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { bitcoinTx } from '../../kit/fake-bridge.ts';
import { land } from '../../kit/fake-chain.ts';
import { done, signingOf } from '../../kit/sample-operations.ts';

const MINUTE = 60_000;
const TXID = 'a'.repeat(64);

/** A swap that has ended; D1 can go back to its state right after the send. */
async function swapped() {
  const w = createCustodianWorld();
  await w.custody.createSwap(keyed('a'));
  const restore = w.mirror.remember();
  land(w.chain);
  w.bridge.nextReport = () => ({ state: 'delivered', txids: [TXID] });
  w.swap.indexes = [() => bitcoinTx(TXID, [{ value: 124_375n }])];
  await w.pass(2 * MINUTE, true);
  expect(w.mirror.operation('swap:key-a')).toMatchObject({ state: 'done' });
  return { w, restore };
}
const restorations = (w: CustodianWorld) => w.logged.filter((event) => event === 'mirror_restored').length;

const republish = (w: CustodianWorld) => w.custody.ops({ name: 'republish' });

describe('a D1 that was restored to an older state', () => {
  it('the next cron run reports a D1 restored to an older state, and the command republish sends its rows again', async () => {
    const { w, restore } = await swapped();
    const signatures = w.signatures();
    restore();
    await w.pass(2 * MINUTE, true);
    expect(w.mirror.operation('swap:key-a')).not.toMatchObject({ state: 'done' });
    expect(await w.custody.report()).toMatchObject({ frozen: null, mirrorRestored: true });
    expect(await republish(w)).toMatchObject({ ok: true, rows: [] });
    expect(w.mirror.operation('swap:key-a')).toEqual(w.journal.get('swap:key-a'));
    expect([restorations(w), w.signatures()]).toEqual([1, signatures]);
    expect(await w.custody.report()).toMatchObject({ mirrorRestored: false });
  });

  it('the next batch detects a D1 restored to an older state, without a cron run', async () => {
    const { w, restore } = await swapped();
    restore();
    await w.custody.createSwap(keyed('b', { client: 'other' }));
    await w.pass(2_000);
    expect(restorations(w)).toBe(1);
  });

  it('a new instance detects a D1 restored to an older state, and its journal is not frozen', async () => {
    const { w, restore } = await swapped();
    restore();
    const next = w.start();
    await next.wake();
    expect(restorations(w)).toBe(1);
    expect((await next.report()).frozen).toBeNull();
  });

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

  it('one command sends a bounded number of rows, and a repeated command continues after them', async () => {
    const { w } = await emptied(2_050);
    expect(await republish(w)).toMatchObject({
      ok: true,
      message: expect.stringContaining('again to continue'),
    });
    expect([w.mirror.rows.size, (await w.custody.report()).mirrorRestored]).toEqual([2_000, true]);
    expect(await republish(w)).toMatchObject({ ok: true });
    expect([w.mirror.rows.size, (await w.custody.report()).mirrorRestored]).toEqual([2_050, false]);
  });

  it('the command continues where a crash or an outage of D1 has stopped it', async () => {
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

  it.each(['down', 'loses answers'] as const)(
    'an outage is not mistaken for a restoration of D1: %s',
    async (state) => {
      const w = createCustodianWorld();
      await w.custody.wake();
      w.mirror.state = state;
      await w.custody.createSwap(keyed('a'));
      await w.pass(3 * MINUTE, true);
      w.mirror.state = 'up';
      await w.pass(3 * MINUTE, true);
      expect(restorations(w)).toBe(0);
    },
  );

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
