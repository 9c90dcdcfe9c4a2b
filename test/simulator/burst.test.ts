import { expect, it } from 'vitest';
import { calm } from './faults.ts';
import { loadProduction, OWN_SOURCE } from './production.ts';
import { createRandom } from './random.ts';
import { runScenario } from './run-seed.ts';
import { type Scenario, scenarioOf } from './scenario.ts';
import { solBetween } from './wishes.ts';

const SOL = 1_000_000_000n;
const CALLERS = 500;
const LARGEST = 0.4;

/** So many callers within a moment, each from an address of its own, against the caps as they are delivered. */
function rush(round: number): Scenario {
  const random = createRandom(round);
  const base = scenarioOf(round);
  return {
    ...base,
    wire: false,
    startLamports: 50n * SOL,
    limits: { ...base.limits, maxCostDay: (SOL / 10n) as typeof base.limits.maxCostDay },
    swaps: Array.from({ length: CALLERS }, (_none, index) => ({
      at: 1_000 + random.between(0, 50),
      amount: solBetween(random, 0.1, LARGEST) + BigInt(index + 1),
      key: `key-${index}`,
      most: false,
      client: `ip-${index}`,
      repeats: [],
      patience: 0,
    })),
    payouts: [],
    incidents: [],
    crashes: 0,
    replacements: 0,
    oldVersion: false,
    calmAt: 60_000,
    wild: { ...calm, latencyMs: 40, latent: 0.6 },
  };
}

it.each(Array.from({ length: 20 }, (_none, index) => index + 1))(
  '500 callers at once exceed no cap and leave room for less than one swap (round %i)',
  async (round) => {
    const production = await loadProduction(OWN_SOURCE);
    const scenario = rush(round);
    const { violations, spent } = await runScenario(scenario, production, () => undefined);
    expect(violations).toEqual([]);
    const { maxHour, maxUnsettled } = scenario.limits;
    const cap = maxHour < maxUnsettled ? maxHour : maxUnsettled;
    const used = spent.reduce((sum, lamports) => sum + lamports, 0n);
    expect(used).toBeLessThanOrEqual(cap);
    expect(cap - used).toBeLessThan(BigInt(LARGEST * 1e9) + 1_000n);
  },
  120_000,
);
