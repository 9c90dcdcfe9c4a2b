/**
 * Runs seeds of the simulator against a changed copy of the source, until the first that breaks an invariant. Each
 * copy gets a thread of its own, so that nothing outlives it.
 * @module
 */
import { loadProduction } from '../../test/simulator/production.ts';
import { runSeed } from '../../test/simulator/run-seed.ts';
import { runShared } from '../thread.ts';

/** `source` is the copy of `src`. Seeds 1 to `seeds` run. */
export type SeedShare = { readonly source: string; readonly seeds: number };
export type Broken = { readonly seed: number; readonly invariant: string };

async function firstBroken({ source, seeds }: SeedShare): Promise<Broken | null> {
  // Upstreams fail all the time in a seed, and their stacks are not needed.
  Error.stackTraceLimit = 0;
  const production = await loadProduction(source);
  for (let seed = 1; seed <= seeds; seed += 1) {
    const [first] = (await runSeed(seed, production, () => undefined)).violations;
    if (first) return { seed, invariant: first.invariant };
  }
  return null;
}

await runShared(async () => undefined, firstBroken);
