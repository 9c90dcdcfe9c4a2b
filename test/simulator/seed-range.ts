/**
 * Runs a range of seeds and sums up what happened.
 * @module
 */
import type { Production } from './production.ts';
import { runScenario } from './run-seed.ts';
import { scenarioOf, withLiar } from './scenario.ts';
import { runThief } from './thief.ts';

export type Finding = { readonly seed: number; readonly invariant: string; readonly detail: string };

export type RangeResult = {
  readonly seeds: number;
  readonly findings: readonly Finding[];
  readonly counts: Readonly<Record<string, number>>;
};

/** Seeds `from`, `from + step`, ... below `to`. */
export async function runRange(
  production: Production,
  p: { from: number; to: number; step: number; liar?: boolean; thief?: boolean },
): Promise<RangeResult> {
  const { stackTraceLimit } = Error;
  // Upstreams fail all the time here, and their stacks are not needed.
  Error.stackTraceLimit = 0;
  const findings: Finding[] = [];
  const counts: Record<string, number> = {};
  let seeds = 0;
  for (let seed = p.from; seed < p.to; seed += p.step) {
    const result = await (p.thief
      ? runThief(seed, production, () => undefined)
      : play(seed, production, p.liar));
    seeds++;
    add(counts, result.counts);
    for (const violation of result.violations) findings.push({ seed, ...violation });
  }
  Error.stackTraceLimit = stackTraceLimit;
  return { seeds, findings, counts };
}

function play(seed: number, production: Production, liar = false) {
  const scenario = scenarioOf(seed);
  return runScenario(liar ? withLiar(scenario) : scenario, production, () => undefined);
}

export function add(sum: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
}
