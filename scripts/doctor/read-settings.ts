import { readFileSync } from 'node:fs';
import { VARIABLES } from '../../src/config.ts';
import type { Settings } from './finding.ts';

/** Every name that the service reads. */
export const KNOWN: readonly string[] = Object.keys(VARIABLES);

/** The lines `NAME=value` of a file as `wrangler dev` reads them: comments, blank lines and quotes are allowed. */
export function parseSettings(text: string): Settings {
  const settings: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const [, name, raw = ''] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined) continue;
    const quoted = /^(["'])(.*)\1$/.exec(raw);
    settings[name] = quoted ? (quoted[2] ?? '') : raw.replace(/\s+#.*$/, '');
  }
  return settings;
}

/** @throws Error when the file cannot be read */
export const readSettings = (file: string): Settings => parseSettings(readFileSync(file, 'utf8'));
