/**
 * `npm run doctor`: looks at the settings, the files, every upstream and the running service, and says what is wrong and
 * how to mend it. Signs nothing, changes nothing, shows no secret. Exit code 1 when there is a problem.
 *
 * Options: --settings FILE (default .dev.vars), --service ORIGIN (default PUBLIC_BASE_URL), --wrangler FILE, --offline,
 * --json.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { examine } from './doctor/examine.ts';
import { hideSecrets } from './doctor/finding.ts';
import { KNOWN, readSettings } from './doctor/read-settings.ts';

const { values } = parseArgs({
  options: {
    settings: { type: 'string', default: '.dev.vars' },
    service: { type: 'string' },
    wrangler: { type: 'string', default: 'wrangler.toml' },
    offline: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const file = values.settings;
const fromEnvironment = Object.fromEntries(
  KNOWN.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] ?? '']])),
);
const settings = { ...(existsSync(file) ? readSettings(file) : {}), ...fromEnvironment };
const service = values.service ?? settings.PUBLIC_BASE_URL;

const findings = await examine({
  settings,
  files: { wrangler: values.wrangler, settings: file },
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
