import type { TestProject } from 'vitest/node';
import { CLUSTER_FINALITY } from '../world/solana-clock.ts';
import { startWorld } from '../world/world.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where site and API are served. */
    siteUrl: string;
    /** The world's control endpoint, with which tests pay, cause faults and remove them. */
    controlUrl: string;
  }
}

/** One world for all files; each takes seconds to start, and pages only add to it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const world = await startWorld({
    slotMs: 150,
    // Pages show what they wait for.
    finality: CLUSTER_FINALITY,
    blockMs: 1000,
    settleDelayMs: 500,
  });
  project.provide('siteUrl', world.url);
  project.provide('controlUrl', world.controlUrl);
  return () => world.stop();
}
