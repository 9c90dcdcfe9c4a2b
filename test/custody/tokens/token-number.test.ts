import { expect, it } from 'vitest';
import { DAY_MS } from '../../../src/core/durations.ts';
import { createPaymentWorld } from '../payments/payment-world.ts';

it('a number that was given to one mint never names another, even after its row was deleted', async () => {
  const world = createPaymentWorld();
  const numberOf = (mint: string) =>
    world.open({ kind: 'listing', subject: { mint, name: mint } }).subject.tokenId;
  expect([numberOf('a'), numberOf('b'), numberOf('a')]).toEqual([1, 2, 1]);
  world.state.now += 9 * DAY_MS;
  for (let run = 0; run < 3; run++) await world.payments.run();
  expect([numberOf('c'), numberOf('a')]).toEqual([3, 4]);
});
