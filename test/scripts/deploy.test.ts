/** @module-tag deep */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { missingSecrets } from '../../scripts/doctor/check-settings.ts';
import { useFolder } from '../kit/use-folder.ts';

const folder = useFolder('sluice-deploy-');

const ALL = [
  ...['OPS_SECRET', 'SOLANA_PRIVATE_KEY', 'RESERVE_SOLANA_ADDRESS', 'RESERVE_BTC_ADDRESS'],
  ...['PUBLIC_BASE_URL', 'MINT_KEY_SEED'],
];
const without = (name: string) => ALL.filter((other) => other !== name);
const called = join(folder, 'called');

/** What the packages and pages name. */
const OWN = {
  homepage: 'https://reserve.test',
  bugs: { email: 'security@reserve.test' },
  repository: { url: 'git+https://github.com/reserve/sluice.git' },
};
const writePackage = (own: object): void =>
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...OWN, ...own }));

beforeEach(() => {
  rmSync(called, { force: true });
  writePackage({});
});

/** Runs the command with an npx that records its arguments and answers `secret list` with this text. */
function deploy(args: readonly string[], listed = '[]', code = 0) {
  const npx = join(folder, 'npx');
  const answer = join(folder, 'answer');
  writeFileSync(answer, listed);
  writeFileSync(
    npx,
    `#!/bin/sh\necho "$SECRETS_CHECKED $*" >> ${called}\ncase "$*" in *secret*) cat ${answer} ${code ? '>&2' : ''}; exit ${code};; esac\n`,
  );
  chmodSync(npx, 0o755);
  const { status, stderr } = spawnSync(process.execPath, [resolve('scripts/deploy.ts'), ...args], {
    encoding: 'utf8',
    cwd: folder,
    env: { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` },
  });
  return {
    status,
    stderr,
    calls: existsSync(called) ? readFileSync(called, 'utf8').trim().split('\n') : [],
  };
}

function settings(...names: string[]): string {
  const file = join(folder, 'settings.vars');
  writeFileSync(file, names.map((name) => `${name}=value\n`).join(''));
  return file;
}
const listOf = (...names: string[]): string =>
  JSON.stringify(names.map((name) => ({ name, type: 'secret_text' })));

it.each([
  ['nothing is set', [], ALL],
  ['all are set', ALL, []],
  ['the key is missing', without('SOLANA_PRIVATE_KEY'), ['SOLANA_PRIVATE_KEY']],
] as const)('names the missing settings of a deployment when %s', (_case, names, missing) => {
  expect(missingSecrets(names).toSorted()).toEqual([...missing].sort());
});

it('deploys with a complete settings file and does not query the account', () => {
  const file = settings(...ALL);
  const { status, calls } = deploy(['--secrets-file', file, '--domain', 'sluice.example']);
  expect([status, calls]).toEqual([
    0,
    [
      expect.stringMatching(
        /^true wrangler deploy --durable-objects-code-update-mode immediate --secrets-file \S+secrets\.json --domain sluice\.example --env=$/,
      ),
    ],
  ]);
});

it('refuses a settings file that still has an example value, without calling the account', () => {
  const file = settings(...ALL);
  writeFileSync(file, `${readFileSync(file, 'utf8')}SECURITY_CONTACT=mailto:security@sluice.example\n`);
  const { status, stderr, calls } = deploy(['--secrets-file', file]);
  expect([status, calls]).toEqual([1, []]);
  expect(stderr).toContain('SECURITY_CONTACT');
});

it.each([
  ['homepage', { homepage: 'https://sluice.example' }],
  ['bugs.email', { bugs: { email: 'security@sluice.example' } }],
  ['repository.url', { repository: { url: 'git+https://github.com/sluice-example/sluice.git' } }],
])('refuses to deploy while %s in package.json is still an example, and calls nothing', (name, own) => {
  writePackage(own);
  const { status, stderr, calls } = deploy(['--secrets-file', settings(...ALL)]);
  expect([status, calls]).toEqual([1, []]);
  expect(stderr).toContain(`package.json has the text of an example in ${name}.`);
});

it('deploys staging with the secrets that its Worker already has', () => {
  const { status, calls } = deploy(['--env', 'staging'], listOf(...ALL));
  expect(status).toBe(0);
  expect(calls.at(-1)).toBe(
    'true wrangler deploy --durable-objects-code-update-mode immediate --env=staging',
  );
});

it('a rollback replaces the code of the objects at once, then uploads the current secrets', () => {
  const { status, calls } = deploy(['--rollback', 'v1', '--secrets-file', settings(...ALL)]);
  expect(status).toBe(0);
  expect(calls).toEqual([
    'true wrangler rollback v1 --durable-objects-code-update-mode immediate --env=',
    expect.stringMatching(/^true wrangler secret bulk \S+secrets\.json --env=$/),
  ]);
});

it.each(['SOLANA_PRIVATE_KEY', 'MINT_KEY_SEED'])('refuses to deploy without %s', (name) => {
  const file = settings(...without(name));
  const { status, stderr, calls } = deploy(['--secrets-file', file], listOf('NEAR_INTENTS_JWT'));
  expect(status).toBe(1);
  expect(stderr).toBe(
    `Not deployed. Missing in ${file}: ${name}. Pass a complete file with --secrets-file.\n`,
  );
  expect(calls.filter((call) => call.includes('wrangler deploy'))).toEqual([]);
});

it.each([
  [
    'no Worker exists',
    'Worker "sluice" not found. [code: 10007]',
    'Not deployed. Missing in the deployed Worker',
  ],
  [
    'wrangler is not logged in',
    'You are not logged in: set CLOUDFLARE_API_TOKEN',
    'wrangler is not logged in',
  ],
  ['wrangler fails', 'socket hang up', 'The secrets of the deployed Worker cannot be read: socket hang up'],
])('a deployment ends with one line of explanation when %s', (_case, text, message) => {
  const { status, stderr } = deploy([], text, 1);
  expect(status).toBe(1);
  expect(stderr.startsWith(message), stderr).toBe(true);
  expect(stderr.trim()).not.toContain('\n');
});

it('the build fails for a deployment whose secrets were not checked', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/prepare-worker.ts'], {
    encoding: 'utf8',
    env: { ...process.env, WRANGLER_COMMAND: 'deploy', SECRETS_CHECKED: undefined },
  });
  expect([status, stderr]).toEqual([
    1,
    'Deploy with `npm run deploy`, which checks the secrets first; `npm run build` only builds.\n',
  ]);
});
