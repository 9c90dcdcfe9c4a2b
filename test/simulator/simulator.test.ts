import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Far more than any machine needs: the seeds decide, not the time. */
const PATIENCE_MS = 900_000;

/** What a script prints, whatever its exit code. */
const printed = (script: string, ...args: string[]): Promise<string> =>
  new Promise((resolve) => {
    const path = join(import.meta.dirname, '../../scripts', script);
    execFile(process.execPath, [path, ...args], { maxBuffer: 2 ** 27 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });

it(
  '5,000 schedules of faults break no promise of the custodian',
  async () => {
    const told = await printed('simulate.ts', '--seeds', '5000', '--from', '1');
    expect(told).toMatch(/5000 seeds from 1 in .* 0 violations/);
  },
  PATIENCE_MS,
);

it.each(['lifi', 'near-intents,lifi'])(
  '1,000 schedules with routes %s break none either',
  async (routes) => {
    const told = await printed('simulate.ts', '--seeds', '1000', '--from', '1', '--routes', routes);
    expect(told).toMatch(/1000 seeds from 1 in .* 0 violations/);
  },
  PATIENCE_MS,
);

it.each([12_153, 27_968, 31_415, 1_008_967])(
  'seed %i, which found something once, finds nothing any more',
  async (seed) => {
    const told = await printed('simulate.ts', '--seeds', '1', '--from', String(seed));
    expect(told).toMatch(/1 seeds from \d+ in .* 0 violations/);
  },
  PATIENCE_MS,
);

it.each([2, 12])(
  'seed %i tells the same story twice',
  async (seed) => {
    const [once, again] = await Promise.all(
      [1, 2].map(() => printed('simulate.ts', '--from', String(seed), '--trace')),
    );
    expect(once?.length).toBeGreaterThan(1_000);
    expect(again).toBe(once);
  },
  PATIENCE_MS,
);

it(
  'each broken rule is caught within 1,000 seeds',
  async () => {
    const told = await printed('mutants.ts', '--seeds', '1000');
    const rows = told.split('\n').filter((line) => line.startsWith('| '));
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter((row) => /does not apply|survives/.test(row))).toEqual([]);
    expect(told).toMatch(/(\d+) of \1 mutants caught/);
  },
  PATIENCE_MS,
);
