/**
 * Workers in one workerd, each on its own socket, without Miniflare's proxy: the setup with the least
 * overhead and all bindings.
 * @module
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import {
  convertV4MiniflareOptions,
  Log,
  LogLevel,
  Miniflare,
  Response as MiniflareResponse,
} from 'miniflare';
import { unstable_getMiniflareWorkerOptions, unstable_readConfig, unstable_splitSqlQuery } from 'wrangler';

export const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

export type WorkerName = 'sluice' | 'counting' | 'page-views' | 'limit' | 'search';

/** Workers that import the bundle of the service. */
const AROUND_SERVICE: readonly WorkerName[] = ['counting', 'page-views'];

/** The deployed service, minified. */
export function sluiceBundle(): string {
  const path = join(folder, 'sluice/worker.js');
  if (existsSync(path)) return path;
  const wrangler = createRequire(import.meta.url).resolve('wrangler');
  const out = join(folder, 'sluice');
  execFileSync(
    process.execPath,
    ['--no-warnings', wrangler, 'deploy', '--dry-run', '--minify', '--outdir', out],
    {
      cwd: ROOT,
      stdio: 'ignore',
      env: {
        ...process.env,
        SECRETS_CHECKED: 'not-deployed',
        WRANGLER_SEND_METRICS: 'false',
        CLOUDFLARE_CF_FETCH_ENABLED: 'false',
        WRANGLER_HIDE_BANNER: 'true',
        WRANGLER_LOG_PATH: join(folder, 'logs'),
      },
    },
  );
  return path;
}

/** A Worker of this folder: Hono for comparison, the search alone, or the service with counted calls. */
export async function ownBundle(name: 'counting' | 'page-views' | 'limit' | 'search'): Promise<string> {
  const outfile = join(folder, AROUND_SERVICE.includes(name) ? `sluice/${name}.js` : `${name}/${name}.js`);
  if (!existsSync(outfile))
    await build({
      entryPoints: [join(import.meta.dirname, `${name}-worker.ts`)],
      outfile,
      bundle: true,
      minify: true,
      format: 'esm',
      conditions: ['workerd', 'worker', 'browser'],
      external: ['cloudflare:*', 'node:*', './worker.js'],
    });
  return outfile;
}

const SITE = join(ROOT, 'site/dist');

/** A file of the built site. As on the platform, `/reserves` is `reserves.html` and `/` is `index.html`. */
function siteFile(request: { readonly url: string }): MiniflareResponse {
  const { pathname } = new URL(request.url);
  const names = pathname === '/' ? ['index.html'] : [pathname, `${pathname}.html`];
  const file = names.map((name) => join(SITE, name)).find((path) => existsSync(path));
  return file === undefined
    ? new MiniflareResponse(null, { status: 404 })
    : new MiniflareResponse(readFileSync(file));
}

export async function startRuntime(
  bundles: Partial<Readonly<Record<WorkerName, string>>>,
  bindings: Readonly<Record<string, string>> = {},
) {
  const config = unstable_readConfig({ config: join(ROOT, 'wrangler.toml') });
  const {
    modulesRules: _rules,
    assets: _assets,
    ...options
  } = unstable_getMiniflareWorkerOptions(config).workerOptions as Record<string, unknown>;
  const workers = (Object.entries(bundles) as [WorkerName, string][]).map(([name, path]) => ({
    ...options,
    name,
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    modulesRoot: dirname(path),
    modules: (AROUND_SERVICE.includes(name) ? [path, sluiceBundle()] : [path]).map((module) => ({
      type: 'ESModule' as const,
      path: module,
      contents: readFileSync(module, 'utf8'),
    })),
    bindings: ['sluice', ...AROUND_SERVICE].includes(name) ? { ...config.vars, ...bindings } : {},
    // The real binding would put the asset server's own Worker in front of this one's socket.
    serviceBindings: { ASSETS: siteFile },
  }));
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: '127.0.0.1',
      port: 0,
      cf: false,
      log: new Log(LogLevel.NONE),
      defaultPersistRoot: mkdtempSync(join(folder, 'storage-')),
      handleStructuredLogs: () => undefined,
      workers,
    }),
  );
  await miniflare.ready;
  const urls = new Map<string, string>();
  for (const { name } of workers) {
    urls.set(name, (await miniflare.unsafeGetDirectURL(name)).origin);
    const db = await miniflare.getD1Database('DB', name);
    const statements = unstable_splitSqlQuery(readFileSync(join(ROOT, 'schema.sql'), 'utf8'));
    await db.batch(statements.map((statement) => db.prepare(statement)));
  }
  return {
    url: (name: WorkerName): string => urls.get(name) ?? '',
    /** One database for all Workers of a runtime. */
    database: (name: WorkerName = 'sluice') => miniflare.getD1Database('DB', name),
    stop: () => miniflare.dispose(),
  };
}
