import { describe, expect, it } from 'vitest';
import { sats } from '../../../src/core/amount.ts';
import type { AbsrPorts } from '../../../src/custody/reserve/daily-mint.ts';
import { DECIMALS } from './absr-service.ts';
import { simulateYear } from './absr-year.ts';

const MINUTES = 60_000;

describe('365 days of the reserve', () => {
  it('in 365 days the service leaves no token uncovered, mints at most once a day, and ends with supply equal to reserve', {
    tags: ['deep'],
    timeout: 300_000,
  }, async () => {
    const year = await simulateYear({ seed: 2026, days: 365 });
    expect(year.uncoveredMs.service).toBe(0);
    expect(year.mostMintsInADay).toBe(1);
    expect(year.supplyAtoms).toBe(year.reserveSats * 10n ** BigInt(DECIMALS));

    // The year contained all intended events.
    expect(year.mints).toBeGreaterThan(180);
    expect(year.swapsFinished).toBeGreaterThan(80);
    expect(year.uncoveredMs.others).toBeGreaterThan(60 * MINUTES);
    const kinds = [
      'reorg',
      'deep reorg',
      'spend',
      'index down',
      'index stale',
      'index hides',
      'index wrong',
      'node down',
      'node lags',
      'D1 down',
      'cron missed',
      'cron twice',
      'restart',
      'crash',
    ];
    for (const kind of kinds) expect([kind, (year.happened[kind] ?? 0) > 2]).toEqual([kind, true]);
  });
});

/** Each case omits one rule. The simulation must detect it, otherwise it does not test the rule. */
const LEFT_OUT: [string, (ports: AbsrPorts) => AbsrPorts][] = [
  [
    'a single index is accepted',
    (ports) => ({
      ...ports,
      reserveViews: async (depth) =>
        (await ports.reserveViews(depth)).slice(0, 1).flatMap((view) => [view, view]),
    }),
  ],
  [
    'the list of young incomes is not checked',
    (ports) => ({
      ...ports,
      reserveViews: async (depth) =>
        (await ports.reserveViews(depth)).map((view) => ({ ...view, young: [] })),
    }),
  ],
  ['one confirmation is enough', (ports) => ({ ...ports, depth: 1 })],
  [
    'a spend in the mempool is ignored',
    (ports) => ({
      ...ports,
      reserveViews: async (depth) =>
        (await ports.reserveViews(depth)).map((view) => ({ ...view, pendingSpent: sats(0n) })),
    }),
  ],
];

describe('40 days of the reserve', () => {
  it('40 days of the reserve leave no token uncovered and end with supply equal to reserve', async () => {
    const days = await simulateYear({ seed: 2026, days: 40 });
    expect(days.uncoveredMs.service).toBe(0);
    expect(days.mostMintsInADay).toBe(1);
    expect(days.supplyAtoms).toBe(days.reserveSats * 10n ** BigInt(DECIMALS));
    expect(days.mints).toBeGreaterThan(15);
  });
});

describe('the simulation detects when', () => {
  it.each(LEFT_OUT)('%s', { tags: ['deep'], timeout: 300_000 }, async (_, mutate) => {
    let uncovered = 0;
    for (let seed = 1; seed <= 30 && uncovered === 0; seed++) {
      uncovered = (await simulateYear({ seed, days: 60, mutate })).uncoveredMs.service;
    }
    expect(uncovered).toBeGreaterThan(0);
  });
});
