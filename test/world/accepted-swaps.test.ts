/** @module-tag deep */
import { expect, test } from 'vitest';
import { executeAccepted } from './accepted-swaps.ts';

const COUNT = 40;

test('accepted transactions cost the predicted sum on the chain and change nothing else of the reserve', async () => {
  const all = await executeAccepted({ count: COUNT, seed: 7_000 });
  expect(all).toHaveLength(COUNT);
  for (const { refused, error, lost, foreseen, amount, bound, changed } of all) {
    expect({ refused, error, changed }).toEqual({ refused: null, error: null, changed: [] });
    expect(lost).toBe(foreseen);
    expect(lost).toBeGreaterThanOrEqual(amount);
    expect(lost).toBeLessThanOrEqual(bound);
  }
  expect(new Set(all.map(({ tool }) => tool))).toEqual(new Set(['near', 'chainflip']));
});
