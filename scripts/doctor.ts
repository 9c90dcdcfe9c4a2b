/**
 * `npm run doctor`: checks the settings, the files, every upstream and the running service, and names each problem with
 * its fix. Signs nothing, changes nothing, shows no secret. Exit code 1 when there is a problem.
 *
 * Options: --settings FILE (default .dev.vars), --apart-from FILE (settings of production, which --settings must not share),
 * --service ORIGIN (default PUBLIC_BASE_URL), --wrangler FILE, --offline, --json. Without settings, service and offline it checks the offline world that runs on this machine, if there is one.
 */
import { existsSync } from 'node:fs';
import { findWorld } from '../test/world/running-world.ts';
import { argumentsOrUsage, httpUrl, readArguments, UsageError } from './command-line.ts';
import { examine } from './doctor/examine.ts';
import { hideSecrets } from './doctor/finding.ts';
import { KNOWN, readSettings } from './doctor/read-settings.ts';

const USAGE =
  'npm run doctor -- [--settings FILE] [--apart-from FILE] [--service ORIGIN] [--wrangler FILE] [--offline] [--json]';
const values = argumentsOrUsage(USAGE, (args) => {
  const given = readArguments(args, {
    settings: { type: 'string' },
    'apart-from': { type: 'string' },
    service: { type: 'string' },
    wrangler: { type: 'string', default: 'wrangler.toml' },
    offline: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  }).values;
  if (given.service !== undefined) httpUrl('--service', given.service);
  for (const name of ['settings', 'apart-from'] as const) {
    const path = given[name];
    if (path !== undefined && !existsSync(path)) throw new UsageError(`--${name}: there is no file ${path}`);
  }
  return given;
});
// A world has its own settings, and no deployment whose files could be wrong.
const named = values.settings !== undefined || values.service !== undefined || values.offline;
const world = named ? undefined : findWorld();
const file = values.settings ?? '.dev.vars';
const fromEnvironment = Object.fromEntries(
  KNOWN.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] ?? '']])),
);
const settings = world?.bindings ?? { ...(existsSync(file) ? readSettings(file) : {}), ...fromEnvironment };
const service = values.service ?? settings.PUBLIC_BASE_URL;
if (world && !values.json)
  console.log(`The offline world at ${world.url}; --settings FILE checks a deployment.`);

const production = values['apart-from'] === undefined ? undefined : readSettings(values['apart-from']);
const findings = await examine({
  settings,
  production,
  files: world ? {} : { wrangler: values.wrangler, settings: file },
  service: service && URL.canParse(service) ? new URL(service).origin : undefined,
  offline: values.offline,
  fetch,
});
const problems = findings.filter(({ level }) => level === 'problem');
const lines = values.json
  ? [JSON.stringify({ ok: problems.length === 0, findings }, null, 2)]
  : [
      ...findings.map(
        ({ level, name, what, fix }) =>
          `${level === 'problem' ? 'PROBLEM' : 'note   '} ${name}: ${what}\n        ${fix}`,
      ),
      problems.length === 0 ? 'No problem found.' : `${problems.length} problems.`,
    ];
for (const line of lines) console.log(hideSecrets(line, settings));
process.exitCode = problems.length === 0 ? 0 : 1;
