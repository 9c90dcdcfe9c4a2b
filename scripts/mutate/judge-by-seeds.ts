/**
 * Looks for the first seed of the simulator that a mutant breaks.
 * @module
 */
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inThread } from '../thread.ts';
import { type Change, changedText, type Judged, ROOT } from './mutants.ts';
import type { Broken, SeedShare } from './seed-thread.ts';

const THREAD = new URL('./seed-thread.ts', import.meta.url).href;
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
    const broken = await inThread<SeedShare, Broken | null>(THREAD, share, patienceMs(seeds));
    if (!broken) return { fate: 'survived', note: `${seeds} seeds` };
    return { fate: 'killed', note: `seed ${broken.seed}, ${broken.invariant}` };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
