import type { TestProject } from 'vitest/node';
import { mintOfTheDay } from '../world/mint-of-the-day.ts';
import { startWorld, type World } from '../world/world.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * One for each worker: where site and API are served, and the control endpoint, with which tests pay, cause faults
     * and remove them.
     */
    worlds: readonly { readonly siteUrl: string; readonly controlUrl: string }[];
  }
}

/** One world for all files of a worker; each takes seconds to start, and pages only add to it. */
async function start(): Promise<World> {
  const world = await startWorld({
    witness: true,
    slotMs: 150,
    blockMs: 1000,
    settleDelayMs: 500,
  });
  await mintOfTheDay(world);
  return world;
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const worlds = await Promise.all(Array.from({ length: project.vitest.config.maxWorkers }, start));
  project.provide(
    'worlds',
    worlds.map(({ url, controlUrl }) => ({ siteUrl: url, controlUrl })),
  );
  return async () => void (await Promise.all(worlds.map((world) => world.stop())));
}
