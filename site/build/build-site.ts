/**
 * Builds the site: scripts and style by Vite, pages prerendered, everything into one folder. Skipped when what it is
 * made of has not changed.
 * @module
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build as bundle } from 'esbuild';
import type { Assets, Script } from './assets.ts';

const SITE = join(dirname(fileURLToPath(import.meta.url)), '..');
const ROOT = join(SITE, '..');
const CACHE = join(ROOT, 'node_modules/.cache/sluice-site');
/** Kept in git, so that the folder is always there. */
const KEPT = '.assetsignore';
const STAMP = 'build-stamp';

export const SITE_FOLDER = join(SITE, 'dist');

const MADE_OF = ['site', 'src/chain', 'src/core', 'src/custody/asry/reward-curve.ts', 'package-lock.json'];

function filesUnder(path: string): string[] {
  const at = join(ROOT, path);
  if (!existsSync(at)) return [];
  if (/\.\w+$/.test(path)) return [at];
  return readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.startsWith(SITE_FOLDER));
}

function fingerprint(): string {
  const hash = createHash('sha256');
  for (const file of MADE_OF.flatMap(filesUnder).sort())
    hash.update(relative(ROOT, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

type Manifest = Readonly<
  Record<string, { file: string; src?: string; isEntry?: boolean; imports?: string[]; css?: string[] }>
>;

function readAssets(manifest: Manifest): Assets {
  const scripts: Record<string, Script> = {};
  let style = '';
  const importsOf = (key: string): string[] =>
    (manifest[key]?.imports ?? []).flatMap((next) => [`/${manifest[next]?.file}`, ...importsOf(next)]);
  for (const [key, chunk] of Object.entries(manifest)) {
    if (key.endsWith('.css')) style = `/${chunk.file}`;
    const name = /islands\/([\w-]+)\.tsx$/.exec(key)?.[1];
    if (chunk.isEntry && name !== undefined)
      scripts[name] = { file: `/${chunk.file}`, imports: [...new Set(importsOf(key))] };
  }
  if (style === '') throw new Error('the build made no style sheet');
  return { style, scripts };
}

async function bundleScripts(outDir: string): Promise<Assets> {
  const { build } = await import('vite');
  const islands = readdirSync(join(SITE, 'islands')).filter((file) => file !== 'mount.tsx');
  await build({
    root: SITE,
    configFile: false,
    logLevel: 'warn',
    publicDir: join(SITE, 'public'),
    resolve: { alias: [{ find: /^hono\/jsx$/, replacement: 'hono/jsx/dom' }] },
    // Said outright: where NODE_ENV is not production, as in a test, each element would carry its file and line.
    oxc: { jsx: { runtime: 'automatic', importSource: 'hono/jsx/dom', development: false } },
    build: {
      outDir,
      emptyOutDir: true,
      manifest: 'manifest.json',
      license: { fileName: 'licenses.md' },
      target: 'es2022',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rolldownOptions: {
        input: [...islands.map((file) => join(SITE, 'islands', file)), join(SITE, 'styles/site.css')],
      },
    },
  });
  const assets = readAssets(JSON.parse(readFileSync(join(outDir, 'manifest.json'), 'utf8')));
  rmSync(join(outDir, 'manifest.json'));
  return assets;
}

async function prerenderPages(assets: Assets): Promise<ReadonlyMap<string, string>> {
  const outfile = join(CACHE, `prerender-${process.pid}.mjs`);
  await bundle({
    entryPoints: [join(SITE, 'prerender.tsx')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'hono/jsx',
    logLevel: 'warning',
    loader: { '.css': 'empty' },
  });
  try {
    const module = await import(`${pathToFileURL(outfile).href}?${Date.now()}`);
    return module.prerender(assets);
  } finally {
    rmSync(outfile, { force: true });
  }
}

function publish(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  const fresh = new Set(
    readdirSync(from, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(from, join(entry.parentPath, entry.name))),
  );
  // New files first: a reader never meets a page whose script is not there yet.
  cpSync(from, to, { recursive: true });
  for (const entry of readdirSync(to, { recursive: true, withFileTypes: true })) {
    const name = relative(to, join(entry.parentPath, entry.name));
    if (entry.isFile() && !fresh.has(name) && name !== KEPT) rmSync(join(to, name));
  }
}

/** Answers whether anything had to be made. */
export async function buildSite(): Promise<boolean> {
  const stamp = fingerprint();
  const stampFile = join(SITE_FOLDER, STAMP);
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return false;
  const work = join(CACHE, `build-${process.pid}`);
  mkdirSync(CACHE, { recursive: true });
  try {
    const assets = await bundleScripts(work);
    for (const [name, html] of await prerenderPages(assets)) {
      mkdirSync(dirname(join(work, name)), { recursive: true });
      writeFileSync(join(work, name), html);
    }
    const { hostFiles, PUBLIC_SOURCES } = await import('./host-files.ts');
    for (const [name, text] of hostFiles(PUBLIC_SOURCES)) writeFileSync(join(work, name), text);
    writeFileSync(join(work, STAMP), stamp);
    publish(work, SITE_FOLDER);
    return true;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
