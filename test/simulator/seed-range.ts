/**
 * Runs a range of seeds and sums up what happened.
 * @module
 */
import type { Production } from './production.ts';
import { runScenario } from './run-seed.ts';
import { scenarioOf, withLiar } from './scenario.ts';

export type Finding = { readonly seed: number; readonly invariant: string; readonly detail: string };

export type RangeResult = {
  readonly seeds: number;
  readonly findings: readonly Finding[];
  readonly counts: Readonly<Record<string, number>>;
};

/** Seeds `from`, `from + step`, ... below `to`. */
export async function runRange(
  production: Production,
  p: { from: number; to: number; step: number; liar?: boolean },
): Promise<RangeResult> {
  const { stackTraceLimit } = Error;
  // Upstreams fail all the time here, and their stacks are not needed.
  Error.stackTraceLimit = 0;
  const findings: Finding[] = [];
  const counts: Record<string, number> = {};
  let seeds = 0;
  for (let seed = p.from; seed < p.to; seed += p.step) {
    const scenario = scenarioOf(seed);
    const result = await runScenario(p.liar ? withLiar(scenario) : scenario, production, () => undefined);
    seeds++;
    add(counts, result.counts);
    for (const violation of result.violations) findings.push({ seed, ...violation });
  }
  Error.stackTraceLimit = stackTraceLimit;
  return { seeds, findings, counts };
}

export function add(sum: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
}
