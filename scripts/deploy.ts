/**
 * `npm run deploy`: wrangler's deployment, refused while a required setting is neither in --secrets-file nor a secret
 * of the deployed Worker. The setting `secrets.required` of wrangler is not used. It would make `wrangler dev` ignore
 * every other setting, and cannot accept a key service in place of a key. So the build refuses a bare `wrangler
 * deploy`.
 *
 * wrangler expands `$NAME` in a settings file, and lets the shell's variables override its lines. So wrangler gets the
 * lines as JSON, which it uploads unchanged, and an environment without any name of a setting.
 *
 * Options of wrangler: --secrets-file FILE, --domain NAME, --env NAME. With --secrets-only it uploads the secrets, and
 * deploys nothing. With --rollback ID it activates an earlier version. That brings back old secrets, so the secrets of
 * the file are uploaded afterwards.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { argumentsOrUsage, oneLine, readArguments, UsageError } from './command-line.ts';
import { checkRepository } from './doctor/check-files.ts';
import { missingSecrets } from './doctor/check-settings.ts';
import { isExample } from './doctor/check-values.ts';
import { isLocalService } from './doctor/finding.ts';
import { KNOWN, readSettings } from './doctor/read-settings.ts';

const USAGE = `npm run deploy -- [--secrets-file FILE] [--domain NAME] [--env NAME]
npm run deploy -- --secrets-only --secrets-file FILE [--env NAME]
npm run deploy -- --rollback VERSION_ID --secrets-file FILE [--env NAME]`;
const { file, domain, env, secretsOnly, rollback } = argumentsOrUsage(USAGE, (args) => {
  const { values } = readArguments(args, {
    'secrets-file': { type: 'string' },
    domain: { type: 'string' },
    env: { type: 'string' },
    'secrets-only': { type: 'boolean', default: false },
    rollback: { type: 'string' },
  });
  const { 'secrets-file': file, domain, env, 'secrets-only': secretsOnly, rollback } = values;
  if (file !== undefined && !existsSync(file))
    throw new UsageError(`--secrets-file: there is no file '${file}'`);
  if (file === undefined && (secretsOnly || rollback !== undefined))
    throw new UsageError('Name the current settings with --secrets-file');
  if (domain !== undefined && (secretsOnly || rollback !== undefined))
    throw new UsageError('--domain belongs to a deployment');
  return { file, domain, env, secretsOnly, rollback };
});
// Production gets the option as well: without it wrangler warns that there are several environments.
const environment = `--env=${env ?? ''}`;
const settings = file === undefined ? {} : readSettings(file);
/** Replaces the code of a busy Durable Object at once. The platform's default may wait five minutes. */
const AT_ONCE = ['--durable-objects-code-update-mode', 'immediate'];

/** The shell's environment without the settings, and the origin that the site's previews name. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !KNOWN.includes(name));
  const origin = settings.PUBLIC_BASE_URL ?? (domain && `https://${domain}`);
  return {
    ...Object.fromEntries(own),
    ...(origin === undefined ? {} : { SITE_ORIGIN: origin }),
    SECRETS_CHECKED: 'true',
  };
}

/** Names of the secrets of the deployed Worker. @throws Error if wrangler cannot read them */
function deployedSecrets(): string[] {
  try {
    const text = execFileSync('npx', ['wrangler', 'secret', 'list', '--format', 'json', environment], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: cleanEnvironment(),
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

function wrangler(...args: string[]): number {
  const { status } = spawnSync('npx', ['wrangler', ...args, environment], {
    stdio: 'inherit',
    env: cleanEnvironment(),
  });
  return status ?? 1;
}

/** @param secrets JSON file of the settings; undefined without --secrets-file */
function run(secrets: string | undefined): number {
  if (rollback !== undefined) {
    const failed = wrangler('rollback', rollback, ...AT_ONCE);
    if (failed !== 0) return failed;
  }
  if (secrets !== undefined && (rollback !== undefined || secretsOnly))
    return wrangler('secret', 'bulk', secrets);
  return wrangler(
    'deploy',
    ...AT_ONCE,
    ...(secrets ? ['--secrets-file', secrets] : []),
    ...(domain ? ['--domain', domain] : []),
  );
}

function deploy(): number {
  const examples = Object.entries(settings).flatMap(([name, text]) => (isExample(text) ? [name] : []));
  if (examples.length > 0) {
    console.error(`Not deployed. ${examples.join(', ')} still have the text of an example in ${file}.`);
    return 1;
  }
  if (isLocalService(settings)) {
    console.error(`Not deployed. PUBLIC_BASE_URL in ${file} names this machine.`);
    return 1;
  }
  const [placeholder] = secretsOnly || rollback !== undefined ? [] : checkRepository();
  if (placeholder) {
    console.error(`Not deployed. ${placeholder.what} ${placeholder.fix}`);
    return 1;
  }
  const given = Object.keys(settings);
  const missing = missingSecrets(given).length === 0 ? [] : missingSecrets([...given, ...deployedSecrets()]);
  if (missing.length > 0) {
    console.error(
      `Not deployed. Missing in ${file ?? 'the deployed Worker'}: ${missing.join(', ')}. Pass a complete file with --secrets-file.`,
    );
    return 1;
  }
  if (file === undefined) return run(undefined);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-secrets-'));
  try {
    const secrets = join(folder, 'secrets.json');
    writeFileSync(secrets, JSON.stringify(settings), { mode: 0o600 });
    return run(secrets);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  process.exitCode = deploy();
} catch (error) {
  console.error(oneLine(error));
  process.exitCode = 1;
}
