/**
 * `npm run doctor`: checks the settings, the files, every upstream and the running service, and names each problem with
 * its fix. The first line names the target. Signs nothing, changes nothing, shows no secret. Exit code 1 when there is a problem.
 *
 * Options: --settings FILE (default .dev.vars), --service ORIGIN (default PUBLIC_BASE_URL), --offline, --json, --world (the
 * offline world of this machine). With --apart-from FILE (settings of production) the two files must share no key, address
 * or origin.
 */
import { existsSync } from 'node:fs';
import { findWorlds } from '../test/world/running-world.ts';
import { argumentsOrUsage, httpUrl, readArguments, UsageError } from './command-line.ts';
import { examine } from './doctor/examine.ts';
import { hideSecrets } from './doctor/finding.ts';
import { readSettings, settingsFrom } from './doctor/read-settings.ts';
import { chooseTarget, targetLine } from './target.ts';

const DEFAULT_SETTINGS = '.dev.vars';
const USAGE = `npm run doctor -- [--settings FILE] [--apart-from FILE] [--service ORIGIN] [--offline] [--json]
npm run doctor -- --world [--service ORIGIN] [--json]`;
const { values, world } = argumentsOrUsage(USAGE, (args) => {
  const { values } = readArguments(args, {
    settings: { type: 'string' },
    'apart-from': { type: 'string' },
    service: { type: 'string' },
    offline: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    world: { type: 'boolean', default: false },
  });
  const { settings, service, offline } = values;
  if (service !== undefined) httpUrl('--service', service);
  for (const name of ['settings', 'apart-from'] as const) {
    const path = values[name];
    if (path !== undefined && !existsSync(path)) throw new UsageError(`--${name}: there is no file ${path}`);
  }
  if (values.world && (settings !== undefined || offline))
    throw new UsageError('--world has settings of its own: give it without --settings and --offline');
  if (settings !== undefined || offline) return { values, world: undefined };
  if (service === undefined && !values.world) {
    if (findWorlds().length === 0) return { values, world: undefined };
    if (existsSync(DEFAULT_SETTINGS))
      throw new UsageError(`Pass --settings ${DEFAULT_SETTINGS} or --world: an offline world runs here too`);
  }
  return { values, world: chooseTarget({ named: ['--service', service], world: values.world }).world };
});
const file = values.settings ?? DEFAULT_SETTINGS;
// A world has its own settings, and no deployment whose files could be wrong.
const settings = world?.bindings ?? settingsFrom(values.settings);
const named = values.service ?? settings.PUBLIC_BASE_URL;
const service = !values.offline && named && URL.canParse(named) ? new URL(named).origin : undefined;
const target = service
  ? await targetLine({ origin: service, world })
  : `Target: the settings in ${file}, without their service`;
if (values.json) console.error(target);
else console.log(target);

const production = values['apart-from'] === undefined ? undefined : readSettings(values['apart-from']);
const findings = await examine({
  settings,
  production,
  files: world ? {} : { wrangler: 'wrangler.toml', settings: file },
  service,
  offline: values.offline,
  isForDeployment: values.settings !== undefined && values.service === undefined && !values.offline,
});
const problems = findings.filter(({ level }) => level === 'problem');
const lines = values.json
  ? [JSON.stringify({ ok: problems.length === 0, findings }, null, 2)]
  : [
      ...findings.map(
        ({ level, name, what, fix }) =>
          `${level === 'problem' ? 'PROBLEM' : 'note   '} ${name}: ${what}\n        ${fix}`,
      ),
      problems.length === 0 ? 'No problem found.' : `Problems: ${problems.length}.`,
    ];
for (const line of lines) console.log(hideSecrets(line, settings));
process.exitCode = problems.length === 0 ? 0 : 1;
