import { expect, it } from 'vitest';
import type { SwapView } from '../../src/custody/api.ts';
import { readSwap } from '../../src/features/swap/record-routes.ts';
import type { SwapRow } from '../../src/features/swap/swap-store.ts';
import { row, SIGNATURE, view } from './swap-service.ts';

const asking = (stored: () => Promise<SwapRow | undefined>, known: SwapView | null) => {
  const asked = { store: 0, custody: 0 };
  const deps = {
    swaps: {
      bySignature() {
        asked.store++;
        return stored();
      },
    },
    custody: {
      async findSwap() {
        asked.custody++;
        return known;
      },
    },
    contact: 'mailto:operator@sluice.example',
  };
  return { asked, get: (signature: string) => readSwap(deps, signature) };
};

it('reads the state of a swap from D1 alone', async () => {
  const { get, asked } = asking(async () => row, view);
  expect(await get(SIGNATURE)).toEqual(row);
  expect(asked.custody).toBe(0);
});

it.each<[string, () => Promise<SwapRow | undefined>]>([
  ['does not have it yet', async () => undefined],
  ['is down', () => Promise.reject(new Error('D1_ERROR'))],
])('reads the state of a swap from the custodian when D1 %s', async (_name, stored) => {
  expect(await asking(stored, view).get(SIGNATURE)).toMatchObject({
    ...{ status: 'waiting', detail: 'sent', btcSats: null, blockTime: null },
  });
});

it('reports an unknown swap as NOT_FOUND', async () => {
  await expect(asking(async () => undefined, null).get(SIGNATURE)).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});
