import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SITE_FOLDER } from '../../site/build/build-site.ts';
import { bundleWorker } from './worker-bundle.ts';
import { readWorkerOptions } from './worker-options.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Bundles the Workers and the site once for all worlds of a test run; each world takes them from `WORLD_BUNDLES`. */
export async function setup(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bundles-'));
  // The first build creates the site that the second one also uses.
  await bundleWorker(ROOT, join(folder, 'bundle'), folder);
  cpSync(SITE_FOLDER, join(folder, 'site'), { recursive: true });
  await Promise.all(
    ['mcp', 'witness'].map((name) =>
      bundleWorker(ROOT, join(folder, `${name}-bundle`), folder, `wrangler.${name}.toml`),
    ),
  );
  const keep = (name: string, options: unknown): void =>
    writeFileSync(join(folder, name), JSON.stringify(options));
  keep('options.json', readWorkerOptions(join(ROOT, 'wrangler.toml'), join(ROOT, 'schema.sql')));
  keep('mcp-options.json', readWorkerOptions(join(ROOT, 'wrangler.mcp.toml')));
  keep('witness-options.json', readWorkerOptions(join(ROOT, 'wrangler.witness.toml')));
  process.env.WORLD_BUNDLES = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
