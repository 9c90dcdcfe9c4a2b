import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { unstable_readConfig } from 'wrangler';
import { checkSettingsApart, sharedResources } from '../../scripts/doctor/check-environments.ts';
import { examine } from '../../scripts/doctor/examine.ts';
import { useFolder } from '../kit/use-folder.ts';

const TOML = readFileSync('wrangler.toml', 'utf8');
const folder = useFolder('sluice-environments-');

/** With the ids that wrangler may write into it. */
const bound = TOML.replace(
  'database_name = "sluice"\n',
  'database_name = "sluice"\ndatabase_id = "3f9c2a10-1111-4111-8111-0123456789ab"\n',
).replace('binding = "KV"\n', 'binding = "KV"\nid = "0123456789abcdef0123456789abcdef"\n');

/** A file with this text. */
function fileOf(toml: string): string {
  const file = join(folder, 'wrangler.toml');
  writeFileSync(file, toml);
  return file;
}

it('staging uses its own resources', () => {
  expect(sharedResources('wrangler.toml')).toEqual([]);
  expect(sharedResources(fileOf(bound))).toEqual([]);
});

it.each(['wrangler.toml', 'wrangler.mcp.toml'])(
  '%s logs no request headers and keeps every log line, at a sampling rate of 1',
  (config) => {
    const { observability } = unstable_readConfig({ config }, { hideWarnings: true });
    expect(observability).toMatchObject({ enabled: true, logs: { invocation_logs: false } });
    for (const rate of [observability.head_sampling_rate, observability.logs?.head_sampling_rate])
      expect(rate ?? 1).toBe(1);
  },
);

const BINDINGS = [
  'd1_databases',
  'kv_namespaces',
  'durable_objects',
  'ratelimits',
  'version_metadata',
  'triggers',
  'migrations',
  'assets',
] as const;

it('staging has every binding that production has', () => {
  const IDENTITY = ['database_id', 'database_name', 'id', 'namespace_id'];
  const bindingsOf = (env: string | undefined): unknown => {
    const config: Record<string, unknown> = unstable_readConfig(
      { config: 'wrangler.toml', env },
      { hideWarnings: true },
    );
    const bindings = BINDINGS.map((name) => [name, config[name]]);
    return JSON.parse(JSON.stringify(bindings, (key, value) => (IDENTITY.includes(key) ? undefined : value)));
  };
  expect(bindingsOf('staging')).toEqual(bindingsOf(undefined));
});

const DATABASE = 'database_name = "sluice-staging"';
const KV = '[[env.staging.kv_namespaces]]';
it.each([
  ['the database id', DATABASE, `${DATABASE}\ndatabase_id = "3f9c2a10-1111-4111-8111-0123456789ab"`],
  ['the database name', DATABASE, 'database_name = "sluice"'],
  ['the KV namespace', KV, `${KV}\nid = "0123456789abcdef0123456789abcdef"`],
  ['the counters of the rate limiter', 'namespace_id = "2001"', 'namespace_id = "1001"'],
  ['the name of the Worker', 'name = "sluice-staging"', 'name = "sluice"'],
])('refuses %s of production for staging', (_what, find, replace) => {
  expect(bound).toContain(find);
  const [found, ...others] = sharedResources(fileOf(bound.replace(find, replace)));
  expect(others).toEqual([]);
  expect(found?.environment).toBe('staging');
  expect(found?.shared).toHaveLength(1);
});

it('refuses a staging environment that inherits the domain of production', () => {
  const route = 'routes = [{ pattern = "sluice.example", custom_domain = true }]';
  expect(sharedResources(fileOf(`${route}\n${bound}`))).toEqual([
    { environment: 'staging', shared: ['route "sluice.example"'] },
  ]);
  const own = route.replace('sluice.example', 'staging.sluice.example');
  const apart = bound.replace('name = "sluice-staging"\n', `name = "sluice-staging"\n${own}\n`);
  expect(sharedResources(fileOf(`${route}\n${apart}`))).toEqual([]);
});

it('the doctor reports a setting that staging shares with production', async () => {
  const wrangler = fileOf(bound.replace(DATABASE, 'database_name = "sluice"'));
  const findings = await examine({ settings: {}, files: { wrangler }, offline: true });
  expect(findings.map(({ name }) => name)).toContain('environment-shares-production');
});

it('a setting shared with production fails the build of every deployment', () => {
  fileOf(bound.replace('namespace_id = "2001"', 'namespace_id = "1001"'));
  const script = join(process.cwd(), 'scripts/prepare-worker.ts');
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toContain('[env.staging] uses namespace_id "1001" of production');
});

it('finds keys and names that two environments share', () => {
  const live = { SOLANA_PRIVATE_KEY: 'a', OPS_SECRET: 'b', PUBLIC_BASE_URL: 'c', SWAP_MAX_SOL: '1' };
  expect(
    checkSettingsApart({ ...live, SOLANA_PRIVATE_KEY: 'x', OPS_SECRET: 'y', PUBLIC_BASE_URL: 'z' }, live),
  ).toEqual([]);
  const [finding] = checkSettingsApart({ ...live, OPS_SECRET: 'y' }, live);
  expect(finding).toMatchObject({ name: 'settings-shared-with-production', level: 'problem' });
  expect(finding?.what).toMatch(/^SOLANA_PRIVATE_KEY, PUBLIC_BASE_URL:/);
});
