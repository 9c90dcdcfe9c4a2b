/**
 * Checks of the repository and the machine: bindings, triggers, and the permissions of the settings file.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { checkEnvironments, readEnvironment } from './check-environments.ts';
import { type Finding, problem, problemIf, SECRETS } from './finding.ts';

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
