/** Compares the environments of a wrangler.toml: none may use a binding, name or route of production. */
import { type Finding, problem, problemIf, type Settings } from './finding.ts';

/** Keys whose values name a resource. `name` does so only in an environment's root; elsewhere it names a binding. */
const RESOURCE =
  /\b(database_id|database_name|preview_database_id|preview_id|id|namespace_id|service|script_name|pattern|route)\s*=\s*"([^"]+)"/g;
const ROUTES = /^\s*routes?\s*=|^\s*\[\[routes\]\]/m;
const PLACEHOLDER = /^[0-]+$/;

/** Text of each environment, comments removed; production is the part outside `[env.*]`. */
function partsOf(toml: string): Map<string, string> {
  const parts = new Map([['production', '']]);
  let part = 'production';
  for (const line of toml.replaceAll(/^\s*#.*$/gm, '').split('\n')) {
    const header = /^\s*\[+\s*([\w.-]+)\s*\]+/.exec(line)?.[1];
    if (header !== undefined) part = /^env\.([\w-]+)/.exec(header)?.[1] ?? 'production';
    parts.set(part, `${parts.get(part) ?? ''}${line}\n`);
  }
  return parts;
}

function resourcesOf(text: string): string[] {
  const [, start = text] = /^\s*\[env\.[\w-]+\]\s*$([\s\S]*)/m.exec(text) ?? [];
  const root = start.split(/^\s*\[/m)[0] ?? '';
  const name = /^\s*name\s*=\s*"([^"]+)"/m.exec(root)?.[1];
  const resources = [...text.matchAll(RESOURCE)].map(([, key, value]) => `${key} "${value}"`);
  return [...(name === undefined ? [] : [`name "${name}"`]), ...resources].filter(
    (resource) => !PLACEHOLDER.test(resource.split('"')[1] ?? ''),
  );
}

/**
 * Values that an environment shares with production, as `key "value"`. Empty if each environment has its own
 * resources.
 */
export function sharedResources(toml: string): { environment: string; shared: string[] }[] {
  const parts = partsOf(toml);
  const production = parts.get('production') ?? '';
  const own = new Set(resourcesOf(production));
  return [...parts].flatMap(([environment, text]) => {
    if (environment === 'production') return [];
    const shared = resourcesOf(text).filter((resource) => own.has(resource));
    // wrangler lets an environment inherit the routes of production, and with them its domain.
    if (ROUTES.test(production) && !ROUTES.test(text)) shared.push('routes (inherited)');
    return shared.length > 0 ? [{ environment, shared }] : [];
  });
}

export const checkEnvironments = (file: string, toml: string): Finding[] =>
  sharedResources(toml).map(({ environment, shared }) =>
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
  'VAULT_TOKEN',
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
