/**
 * Clients that four generators make of the served document: they compile without edits and call the running service.
 * The generators have a package of their own, test/generators, which only this test installs.
 * @module-tag deep
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../world/world.ts';

const run = promisify(execFile);
const FOLDER = join(import.meta.dirname, '../generators');
const GENERATED = join(FOLDER, 'generated');
const CREATOR = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
const INSTALL_MS = 1_800_000;

const COMMANDS = {
  'openapi-typescript': [
    'openapi-typescript/bin/cli.js',
    ['./generated/openapi.json', '-o', './generated/openapi-typescript/schema.ts'],
  ],
  'hey-api': [
    '@hey-api/openapi-ts/bin/run.js',
    ['-i', './generated/openapi.json', '-o', './generated/hey-api', '-c', '@hey-api/client-fetch'],
  ],
  orval: ['orval/dist/bin/orval.mjs', ['--config', 'orval.config.mjs']],
  'openapi-zod-client': [
    'openapi-zod-client/bin.js',
    ['./generated/openapi.json', '-o', './generated/openapi-zod-client/api.ts', '--with-alias'],
  ],
} as const;

const names = Object.keys(COMMANDS) as (keyof typeof COMMANDS)[];

/** Standard output of a tool of the package; rejects with its output if it fails. */
const tool = (script: string, args: readonly string[]): Promise<string> =>
  run(process.execPath, [join(FOLDER, 'node_modules', script), ...args], {
    cwd: FOLDER,
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, CI: 'true', NO_COLOR: '1' },
  }).then(
    ({ stdout }) => stdout,
    ({ stdout = '', stderr = '' }) => Promise.reject(new Error(`${script}\n${stdout}\n${stderr}`)),
  );

let world: World;
beforeAll(async () => {
  const [lock, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) =>
    join(FOLDER, file),
  ) as [string, string];
  if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs)
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER });
  world = await startWorld({ cron: false });
  rmSync(GENERATED, { recursive: true, force: true });
  mkdirSync(join(GENERATED, 'openapi-zod-client'), { recursive: true });
  const served = await world.fetch('/api/openapi.json');
  expect(served.status).toBe(200);
  writeFileSync(join(GENERATED, 'openapi.json'), JSON.stringify(await served.json(), null, 2));
  for (const [script, args] of Object.values(COMMANDS)) await tool(script, args);
}, INSTALL_MS);
afterAll(() => world?.stop());

describe('a generated client', () => {
  it('compiles without edits', async () => {
    expect(await tool('typescript/bin/tsc', ['-p', '.'])).toBe('');
  });

  it('is made by every generator in the package', () => {
    const { dependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8'));
    expect(Object.keys(dependencies)).toEqual(
      expect.arrayContaining(['openapi-typescript', '@hey-api/openapi-ts', 'orval', 'openapi-zod-client']),
    );
  });

  it.each(names)(
    'of %s runs min, estimate, dry run, invoice and search, and reads an error',
    async (name) => {
      const { callAll } = await import(join(FOLDER, 'calls', `${name}.ts`));
      const outcome = await callAll(world.url, {
        name: 'Moon Cat',
        symbol: 'MCAT',
        creator_address: CREATOR,
      });
      expect(outcome).toEqual({
        minAmountSol: expect.any(Number),
        estimatedBtcSats: expect.any(Number),
        initiated: false,
        invoiceId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        found: expect.any(Array),
        refusal: { code: 'AMOUNT_TOO_LARGE', action: 'fix_request' },
      });
      expect(outcome.estimatedBtcSats).toBeGreaterThan(0);
      const invoice = await world.fetch(`/api/invoices/${outcome.invoiceId}`);
      expect(await invoice.json()).toMatchObject({ name: 'Moon Cat', symbol: 'MCAT' });
    },
  );
});

it('spectral finds nothing in the document', async () => {
  const report = ['--format', 'json', '--output', './generated/spectral.json'];
  await tool('@stoplight/spectral-cli/dist/index.js', ['lint', ...report, './generated/openapi.json']);
  expect(JSON.parse(readFileSync(join(GENERATED, 'spectral.json'), 'utf8'))).toEqual([]);
});
