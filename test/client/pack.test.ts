import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
const PACKAGE = 'packages/client';
const MAX_GZIPPED_BYTES = 8_192;

const folder = mkdtempSync(join(tmpdir(), 'sluice-client-'));
const installed = join(folder, 'node_modules/sluice-client');
beforeAll(async () => {
  // The root's .npmrc switches scripts off, and npm hands that to its children; `prepack` builds this package.
  const args = ['pack', '--json', '--ignore-scripts=false', '--pack-destination', folder];
  const { stdout } = await run('npm', args, { cwd: PACKAGE });
  // The build prints nothing; the JSON is the last part of what npm writes.
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string }];
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', join(folder, filename), '-C', installed, '--strip-components=1']);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (file: string): string => readFileSync(join(installed, file), 'utf8');

it('has no dependency, and its license', () => {
  const manifest: object = JSON.parse(read('package.json'));
  for (const member of ['dependencies', 'peerDependencies', 'optionalDependencies'])
    expect(manifest).not.toHaveProperty(member);
  expect(read('dist/LICENSE')).toContain('MIT');
});

it('is under 8 KB gzipped', () => {
  const code = readdirSync(join(installed, 'dist'))
    .filter((file) => file.endsWith('.js'))
    .map((file) => gzipSync(read(`dist/${file}`)).length);
  expect(code).toHaveLength(3);
  expect(code.reduce((sum, bytes) => sum + bytes)).toBeLessThan(MAX_GZIPPED_BYTES);
});

it('runs in Node and type-checks under the strictest settings, from its tarball', async () => {
  writeFileSync(
    join(folder, 'program.ts'),
    `import { createClient } from 'sluice-client';
const sluice = createClient({ baseUrl: 'http://127.0.0.1:9', timeoutMs: 5_000 });
const minimum = await sluice.call('getSwapMinimum', {});
const state: string = minimum.ok ? minimum.value.minAmountLamports : minimum.failure.kind;
// @ts-expect-error: the operation needs an id.
const status = sluice.call('getSwapStatus', {});
void status;
console.log(state);
`,
  );
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        module: 'nodenext',
        target: 'es2022',
        lib: ['es2022', 'dom'],
        types: [],
        outDir: 'out',
      },
      files: ['program.ts'],
    }),
  );
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  await run(resolve('node_modules/.bin/tsc'), ['-p', folder]);
  const { stdout } = await run(process.execPath, [join(folder, 'out/program.js')]);
  expect(stdout.trim()).toBe('unreachable');
});
