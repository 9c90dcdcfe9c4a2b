import { expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { RESERVE } from '../../kit/addresses.ts';
import { type CustodianWorld, createCustodianWorld } from '../../kit/custodian.ts';
import { NOW, SOL } from '../../kit/sample-operations.ts';

const MINUTE = 60_000;

it('the report shows since when every swap is refused, until swaps start again', async () => {
  const w = createCustodianWorld();
  await w.custody.wake();
  expect((await w.custody.report()).swapsRefused).toBeNull();
  await w.custody.ops({ name: 'pause' });
  await w.custody.wake();
  w.clock.now += 10 * MINUTE;
  await w.custody.wake();
  expect((await w.custody.report()).swapsRefused).toEqual({ code: 'SWAPS_PAUSED', sinceMs: NOW });
  await w.custody.ops({ name: 'resume' });
  await w.custody.wake();
  expect((await w.custody.report()).swapsRefused).toBeNull();
});

it('price venues that do not respond refuse every swap until they respond again', async () => {
  const w = createCustodianWorld();
  const { prices } = w.swap;
  w.swap.prices = [];
  await w.custody.wake();
  expect((await w.custody.report()).swapsRefused).toMatchObject({ sinceMs: NOW });
  w.swap.prices = prices;
  w.clock.now += 10 * MINUTE;
  await w.custody.wake();
  expect((await w.custody.report()).swapsRefused).toBeNull();
});

const TINY = lamports(100_000n);

/** A cron each minute, while callers ask for this amount. @returns the refusals that were shown after half an hour */
async function hours(w: CustodianWorld, amountLamports: bigint): Promise<readonly string[]> {
  const { nextQuote } = w.bridge;
  w.bridge.nextQuote = (amount, dry) =>
    amount <= TINY ? { ok: false, reason: 'amount_too_low' } : nextQuote(amount, dry);
  const seen = new Set<string>();
  for (let minute = 0; minute < 300; minute++) {
    w.clock.now += MINUTE;
    for (let call = 0; call < 3; call++)
      await w.custody.estimateSwap({ amountLamports, client: `10.${minute}.${call}.1` });
    await w.custody.wake();
    const { swapsRefused } = await w.custody.report();
    if (minute >= 30) seen.add(`${swapsRefused?.code} ${swapsRefused?.sinceMs}`);
  }
  return [...seen];
}

const FAILS: Readonly<Record<string, (w: CustodianWorld) => void>> = {
  'price venues': (w) => Object.assign(w.swap, { prices: [] }),
  'the bridge': (w) => {
    w.bridge.nextQuote = () => Promise.reject(upstreamFailed('near-intents', 'status_500'));
  },
};

it.each([
  ['price venues', 'ask for amounts that the bridge refuses', TINY, 'PRICE_UNAVAILABLE'],
  ['price venues', 'use up the quotes of estimates', SOL, 'PRICE_UNAVAILABLE'],
  ['the bridge', 'ask for tiny amounts, which alone get a response', TINY, 'UPSTREAM_FAILED'],
  ['the bridge', 'use up the quotes of estimates', SOL, 'UPSTREAM_FAILED'],
])(
  'while %s fails for five hours and callers %s, the report shows a single refusal with the time of its start',
  async (failing, _callers, amount, code) => {
    const w = createCustodianWorld();
    await w.custody.wake();
    FAILS[failing]?.(w);
    expect(await hours(w, amount)).toEqual([expect.stringMatching(new RegExp(`^${code} \\d+$`))]);
  },
);

it('a minimum above the reference amount costs one quote in ten minutes, not one a minute', async () => {
  const w = createCustodianWorld();
  const { nextQuote } = w.bridge;
  let asked = 0;
  w.bridge.nextQuote = (amount, dry) => {
    asked += 1;
    const least = { unit: 'lamports', value: (SOL * 12n) / 10n } as const;
    return amount <= SOL ? { ok: false, reason: 'amount_too_low', least } : nextQuote(amount, dry);
  };
  for (let minute = 0; minute < 60; minute++) {
    w.clock.now += MINUTE;
    await w.custody.wake();
  }
  expect(asked).toBeLessThan(20);
});

it('while the key service fails, every swap is refused and the failure is reported, until it signs again', async () => {
  let isDown = false;
  const check = async () => {
    if (isDown) throw upstreamFailed('key_service', 'timeout');
  };
  const signer = { address: RESERVE, sign: async () => new Uint8Array(64), check };
  const w = createCustodianWorld({ signer });
  for (const down of [true, false]) {
    isDown = down;
    await w.pass(5 * MINUTE, true);
    const { failing } = await w.custody.operatorView();
    const { swapsRefused } = await w.custody.report();
    expect([failing.map(({ work, id }) => `${work} ${id}`), swapsRefused?.code]).toEqual(
      down ? [['cron key_service'], 'UPSTREAM_FAILED'] : [[], undefined],
    );
  }
});
