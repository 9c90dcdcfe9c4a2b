/**
 * `npm run build:site`, which is also wrangler's custom build: no wrangler command publishes an empty or outdated site.
 * Builds the site and the API documents, and writes the version and commit. For `wrangler dev` it also migrates the local D1 database.
 * Fails when an environment of wrangler.toml uses a resource of production, and in a deployment whose secrets were not checked.
 * @module
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSite, SITE_FOLDER } from '../site/build/build-site.ts';
import { argumentsOrUsage, readArguments } from './command-line.ts';
import { currentCommit } from './current-commit.ts';
import { sharedResources } from './doctor/check-environments.ts';
import { writeDocuments } from './documents/write-documents.ts';

argumentsOrUsage('npm run build:site', (args) => readArguments(args, {}));

for (const { environment, shared } of sharedResources('wrangler.toml')) {
  console.error(`wrangler.toml: [env.${environment}] uses ${shared.join(', ')} of production.`);
  process.exit(1);
}

const { WRANGLER_COMMAND: command, SECRETS_CHECKED: checked } = process.env;
if (command !== undefined && command !== 'dev' && checked === undefined) {
  console.error('Deploy with `npm run deploy`, which checks the secrets first; `npm run build` only builds.');
  process.exit(1);
}

const made = await buildSite();
writeDocuments(SITE_FOLDER);
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
writeFileSync(join(SITE_FOLDER, 'build.json'), `${JSON.stringify({ version, commit: currentCommit() })}\n`);
console.log(`${SITE_FOLDER}: ${made ? 'built' : 'up to date'}`);

if (command === 'dev')
  execFileSync('wrangler', ['d1', 'migrations', 'apply', 'DB', '--local'], {
    // With CI set, wrangler applies the migrations without asking.
    env: { ...process.env, CI: 'true', WRANGLER_HIDE_BANNER: 'true', WRANGLER_SEND_METRICS: 'false' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
