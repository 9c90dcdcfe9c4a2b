/** @module-tag deep */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { beforeAll, expect, it } from 'vitest';
import { blocksOf } from '../docs/markdown.ts';
import { NODES } from '../kit/nodes.ts';
import { useFolder } from '../kit/use-folder.ts';

const run = promisify(execFile);
const PACKAGE = 'packages/client';

const folder = useFolder('sluice-client-');
const installed = join(folder, 'node_modules/sluice-client');
beforeAll(async () => {
  // The root's .npmrc switches scripts off, and npm hands that to its children; `prepack` builds this package.
  const args = ['pack', '--json', '--ignore-scripts=false', '--pack-destination', folder];
  const { stdout } = await run('npm', args, { cwd: PACKAGE });
  // The build prints nothing; the JSON is the last part of what npm writes.
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string }];
  const npm = ['install', '--offline', '--cache', join(folder, 'cache'), '--prefix', folder];
  await run('npm', [...npm, join(folder, filename)], { cwd: folder });
}, 120_000);

const read = (file: string): string => readFileSync(join(installed, file), 'utf8');

it('the client package has no dependency and contains its license', () => {
  const manifest: object = JSON.parse(read('package.json'));
  for (const member of ['dependencies', 'peerDependencies', 'optionalDependencies'])
    expect(manifest).not.toHaveProperty(member);
  expect(read('dist/LICENSE')).toContain('MIT');
});

it('the client package adds at most 4 KB, gzipped, to a program that creates swaps', async () => {
  const program = `import { createClient } from 'sluice-client';
const sluice = createClient({ baseUrl: 'https://sluice.example' });
const estimate = await sluice.getSwapEstimate({ amountSol: '0.5' });
const swap = await sluice.createSwap({ amountSol: '0.5' });
console.log(estimate, swap.ok ? await sluice.waitForSwap(swap.value.id, { timeoutMs: 60_000 }) : swap);`;
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: folder },
    ...{ bundle: true, minify: true, format: 'esm', target: 'es2022', write: false },
  });
  expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThanOrEqual(4_096);
});

it('the tarball and its README run in Node and pass the strictest type checks', async () => {
  writeFileSync(
    join(folder, 'program.ts'),
    `import { createClient } from 'sluice-client';
const sluice = createClient({ baseUrl: 'http://127.0.0.1:9', timeoutMs: 5_000 });
const minimum = await sluice.getSwapMinimum();
const state: string = minimum.ok ? minimum.value.minAmountLamports : minimum.failure.kind;
// @ts-expect-error: the operation needs an id.
void sluice.getSwapStatus({});
// @ts-expect-error: the estimate rehearses a swap.
void sluice.createSwap({ amountSol: 1, dry_run: true });
// @ts-expect-error: only reads are repeated until a state is reached.
void sluice.until('createSwap', { amountSol: 1 }, () => true);
// @ts-expect-error: only lists have pages.
void sluice.pages('getReserves');
const swap = await sluice.waitForSwap('id', { timeoutMs: 100 });
const over: 'finished' | 'failed' | undefined = swap.ok ? swap.value.status : undefined;
console.log(state, over);
`,
  );
  writeFileSync(join(folder, 'readme.ts'), blocksOf('packages/client/README.md')[0]?.text ?? '');
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
        ...{ module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom'], types: [], outDir: 'out' },
      },
      files: ['program.ts', 'readme.ts'],
    }),
  );
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  await run(resolve('node_modules/.bin/tsc'), ['-p', folder]);
  for (const [, node] of NODES) {
    const { stdout } = await run(node, [join(folder, 'out/program.js')]);
    expect(stdout.trim()).toBe('unreachable undefined');
  }
});
