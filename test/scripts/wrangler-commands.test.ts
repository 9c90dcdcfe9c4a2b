/** @module-tag deep */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { commandsOfKind } from '../docs/command-kinds.ts';

const run = promisify(execFile);

/** The words of a command before its arguments. */
const SUBCOMMANDS =
  /^npx wrangler ((?:d1 time-travel|d1 migrations|kv namespace|pages project|d1|deployments|secret|pages) [a-z]+|[a-z]+)/;

const asked = new Map<string, Promise<{ stdout: string }>>();
function help(words: readonly string[]): Promise<{ stdout: string }> {
  const known = asked.get(words.join(' '));
  if (known) return known;
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1' };
  const asking = run('npx', ['wrangler', ...words, '--help'], { env });
  asked.set(words.join(' '), asking);
  return asking;
}

it.each(commandsOfKind('account'))('wrangler has the command of “%s” with these options', async (command) => {
  const words = SUBCOMMANDS.exec(command)?.[1]?.split(' ') ?? [];
  const { stdout } = await help(words);
  expect(stdout).toContain(`wrangler ${words.join(' ')}`);
  for (const [flag] of command.matchAll(/--[a-z-]+/g)) expect(stdout).toContain(`${flag} `);
  // Its resource has the configured name.
  if (words[0] === 'd1') expect(readFileSync('wrangler.toml', 'utf8')).toContain('database_name = "sluice"');
});
