import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { CONSTANTS, VARIABLES } from '../../src/config.ts';
import type { Settings } from './finding.ts';

/** Every setting of an operator. */
export const KNOWN: readonly string[] = Object.keys(VARIABLES);

/** Names that only the offline world and tests set. */
export const WORLD_ONLY: readonly string[] = Object.keys(CONSTANTS);

/** The lines `NAME=value` of a file as `wrangler dev` reads them: comments, blank lines and quotes are allowed. */
export const parseSettings = (text: string): Settings => parseEnv(text) as Settings;

/** @throws Error when the file cannot be read */
export const readSettings = (file: string): Settings => parseSettings(readFileSync(file, 'utf8'));

const DEFAULT_FILE = '.dev.vars';

/**
 * The settings of a named file. Without one: those of `.dev.vars`, if it exists, and of the environment, which takes
 * precedence. A named file is everything that a deployment uploads, so the environment adds nothing to it.
 */
export function settingsFrom(named: string | undefined): Settings {
  const file = named ?? DEFAULT_FILE;
  const lines = existsSync(file) ? readSettings(file) : {};
  if (named !== undefined) return lines;
  const shell = KNOWN.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...lines, ...Object.fromEntries(shell) };
}
