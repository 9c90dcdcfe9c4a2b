/**
 * The script of Scalar's interactive API reference. `@scalar/api-reference` installs about 260 packages to ship it; the
 * plugin for Fastify contains the same script as a string and serves it, with 15 packages.
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGE = '@scalar/fastify-api-reference';
const { devDependencies } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
) as { readonly devDependencies: Readonly<Record<string, string>> };

/** Below the site's root. The version is part of the name, because the file is cached for a year. */
export const SCALAR_SCRIPT = `/vendor/scalar-${devDependencies[PACKAGE]}.js`;

type Route = {
  readonly url: string;
  handler(request: null, reply: Reply): void;
};
type Reply = { header(): Reply; send(body: string): void };

/**
 * The script as the plugin's own route serves it.
 * @throws Error when a new version of the plugin serves it differently
 */
export async function scalarScript(): Promise<string> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  const register: (server: object, options: object, done: () => void) => void = plugin;
  const routes: Route[] = [];
  const server = { route: (route: Route) => routes.push(route), initialConfig: {} };
  register(server, { routePrefix: '/docs', configuration: { url: '/api/openapi.json' } }, () => undefined);
  let script = '';
  const reply: Reply = {
    header: () => reply,
    send(body) {
      script = body;
    },
  };
  routes.find(({ url }) => url.endsWith('.js'))?.handler(null, reply);
  if (!script.includes('api-reference')) throw new Error(`${PACKAGE} serves no script`);
  return script;
}
