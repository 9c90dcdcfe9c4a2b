import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { VARIABLES } from '../../src/config.ts';
import type { Settings } from './finding.ts';

/** Every name that the service reads. */
export const KNOWN: readonly string[] = Object.keys(VARIABLES);

/** The lines `NAME=value` of a file as `wrangler dev` reads them: comments, blank lines and quotes are allowed. */
export const parseSettings = (text: string): Settings => parseEnv(text) as Settings;

/** @throws Error when the file cannot be read */
export const readSettings = (file: string): Settings => parseSettings(readFileSync(file, 'utf8'));

/** The settings of a file, if it exists, and of the environment, which takes precedence. */
export const settingsFrom = (file: string): Settings => ({
  ...(existsSync(file) ? readSettings(file) : {}),
  ...Object.fromEntries(
    KNOWN.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] ?? '']])),
  ),
});
