import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { PATIENCE_MS } from './test/patience.ts';

const inWorkers = 'test/workers/**/*.test.ts';
const onTheWorld = ['test/world/**/*.test.ts', 'test/e2e/**/*.test.ts', 'test/contract/**/*.test.ts'];
// Node keeps what it has compiled, for the processes of the tests and those that they start.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compile');

const PACKAGES = '**/node_modules/**';
/** Files without a test for the suite that runs. Their tests would be skipped, but only after the import. */
const otherSuite = globSync('test/**/*.test.ts', { exclude: [PACKAGES] }).filter((file) => {
  const text = readFileSync(file, 'utf8');
  if (process.env.TEST_SUITE === 'quick') return text.includes('@module-tag deep');
  return process.env.TEST_SUITE === 'deep' && !/@module-tag deep|tags: \['(deep|scaled)'\]/.test(text);
});

/** Files of the world project that take longest, longest first. One of them that started last would run alone. */
const LONGEST = [
  ...['contract', 'ops', 'route-flood', 'openapi-contract', 'start', 'remote-key'],
  ...['hanging-nodes', 'version-one', 'upgrade', 'tokens', 'asry', 'status'],
  ...['alarms', 'mixed-releases', 'api-guide'],
].map((name) => `/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return project.name !== 'world' || at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    tags: [
      { name: 'deep', description: 'long by nature: `npm run test:deep` only' },
      { name: 'scaled', description: 'has fewer cases in `npm test` than in `npm run test:deep`' },
    ],
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          environment: 'node',
          include: ['test/**/*.test.ts'],
          exclude: [PACKAGES, inWorkers, ...onTheWorld, 'test/browser/**', ...otherSuite],
          setupFiles: ['./test/node-setup.ts'],
          // Two thirds of the work of a small file was its imports: files of one process share them.
          isolate: false,
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          // By default one less, which of two is half.
          maxWorkers: '100%',
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              // Stands in for a replica.
              d1Databases: { SECOND_DB: 'second' },
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
          exclude: otherSuite,
          globalSetup: ['./test/workers/write-documents.ts'],
          setupFiles: ['./test/workers/setup.ts'],
          isolate: false,
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          maxWorkers: '100%',
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'world',
          environment: 'node',
          include: onTheWorld,
          exclude: otherSuite,
          globalSetup: ['./test/world/bundle-once.ts'],
          // The long worlds of the deep suite leave memory behind.
          isolate: process.env.TEST_SUITE !== 'quick',
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
          // A world waits for slots and retries most of the time: with two on each core a quarter of it was idle.
          maxWorkers: 3 * availableParallelism(),
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
