import { expect, it } from 'vitest';
import { shared } from '../../src/wiring/shared.ts';

it('a shared read runs once for all calls in its time window', async () => {
  const clock = { now: 1_000_000 };
  let reads = 0;
  const read = shared(
    async () => `read ${++reads}`,
    1_000,
    () => clock.now,
  );
  await Promise.all(Array.from({ length: 20 }, read));
  clock.now += 999;
  expect(await read()).toBe('read 1');
  clock.now += 1;
  expect(await read()).toBe('read 2');
  // A clock that was set back keeps no value.
  clock.now -= 86_400_000;
  expect(await read()).toBe('read 3');
});
