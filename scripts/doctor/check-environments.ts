/** Compares the environments of a wrangler.toml: none may use a binding, name or route of production. */
import { type Unstable_Config, unstable_readConfig } from 'wrangler';
import { type Finding, problem, problemIf, type Settings } from './finding.ts';

/** Members whose values name a resource of the account. */
const RESOURCE =
  /^(database_id|database_name|preview_database_id|preview_id|id|namespace_id|service|script_name)$/;
const PLACEHOLDER = /^[0-]+$/;

/** An environment with everything that it inherits; production if no name is given. */
export const readEnvironment = (file: string, env?: string): Unstable_Config =>
  unstable_readConfig({ config: file, env }, { hideWarnings: true });

function resourcesOf(config: Unstable_Config): string[] {
  // wrangler lets an environment inherit the routes of production, and with them its domain.
  const routes = [config.route ?? [], config.routes ?? []].flat();
  const resources = [
    `name "${config.name}"`,
    ...routes.map((route) => `route "${typeof route === 'string' ? route : route.pattern}"`),
  ];
  JSON.stringify(config, (key, value: unknown) => {
    if (RESOURCE.test(key) && typeof value === 'string' && !PLACEHOLDER.test(value))
      resources.push(`${key} "${value}"`);
    return value;
  });
  return resources;
}

/**
 * Values that an environment shares with production, as `key "value"`. Empty if each environment has its own
 * resources.
 */
export function sharedResources(file: string): { environment: string; shared: string[] }[] {
  const production = readEnvironment(file);
  const own = new Set(resourcesOf(production));
  return (production.definedEnvironments ?? []).flatMap((environment) => {
    const shared = resourcesOf(readEnvironment(file, environment)).filter((resource) => own.has(resource));
    return shared.length > 0 ? [{ environment, shared }] : [];
  });
}

export const checkEnvironments = (file: string): Finding[] =>
  sharedResources(file).map(({ environment, shared }) =>
    problem(
      'environment-shares-production',
      `${file}: [env.${environment}] uses ${shared.join(', ')} of production.`,
      `Give [env.${environment}] a name, database, namespace and route of its own.`,
    ),
  );

/** Settings that name a key, an account or the service itself. */
const OWN = [
  'SOLANA_PRIVATE_KEY',
  'RESERVE_SOLANA_ADDRESS',
  'RESERVE_BTC_ADDRESS',
  'BTC_PRIVATE_KEY_WIF',
  'TREASURY_SOLANA_ADDRESS',
  'ABSR_MINT_ADDRESS',
  'ASRY_MINT_ADDRESS',
  'ASRY_SOURCE_ACCOUNT',
  'MINT_KEY_SEED',
  'OPS_SECRET',
  'PUBLIC_BASE_URL',
] as const;

/** @param production settings of production, from their own file */
export const checkSettingsApart = (settings: Settings, production: Settings): Finding[] => {
  const shared = OWN.filter((name) => settings[name] && settings[name] === production[name]);
  return problemIf(
    shared.length > 0,
    'settings-shared-with-production',
    `${shared.join(', ')}: the same value as in production. Two custodians with one key do not see each other's payments.`,
    'Give this environment values of its own; `npm run ops -- keygen --out .staging.vars` makes keys.',
  );
};
