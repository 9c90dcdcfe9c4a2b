import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';

const inWorkers = 'test/workers/**/*.test.ts';
const onTheWorld = ['test/world/**/*.test.ts', 'test/e2e/**/*.test.ts', 'test/contract/**/*.test.ts'];
/** No test is decided by time: this only ends one that hangs, on a machine that may be busy. */
const PATIENCE_MS = 180_000;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'node',
          environment: 'node',
          include: ['test/**/*.test.ts'],
          exclude: [inWorkers, ...onTheWorld, 'test/browser/**'],
          setupFiles: ['./test/property-seed.ts'],
          testTimeout: PATIENCE_MS,
          // By default one less, which of two is half.
          maxWorkers: '100%',
          sequence: { groupOrder: 0 },
        },
      },
      {
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              bindings: {
                TEST_SCHEMA: await readD1Migrations({
                  projectPath: '.',
                  migrationsDir: '.',
                  migrationsPattern: 'schema.sql',
                }),
              },
            },
          })),
        ],
        // Without this the plugin picks the browser builds of @solana/*, which refuse to sign outside a page.
        resolve: { mainFields: ['module', 'main'] },
        test: {
          name: 'workers',
          include: [inWorkers],
          setupFiles: ['./test/workers/setup.ts'],
          isolate: false,
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'world',
          environment: 'node',
          include: onTheWorld,
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          // A world waits for the slots of its chain most of the time: two fit even a machine of one core.
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
