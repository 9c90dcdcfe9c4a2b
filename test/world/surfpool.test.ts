import { afterEach, expect, it } from 'vitest';
import { type Surfpool, startSurfpool } from './surfpool.ts';

let chain: Surfpool | undefined;
afterEach(() => chain?.stop());

it('slots go on long after a thousand of them', async () => {
  chain = startSurfpool({ slotMs: 4, airdropLamports: 1n });
  for (let looks = 0; looks < 400; looks++) {
    if ((await chain.get<number>('getSlot')) > 1_500) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(await chain.get<number>('getSlot')).toBeGreaterThan(1_500);
  expect(await chain.get<number>('getMinimumBalanceForRentExemption', [165])).toBe(2_039_280);
});
