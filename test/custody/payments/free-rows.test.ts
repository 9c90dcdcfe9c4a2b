import { expect, it } from 'vitest';
import { BUDGETS } from '../../../src/core/call-limits.ts';
import { RequestStore } from '../../../src/custody/payments/request-store.ts';
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

const rowsOf = (world: PaymentWorld) =>
  world.storage.exec('SELECT state, client, LENGTH(row) AS bytes FROM requests');

it('1,000 networks that open requests as fast as they can store a bounded number of rows, which are deleted again', { tags: ['deep'] }, async () => {
  const world = createPaymentWorld();
  const opened = Array.from({ length: 1_000 }, (_, at) => openAll(world, `10.${at >> 8}.${at & 255}.1`));
  expect(Math.max(...opened)).toBe(BUDGETS.open_requests.most);
  // Those that come late still have two, as long as the total allows.
  expect(opened.filter((count) => count >= 2).length).toBeGreaterThan(750);
  expect(rowsOf(world).length).toBe(BUDGETS.open_requests.total);
  expect(openAll(world, '192.0.2.1')).toBe(0);
  world.state.now += 2 * DAY_MS;
  for (let run = 0; run < 11; run++) await world.payments.onCron();
  expect(new Set(rowsOf(world).map(({ state, client }) => `${state} ${client}`))).toEqual(
    new Set(['expired null']),
  );
  expect(openAll(world, '192.0.2.1')).toBe(BUDGETS.open_requests.most);
  world.state.now += 9 * DAY_MS;
  for (let run = 0; run < 2; run++) await world.payments.onCron();
  expect(rowsOf(world)).toEqual([]);
});

it('of the expired requests only the newest stay', async () => {
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
  store.purge(0, 2);
  expect(ids.filter((id) => store.get(id))).toEqual(ids.slice(-2));
});
