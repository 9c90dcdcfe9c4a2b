import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cases } from '../cases.ts';
import { loadProduction, OWN_SOURCE } from './production.ts';
import { runScenario, runSeed } from './run-seed.ts';
import { type Scenario, SOL, scenarioOf } from './scenario.ts';
import { runThief } from './thief.ts';

/** Far more time than any machine needs, so that a slow machine fails no test. */
const PATIENCE_MS = 900_000;

/** The output of a script, and its exit code. */
const run = (script: string, ...args: string[]): Promise<{ text: string; code: number }> =>
  new Promise((resolve) => {
    const path = join(import.meta.dirname, '../../scripts', script);
    execFile(process.execPath, [path, ...args], { maxBuffer: 2 ** 27 }, (error, stdout, stderr) =>
      resolve({ text: stdout + stderr, code: error ? Number(error.code) : 0 }),
    );
  });

/** What runs, its number of seeds in the deep and in the quick suite, and events that must occur. */
it.each([
  ['all parts of the world', [], 120, 3, ['landings']],
  ['one of three nodes that lies in every response', ['--liar'], 60, 2, ['lie: ']],
  [
    'a thief of the key, one node and one index of each side',
    ['--thief'],
    ...[200, 4],
    ['witness: signed', 'mints that landed', 'thief: two covered mints at once'],
  ],
] as const)(
  'the simulator finds no broken invariant with %s',
  { timeout: PATIENCE_MS, tags: ['scaled'] },
  async (_what, flags, deep, quick, events) => {
    const seeds = cases(deep, quick);
    const { text, code } = await run('simulate.ts', ...flags, '--seeds', String(seeds), '--from', '1');
    expect(text).toMatch(new RegExp(`${seeds} seeds from 1 in .* 0 violations`));
    for (const event of events)
      expect(Number(new RegExp(`(\\d+) {2}${event}`).exec(text)?.[1])).toBeGreaterThan(0);
    expect(code).toBe(0);
  },
);

it.each([1, 2, 3])(
  'without a witness, a thief of the key mints more than the sats within seed %i',
  async (seed) => {
    const production = await loadProduction(OWN_SOURCE);
    const { violations } = await runThief(seed, production, () => undefined, false);
    expect(violations.map(({ invariant }) => invariant)).toContain('covered_supply');
  },
);

/** Each of these broke an invariant or ended with an error on an earlier commit. */
const MENDED = [
  101033, 101328, 100491, 501935, 503491, 505563, 507132, 529787, 530876, 535715, 536829, 539084, 556114,
  558392, 720823, 721183, 721469,
];

it.each(MENDED)(
  'seed %i, which once broke an invariant, no longer breaks one',
  { timeout: PATIENCE_MS, tags: ['deep'] },
  async (seed) => {
    const { violations } = await runSeed(seed, await loadProduction(OWN_SOURCE), () => undefined);
    expect(violations).toEqual([]);
  },
);

it('prints the same trace for the same seed', { timeout: PATIENCE_MS, tags: ['deep'] }, async () => {
  const [once, again] = await Promise.all([1, 2].map(() => run('simulate.ts', '--from', '3', '--trace')));
  expect(once?.text.length).toBeGreaterThan(1_000);
  expect(again).toEqual(once);
});

/** This number of almost concurrent callers, each with its own address. */
function rush(seed: number): Scenario {
  const base = scenarioOf(seed);
  return {
    ...base,
    startLamports: 50n * SOL,
    // Wide enough that more than two of the swaps fit at once.
    caps: { ...base.caps, scale: 1n, unsettledSol: 4n, costSol: '0.1' },
    lies: undefined,
    swaps: Array.from({ length: 500 }, (_none, index) => ({
      at: 1_000 + (index % 50),
      amount: SOL / 10n + BigInt(index * 600_000 + index + 1),
      most: false,
      key: `key-${index}`,
      client: `ip-${index}`,
      repeats: [],
      patience: 0,
    })),
    orders: [],
    deposits: [],
    attacks: [],
    events: [],
    crashes: 0,
    replacements: 0,
    wild: { ...base.calm, latencyMs: 40, latent: 0.6 },
  };
}

it.each([1, 2, 3])(
  'no cap is exceeded by 500 concurrent callers (round %i)',
  { timeout: PATIENCE_MS, tags: ['deep'] },
  async (round) => {
    const { violations, counts } = await runScenario(
      rush(round),
      await loadProduction(OWN_SOURCE),
      () => undefined,
    );
    expect(violations).toEqual([]);
    expect(counts['swap done/done'] ?? 0).toBeGreaterThan(2);
  },
);
