/**
 * Looks for the first seed of the simulator that a mutant breaks. Each mutant gets a copy of the source and a thread of
 * its own, so that nothing outlives it.
 * @module
 */
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadProduction } from '../../test/simulator/production.ts';
import { runSeed } from '../../test/simulator/run-seed.ts';
import { inThread, runShared } from '../thread.ts';
import { changedText, type Judged, ROOT } from './mutants.ts';
import type { Change } from './mutations.ts';

/** `source` is the copy of `src`. Seeds 1 to `seeds` run. */
type SeedShare = { readonly source: string; readonly seeds: number };

/** Time after which a thread is treated as hanging: a seed takes about 0.3 s. */
const patienceMs = (seeds: number): number => 60_000 + 3_000 * seeds;

/** Runs seeds 1 to `seeds` against a copy of the source with the change. */
export async function judgeBySeeds(change: Change | undefined, seeds: number): Promise<Judged> {
  const folder = mkdtempSync(join(tmpdir(), 'mutate-'));
  try {
    cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true });
    if (change) writeFileSync(join(folder, change.file), changedText(change));
    for (const linked of ['schema.sql', 'node_modules', 'package.json'])
      symlinkSync(join(ROOT, linked), join(folder, linked));
    const share: SeedShare = { source: join(folder, 'src'), seeds };
    return await inThread<SeedShare, Judged>(import.meta.url, share, patienceMs(seeds));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runSeeds({ source, seeds }: SeedShare): Promise<Judged> {
  // Upstreams fail all the time in a seed, and their stacks are not needed.
  Error.stackTraceLimit = 0;
  const production = await loadProduction(source);
  for (let seed = 1; seed <= seeds; seed += 1) {
    const [first] = (await runSeed(seed, production, () => undefined)).violations;
    if (first) return { fate: 'killed', note: `seed ${seed}, ${first.invariant}` };
  }
  return { fate: 'survived', note: `${seeds} seeds` };
}

await runShared(async () => undefined, runSeeds);
