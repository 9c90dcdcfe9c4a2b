import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import type { SwapView } from '../../src/custody/api.ts';
import { getSwapStatus } from '../../src/features/swap/record-routes.ts';
import type { SwapRow } from '../../src/features/swap/swap-store.ts';
import { Cache } from '../../src/http/cached.ts';

const SOL = 1_000_000_000n;
const SIGNATURE = base58.encode(new Uint8Array(64).fill(7));

describe('the state of a swap', () => {
  const row: SwapRow = {
    seq: 7,
    signature: SIGNATURE,
    status: 'finished',
    detail: 'done',
    reason: null,
    amountLamports: SOL,
    expectedSats: 5n,
    btcSats: 5n,
    btcTxid: 't',
    blockTime: 9,
    final: true,
  };
  const view: SwapView = {
    signature: SIGNATURE,
    status: 'waiting',
    detail: 'sent',
    reason: null,
    amountLamports: SOL,
    expectedSats: 5n,
    minimumSats: 4n,
    btcSats: null,
    btcTxid: null,
    route: 'near-intents',
  };
  const asking = (stored: () => Promise<SwapRow | undefined>, known: SwapView | null) => {
    const asked = { store: 0, custody: 0 };
    const time = { now: 0 };
    const deps = {
      memory: new Cache({ now: () => time.now, defer: () => undefined }),
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
    };
    return { asked, time, get: (signature: string) => getSwapStatus(deps, signature, async () => undefined) };
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
      status: 'waiting',
      detail: 'sent',
      btcSats: null,
      blockTime: null,
    });
  });

  it('reads the state of a swap once a second, for any number of callers', async () => {
    const { get, asked, time } = asking(async () => ({ ...row, status: 'waiting', final: false }), view);
    for (time.now = 0; time.now < 3_000; time.now += 100) await Promise.all([get(SIGNATURE), get(SIGNATURE)]);
    expect(asked).toEqual({ store: 3, custody: 0 });
  });

  it('an unknown swap costs one read of D1 and one of the custodian in two seconds', async () => {
    const { get, asked, time } = asking(async () => undefined, null);
    for (time.now = 0; time.now < 2_000; time.now += 100)
      await expect(get(SIGNATURE)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(asked).toEqual({ store: 1, custody: 1 });
  });

  it.each(['', 'x', '../..', SIGNATURE.slice(1), `${SIGNATURE}1`, '1'.repeat(10_000), "' OR 1=1 --"])(
    'reading the invalid swap id %j returns NOT_FOUND without a read of D1 or the custodian',
    async (id) => {
      const { get, asked } = asking(async () => row, view);
      await expect(get(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(asked).toEqual({ store: 0, custody: 0 });
    },
  );
});
