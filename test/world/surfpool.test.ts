/** @module-tag deep */
import { afterEach, expect, it } from 'vitest';
import { type Surfpool, startSurfpool } from './surfpool.ts';

let chain: Surfpool | undefined;
afterEach(() => chain?.stop());

it('Surfpool produces slots long after the first thousand', async () => {
  chain = startSurfpool({ slotMs: 10, airdropLamports: 1_000_000_000n });
  for (let looks = 0; looks < 400; looks++) {
    if ((await chain.get<number>('getSlot')) > 1_200) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(await chain.get<number>('getSlot')).toBeGreaterThan(1_200);
  expect(await chain.get<number>('getMinimumBalanceForRentExemption', [165])).toBe(2_039_280);
});
