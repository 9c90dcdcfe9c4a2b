/**
 * Breaks one rule in a copy of the source, and searches for the first seed that detects it or runs the test
 * that must fail.
 * @module
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Edit, Mutant } from './mutants.ts';
import { loadProduction } from './production.ts';
import { runSeed } from './run-seed.ts';

export type Caught = { readonly seed: number; readonly invariant: string; readonly detail: string };

/**
 * The first seed of `from` to `to` that breaks an invariant; undefined when the mutant survives them all.
 * @param source folder with the layout of `src`
 * @throws when an edit does not match exactly once: the code has moved and the mutant must follow
 */
export async function catchMutant(
  mutant: Mutant,
  p: { source: string; from: number; to: number },
): Promise<Caught | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'mutant-'));
  try {
    const copy = join(folder, 'src');
    cpSync(p.source, copy, { recursive: true });
    cpSync(join(p.source, '../schema.sql'), join(folder, 'schema.sql'));
    symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    applyEdits(mutant.edits, copy);
    const production = await loadProduction(copy);
    for (let seed = p.from; seed <= p.to; seed++) {
      const { violations } = await runSeed(seed, production, () => undefined);
      const [first] = violations;
      if (first) return { seed, ...first };
    }
    return undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const PROJECT = join(import.meta.dirname, '../..');
const COPIED = ['src', 'test', 'scripts', 'schema.sql', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
const LINKED = ['node_modules', 'site', 'docs', 'migrations', 'wrangler.toml'];

/** Whether a test file fails in a copy of the project with the rule broken. */
export function failsTest({ edits }: Mutant, test: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'mutant-'));
  try {
    for (const part of COPIED) cpSync(join(PROJECT, part), join(folder, part), { recursive: true });
    for (const part of LINKED) symlinkSync(join(PROJECT, part), join(folder, part));
    applyEdits(edits, join(folder, 'src'));
    const vitest = join(PROJECT, 'node_modules/vitest/vitest.mjs');
    const { stdout } = spawnSync(
      process.execPath,
      [vitest, 'run', '--project', 'node', '--root', folder, test],
      {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
      },
    );
    // The right kind of failure: a test has run and failed, and others have passed.
    return /Tests +\d+ failed \| \d+ passed/.test(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function applyEdits(edits: readonly Edit[], copy: string): void {
  for (const { file, find, replace } of edits) {
    const path = join(copy, file);
    const parts = readFileSync(path, 'utf8').split(find);
    if (parts.length !== 2) {
      throw new Error(`does not apply: ${parts.length - 1} matches in ${file}, one is needed`);
    }
    writeFileSync(path, parts.join(replace));
  }
}
