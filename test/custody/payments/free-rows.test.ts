import { expect, it } from 'vitest';
import { Budget } from '../../../src/core/budget.ts';
import { BUDGETS } from '../../../src/core/call-limits.ts';
import { createD1Mirror, flushOutbox } from '../../../src/custody/kernel/outbox.ts';
import { RequestStore } from '../../../src/custody/payments/request-store.ts';
import { openD1 } from '../../kit/d1.ts';
import { createPaymentWorld, type PaymentWorld } from './payment-world.ts';

const DAY_MS = 86_400_000;

let fees = 0;

/** Opens requests of a client until one is refused. */
function openAll(world: PaymentWorld, client: string): number {
  for (let opened = 0; ; ) {
    try {
      world.open({ client, baseFeeLamports: BigInt(++fees) * 100_000n });
      opened++;
    } catch (error) {
      // The kit draws some references twice, which the storage refuses.
      if (String(error).includes('TOO_MANY_OPEN_REQUESTS')) return opened;
    }
  }
}

const rowsOf = (world: PaymentWorld) => world.storage.exec('SELECT state, client FROM requests');

it('1,000 networks that open requests at full speed never exceed the total, and late networks get two requests each', () => {
  const budget = new Budget(BUDGETS.open_requests);
  const opened = Array.from({ length: 1_000 }, (_, at) => {
    for (let count = 0; ; count++) if (!budget.take(`10.${at >> 8}.${at & 255}.1`, 0).ok) return count;
  });
  expect(budget.used(0)).toBe(2_000);
  expect(Math.max(...opened)).toBe(10);
  expect(opened.filter((count) => count >= 2).length).toBeGreaterThan(750);
});

it('the expired requests of 30 networks no longer name their client, and are deleted nine days later', async () => {
  const world = createPaymentWorld();
  const opened = Array.from({ length: 30 }, (_, at) => openAll(world, `10.0.${at}.1`));
  expect(Math.max(...opened)).toBe(BUDGETS.open_requests.most);
  expect(rowsOf(world).length).toBe(opened.reduce((sum, count) => sum + count, 0));
  world.state.now += 2 * DAY_MS;
  for (let run = 0; run < 3; run++) await world.payments.onCron();
  expect(new Set(rowsOf(world).map(({ state, client }) => `${state} ${client}`))).toEqual(
    new Set(['expired null']),
  );
  world.state.now += 9 * DAY_MS;
  for (let run = 0; run < 2; run++) await world.payments.onCron();
  expect(rowsOf(world)).toEqual([]);
});

it('only the newest expired requests are kept', async () => {
  const world = createPaymentWorld();
  const ids: string[] = [];
  for (let at = 0; at < 5; at++) {
    ids.push(world.open({ client: `10.0.${at}.1` }).id);
    world.state.now += 1_000;
  }
  const store = new RequestStore(world.storage);
  for (const id of ids) {
    const request = store.get(id);
    if (request) store.put({ ...request, state: 'expired' });
  }
  store.purge(0, 2, 200);
  expect(ids.filter((id) => store.get(id))).toEqual(ids.slice(-2));
});

it('one run deletes at most 200 old requests and 200 old tokens', async () => {
  const world = createPaymentWorld();
  for (let at = 0; at < 250; at++) world.open({ kind: 'listing', client: `10.${at}.0.1` });
  world.state.now += 2 * DAY_MS;
  for (let run = 0; run < 2; run++) await world.payments.onCron();
  world.state.now += 7 * DAY_MS;
  const kept = async () => {
    await world.payments.onCron();
    await world.tokens.onCron();
    return ['requests', 'tokens'].map((table) => world.storage.exec(`SELECT 1 FROM ${table}`).length);
  };
  expect(await kept()).toEqual([50, 50]);
  expect(await kept()).toEqual([0, 0]);
});

it('D1, which keeps old mints longer than the custodian, accepts new requests for them in another order', async () => {
  const world = createPaymentWorld();
  const { db, d1 } = openD1();
  const request = (mint: string) =>
    world.open({ kind: 'listing', baseFeeLamports: 10_000_000n, client: `${mint}.0.0.1`, subject: { mint } });
  for (const mint of ['1', '2', '3']) request(mint);
  await flushOutbox({ ...world.context, mirror: createD1Mirror(d1) });
  world.state.now += 8.5 * DAY_MS;
  await world.payments.onCron();
  await world.tokens.onCron();
  for (const mint of ['3', '2', '1']) request(mint);
  await flushOutbox({ ...world.context, mirror: createD1Mirror(d1) });
  expect(world.journal.queue.backlog()).toBe(0);
  expect(db.prepare('SELECT id, mint_address AS mint FROM tokens ORDER BY id').all()).toEqual([
    { id: '4', mint: '3' },
    { id: '5', mint: '2' },
    { id: '6', mint: '1' },
  ]);
});
