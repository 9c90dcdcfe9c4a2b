import { expect, it } from 'vitest';
import { sharedPrices } from '../../src/wiring/custody.ts';

it('reads the price venues once for all swaps that are prepared within a second', async () => {
  const clock = { now: 1_000_000 };
  let reads = 0;
  const read = sharedPrices(
    async () => [{ source: `read ${++reads}`, btcUsd: 1n, solUsd: 1n }],
    () => clock.now,
  );
  await Promise.all(Array.from({ length: 20 }, read));
  clock.now += 999;
  expect((await read())[0]?.source).toBe('read 1');
  clock.now += 1;
  expect((await read())[0]?.source).toBe('read 2');
  // A clock that was set back keeps no price.
  clock.now -= 86_400_000;
  expect((await read())[0]?.source).toBe('read 3');
});
