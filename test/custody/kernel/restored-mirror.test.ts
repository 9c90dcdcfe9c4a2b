import { describe, expect, it } from 'vitest';
import { type CustodianWorld, createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { bitcoinTx } from '../../kit/fake-bridge.ts';
import { land } from '../../kit/fake-chain.ts';
import { done, NOW, signingOf } from '../../kit/sample-operations.ts';

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

describe('a D1 that was restored to an older state', () => {
  it('the next cron run detects a D1 restored to an older state, sends its rows again, and signs nothing', async () => {
    const { w, restore } = await swapped();
    const signatures = w.signatures();
    restore();
    expect(w.mirror.operation('swap:key-a')).not.toMatchObject({ state: 'done' });
    await w.pass(2 * MINUTE, true);
    expect(w.mirror.operation('swap:key-a')).toEqual(w.journal.get('swap:key-a'));
    expect([restorations(w), w.signatures()]).toEqual([1, signatures]);
    expect(await w.custody.report()).toMatchObject({ frozen: null, republishing: false });
  });

  it('the next batch detects a D1 restored to an older state, without a cron run', async () => {
    const { w, restore } = await swapped();
    restore();
    await w.custody.createSwap(keyed('b', { client: 'other' }));
    await w.pass(2_000);
    expect(restorations(w)).toBe(1);
    expect(w.mirror.operation('swap:key-a')).toMatchObject({ state: 'done' });
  });

  it('a new instance detects a D1 restored to an older state, and its journal is not frozen', async () => {
    const { w, restore } = await swapped();
    restore();
    const next = w.start();
    await next.wake();
    await next.alarm();
    expect(restorations(w)).toBe(1);
    expect(w.mirror.operation('swap:key-a')).toMatchObject({ state: 'done' });
    expect((await next.report()).frozen).toBeNull();
  });

  it('an empty D1 receives every row again', async () => {
    const w = createCustodianWorld();
    const empty = w.mirror.remember();
    w.storage.transaction(() => {
      for (let at = 0; at < 250; at++)
        w.journal.insert(done({ id: `swap:${at}`, dueAt: null, signing: signingOf(`${at}`) }));
    });
    await w.pass(2 * MINUTE, true);
    const before = [...w.mirror.rows];
    empty();
    await w.pass(2 * MINUTE, true);
    expect(w.mirror.rows.size).toBe(250);
    expect([...w.mirror.rows].toSorted()).toEqual(before.toSorted());
  });

  it('a D1 restored to an older state is sent only the rows that it lacks', async () => {
    const w = createCustodianWorld();
    const insert = (from: number, to: number) =>
      w.storage.transaction(() => {
        for (let at = from; at < to; at++)
          w.journal.insert(done({ id: `swap:${at}`, dueAt: null, signing: signingOf(`${at}`) }));
      });
    insert(0, 300);
    await w.pass(2 * MINUTE, true);
    const restore = w.mirror.remember();
    insert(300, 303);
    await w.pass(2 * MINUTE, true);
    restore();
    const sent: string[] = [];
    const { apply } = w.mirror;
    w.mirror.apply = async (rows, mark) => {
      sent.push(...rows.map(({ id }) => id));
      return apply(rows, mark);
    };
    await w.pass(2 * MINUTE, true);
    expect(sent).toEqual(['swap:300', 'swap:301', 'swap:302']);
  });

  it('a D1 that is restored again during the comparison is compared from the beginning', async () => {
    const { w, restore } = await swapped();
    restore();
    await w.custody.wake();
    const { journalsOf } = w.mirror;
    w.mirror.journalsOf = async (...asked) => {
      const found = await journalsOf(...asked);
      w.mirror.journalsOf = journalsOf;
      // The rows that this page saw are lost now.
      restore();
      w.storage.transaction(() => w.journal.publish('invoices', 'i', { journal: '{}' }, NOW));
      await w.custody.wake();
      return found;
    };
    await w.pass(3 * MINUTE, true);
    expect(w.mirror.operation('swap:key-a')).toMatchObject({ state: 'done' });
  });

  it('a row that changes during the comparison is never sent to D1 in its older form', async () => {
    const { w, restore } = await swapped();
    restore();
    const { journalsOf } = w.mirror;
    w.mirror.journalsOf = async (...asked) => {
      const found = await journalsOf(...asked);
      w.mirror.journalsOf = journalsOf;
      const row = w.journal.get('swap:key-a');
      if (row) w.journal.update(row, { ...row, detail: 'newer' }, NOW);
      return found;
    };
    await w.pass(2 * MINUTE, true);
    expect(w.mirror.operation('swap:key-a')).toMatchObject({ detail: 'newer' });
  });

  it('a D1 that is unavailable again after its restoration receives its rows once it is back', async () => {
    const { w, restore } = await swapped();
    restore();
    await w.custody.wake();
    w.mirror.state = 'down';
    await w.pass(10 * MINUTE, true);
    w.mirror.state = 'up';
    await w.pass(10 * MINUTE, true);
    expect(w.mirror.operation('swap:key-a')).toMatchObject({ state: 'done' });
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
