import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SECRETS } from '../../scripts/doctor/finding.ts';
import { KNOWN, parseSettings } from '../../scripts/doctor/read-settings.ts';
import { readConfig } from '../../src/config.ts';

const EXAMPLE = readFileSync('.dev.vars.example', 'utf8');
const toFill = parseSettings(EXAMPLE);
/** Lines that show a default behind a `#`. */
const defaults = parseSettings(
  [...EXAMPLE.matchAll(/^# ([A-Z][A-Z0-9_]*=\S.*)$/gm)].map(([, line]) => line).join('\n'),
);

describe('.dev.vars.example', () => {
  it('.dev.vars.example names every variable of the configuration once, and no other', () => {
    const names = [...EXAMPLE.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name);
    expect(names.sort()).toEqual([...KNOWN].sort());
  });

  it('.dev.vars.example can be used unchanged and contains nothing invalid or secret', () => {
    expect(readConfig(toFill).invalid).toEqual([]);
    expect(Object.values(toFill).join('')).toBe('');
    for (const name of SECRETS) expect(Object.keys(toFill)).toContain(name);
  });

  it.each(Object.keys(defaults))('.dev.vars.example shows the default of %s unchanged', (name) => {
    const shown = readConfig({ [name]: defaults[name] });
    expect(shown.invalid).toEqual([]);
    expect(shown).toEqual(readConfig({}));
  });

  it('.dev.vars.example leaves a variable without a default empty', () => {
    const config = readConfig({});
    const undecided = KNOWN.filter((name) => {
      const value: unknown = Reflect.get(config, name);
      return value === undefined || (Array.isArray(value) && value.length === 0);
    });
    expect(Object.keys(toFill).sort()).toEqual(undecided.sort());
  });
});

it('docs/configuration.md marks every secret', () => {
  const table = readFileSync('docs/configuration.md', 'utf8');
  for (const name of SECRETS)
    expect(table).toMatch(new RegExp(`^\\| \`${name}\` \\| \\w+ \\(secret\\)`, 'm'));
});
