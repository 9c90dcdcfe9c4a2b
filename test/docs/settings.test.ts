import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SECRETS } from '../../scripts/doctor/finding.ts';
import { parseSettings } from '../../scripts/doctor/read-settings.ts';
import { readConfig } from '../../src/config.ts';

it('.dev.vars.example can be used unchanged, and leaves every secret empty', () => {
  const settings = parseSettings(readFileSync('.dev.vars.example', 'utf8'));
  expect(readConfig(settings).invalid).toEqual([]);
  expect(Object.values(settings).join('')).toBe('');
  for (const name of SECRETS) expect(Object.keys(settings)).toContain(name);
});
