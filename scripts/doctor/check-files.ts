/**
 * Checks of the repository and the machine: bindings, triggers, and the permissions of the settings file.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import * as z from 'zod';
import { checkEnvironments, readEnvironment } from './check-environments.ts';
import { isExample } from './check-values.ts';
import { type Finding, problem, problemIf, SECRETS } from './finding.ts';
import { KNOWN } from './read-settings.ts';

export type Files = {
  /** wrangler.toml of the deployment; undefined to skip its checks. */
  readonly wrangler?: string | undefined;
  /** The file that the settings came from. */
  readonly settings?: string | undefined;
};

export function checkFiles({ wrangler, settings }: Files): Finding[] {
  return [
    ...(wrangler === undefined ? [] : checkWrangler(wrangler)),
    ...(settings === undefined ? [] : checkSettingsFile(settings)),
  ];
}

function checkWrangler(file: string): Finding[] {
  const { triggers, vars } = readEnvironment(file);
  const exposed = SECRETS.filter((name) => name in vars);
  return [
    ...checkEnvironments(file),
    ...problemIf(
      !triggers.crons?.includes('* * * * *'),
      'cron-not-set',
      `${file} has no trigger that runs every minute: lost alarms are not set again.`,
      'Add crons = ["* * * * *", "5 0 * * *"] under [triggers].',
    ),
    ...problemIf(
      exposed.length > 0,
      'secret-in-vars',
      `${file} has ${exposed.join(', ')} under [vars], where everyone with access to the repository can read it.`,
      'Remove it there, create a new one, and set it with `npm run deploy -- --secrets-only`.',
    ),
  ];
}

const Package = z.object({
  homepage: z.string(),
  bugs: z.object({ email: z.string() }),
  repository: z.object({ url: z.string() }),
});

/** The names that packages and pages show. */
export function checkRepository(): Finding[] {
  const { homepage, bugs, repository } = Package.parse(JSON.parse(readFileSync('package.json', 'utf8')));
  const examples = Object.entries({ homepage, 'bugs.email': bugs.email, 'repository.url': repository.url });
  const named = examples.flatMap(([name, text]) => (isExample(text) ? [name] : []));
  return problemIf(
    named.length > 0,
    'repository-placeholder',
    `package.json has the text of an example in ${named.join(', ')}.`,
    'Write your own values there and commit the file: no other file has them.',
  );
}

function checkSettingsFile(file: string): Finding[] {
  if (!existsSync(file))
    return [
      problem(
        'settings-missing',
        `${file} is not there.`,
        'Copy .dev.vars.example and fill it in, or name your file with --settings.',
      ),
    ];
  return [
    ...checkLines(readFileSync(file, 'utf8')),
    ...problemIf(
      process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0,
      'settings-readable',
      `${file} can be read by other users of this machine.`,
      `Run chmod 600 ${file}.`,
    ),
    ...problemIf(
      spawnSync('git', ['ls-files', '--error-unmatch', file]).status === 0,
      'settings-tracked',
      `${file} is in git.`,
      'Remove it from the history and replace every secret in it.',
    ),
  ];
}

/**
 * Lines that do not mean what they seem to: a name set twice, a colon in place of `=`, a value that a `#` cuts off.
 */
function checkLines(text: string): Finding[] {
  const lines = text.split(/\r?\n/);
  const of = (name: string, rest: string): number =>
    lines.filter((line) => new RegExp(`^\\s*(export\\s+)?${name}\\s*${rest}`).test(line)).length;
  return KNOWN.flatMap((name) => [
    ...problemIf(
      of(name, '=') > 1,
      'line-repeated',
      `${name} is set in several lines: the last one counts.`,
      'Leave one line.',
    ),
    ...problemIf(of(name, ':') > 0, 'line-ignored', `The line of ${name} has no =.`, `Write ${name}=value.`),
    ...problemIf(
      of(name, '=\\s*[^"\'`\\s#][^#]*#') > 0,
      'line-cut',
      `The value of ${name} ends before its #, because what follows is a comment.`,
      `Put the value into quotes if the # belongs to it.`,
    ),
  ]);
}
