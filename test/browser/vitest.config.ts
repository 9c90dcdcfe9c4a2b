import { defineConfig } from 'vitest/config';

/** No test depends on time: this limit only ends a test that hangs, on a machine that may be busy. */
const PATIENCE_MS = 300_000;

export default defineConfig({
  test: {
    name: 'browser',
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/world/bundle-once.ts', 'test/browser/shared-world.ts'],
    // Each worker has a world of its own: pages of different files would see each other's changes half done. Pages wait a lot.
    maxWorkers: 4,
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS / 2 } },
  },
});
