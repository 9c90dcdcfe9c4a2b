/**
 * `npm run deploy`: wrangler's deployment, refused while a required setting is neither in --secrets-file nor a secret of the
 * deployed Worker. wrangler's own `secrets.required` would make `wrangler dev` ignore every other setting, and cannot accept
 * a key service in place of a key. The build of a bare `wrangler deploy` therefore fails.
 *
 * Options of wrangler: --secrets-file FILE, --domain NAME, --env NAME.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as z from 'zod';
import { argumentsOrUsage, oneLine, readArguments, UsageError } from './command-line.ts';
import { missingSecrets } from './doctor/check-settings.ts';
import { readSettings } from './doctor/read-settings.ts';

const USAGE = 'npm run deploy -- [--secrets-file FILE] [--domain NAME] [--env NAME]';
const { file, domain, env } = argumentsOrUsage(USAGE, (args) => {
  const { values } = readArguments(args, {
    'secrets-file': { type: 'string' },
    domain: { type: 'string' },
    env: { type: 'string' },
  });
  const { 'secrets-file': file, domain, env } = values;
  if (file !== undefined && !existsSync(file))
    throw new UsageError(`--secrets-file: there is no file '${file}'`);
  return { file, domain, env };
});
// Production gets the option as well: without it wrangler warns that there are several environments.
const environment = `--env=${env ?? ''}`;

/** Names of the secrets of the deployed Worker. @throws Error if wrangler cannot read them */
function deployedSecrets(): string[] {
  try {
    const text = execFileSync('npx', ['wrangler', 'secret', 'list', '--format', 'json', environment], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return z
      .array(z.object({ name: z.string() }))
      .parse(JSON.parse(text))
      .map(({ name }) => name);
  } catch (error) {
    const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string };
    const said = `${stderr}${stdout}`;
    // No Worker of this name exists yet.
    if (/\b10007\b|not found/.test(said)) return [];
    if (/CLOUDFLARE_API_TOKEN|not logged in|wrangler login/.test(said))
      throw new Error('wrangler is not logged in: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.');
    throw new Error(`The secrets of the deployed Worker cannot be read: ${oneLine(said.trim() || error)}`);
  }
}

function deploy(): number {
  const given = file === undefined ? [] : Object.keys(readSettings(file));
  const missing = missingSecrets(given).length === 0 ? [] : missingSecrets([...given, ...deployedSecrets()]);
  if (missing.length > 0) {
    console.error(
      `Not deployed. Missing in ${file ?? 'the deployed Worker'}: ${missing.join(', ')}. Pass a complete file with --secrets-file.`,
    );
    return 1;
  }
  const options = [...(file ? ['--secrets-file', file] : []), ...(domain ? ['--domain', domain] : [])];
  const { status } = spawnSync('npx', ['wrangler', 'deploy', environment, ...options], {
    stdio: 'inherit',
    env: { ...process.env, SECRETS_CHECKED: 'true' },
  });
  return status ?? 1;
}

try {
  process.exitCode = deploy();
} catch (error) {
  console.error(oneLine(error));
  process.exitCode = 1;
}
