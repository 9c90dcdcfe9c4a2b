/**
 * Builds the site: scripts and style by Vite, pages by Hono's static site generation. Skips the build when no source
 * file has changed.
 * @module
 */
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import * as fs from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Hono } from 'hono';
import { toSSG } from 'hono/ssg';
import { currentCommit } from '../../scripts/current-commit.ts';
import { operationsOf } from '../../scripts/documents/api-document.ts';
import type { ApiDocument } from '../../scripts/documents/shared-parts.ts';
import type { Assets, Release, Script } from './assets.ts';
import { changesFeed, readChanges } from './changelog.ts';
import { copiedNotices } from './copied-notices.ts';
import { hostFiles, PUBLIC_SOURCES } from './host-files.ts';

const SITE = join(import.meta.dirname, '..');
const ROOT = join(SITE, '..');
const CACHE = join(ROOT, 'node_modules/.cache/sluice-site');
/**
 * Never removed: a file in git that creates the folder in a fresh clone, and the API documents, which another step
 * writes.
 */
const KEPT = /^(\.assetsignore$|api\/)/;
const STAMP = 'build-stamp';

export const SITE_FOLDER = join(SITE, 'dist');

/** The sources of the pages, besides the API document. */
export const SOURCES = [
  'site',
  'packages/client/src',
  'src/chain',
  'src/core',
  'src/custody/asry',
  'src/mcp',
  'src/providers',
  'package-lock.json',
  'CHANGELOG.md',
];

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** What the build knows besides its sources. */
type Facts = Pick<Assets, 'origin' | 'release' | 'isDemonstration'>;

function fingerprint(document: ApiDocument, facts: Facts): string {
  const hash = createHash('sha256').update(JSON.stringify([document, facts]));
  const files = SOURCES.map((path) => join(ROOT, path))
    .flatMap((path) => (statSync(path).isFile() ? [path] : filesIn(path)))
    .filter((file) => !file.startsWith(SITE_FOLDER));
  for (const file of files.sort())
    hash.update(relative(ROOT, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

type Manifest = Readonly<
  Record<string, { file: string; isEntry?: boolean; imports?: string[]; css?: string[] }>
>;

/** From package.json and git. */
function readRelease(): Release {
  const { version, repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
    repository: { url: string };
  };
  const source = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
  return { version, commit: currentCommit(), source };
}

function readAssets(manifest: Manifest, facts: Facts): Assets {
  const scripts: Record<string, Script> = {};
  // Two chunks may import each other.
  const importsOf = (key: string, found = new Set<string>()): Set<string> => {
    for (const name of manifest[key]?.imports ?? []) if (!found.has(name)) importsOf(name, found.add(name));
    return found;
  };
  for (const [key, { file, isEntry }] of Object.entries(manifest)) {
    const island = /^islands\/(.+)\.tsx$/.exec(key)?.[1];
    if (isEntry && island !== undefined)
      scripts[island] = {
        file: `/${file}`,
        imports: [...importsOf(key)].map((name) => `/${manifest[name]?.file ?? ''}`),
      };
  }
  const named = (pattern: RegExp): string => {
    const found = Object.entries(manifest).find(([key]) => pattern.test(key));
    if (found === undefined) throw new Error(`the manifest has no ${pattern}`);
    return `/${found[1].file}`;
  };
  return { ...facts, style: named(/site\.css$/), font: named(/latin-wght-normal\.woff2$/), scripts };
}

/** The operations of the API, for the search of the site. */
const operationsFile = (document: ApiDocument): string =>
  JSON.stringify(
    operationsOf(document).map(({ method, path, operation }) => ({
      id: operation.operationId,
      method,
      path,
      summary: operation.summary,
    })),
  );

/** Copies new files before it removes old ones, so that no page is served without its script. */
function publish(from: string): void {
  mkdirSync(SITE_FOLDER, { recursive: true });
  cpSync(from, SITE_FOLDER, { recursive: true });
  for (const file of filesIn(SITE_FOLDER)) {
    const name = relative(SITE_FOLDER, file);
    if (!KEPT.test(name) && !existsSync(join(from, name))) rmSync(file);
  }
}

/**
 * Reads SITE_ORIGIN for the absolute links of previews, and SITE_DEMONSTRATION, which only the offline world sets.
 * @returns whether anything was built
 */
export async function buildSite(): Promise<boolean> {
  const { documentOf } = await import('../../scripts/documents/write-documents.ts');
  const document = documentOf('');
  const { SITE_ORIGIN: origin = '', SITE_DEMONSTRATION: demonstration } = process.env;
  const facts = { origin, release: readRelease(), isDemonstration: demonstration === '1' };
  const stamp = fingerprint(document, facts);
  const stampFile = join(SITE_FOLDER, STAMP);
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return false;
  const { build, runnerImport } = await import('vite');
  const { siteConfig, prerenderConfig } = await import('../vite.config.ts');
  const work = join(CACHE, `build-${process.pid}`);
  try {
    await build({ ...siteConfig, build: { ...siteConfig.build, outDir: work } });
    const manifest = JSON.parse(readFileSync(join(work, 'manifest.json'), 'utf8'));
    const assets = readAssets(manifest, facts);
    const { module } = await runnerImport<{ pagesApp(assets: Assets, document: ApiDocument): Hono }>(
      join(SITE, 'prerender.tsx'),
      prerenderConfig,
    );
    const made = await toSSG(module.pagesApp(assets, document), fs, { dir: work });
    if (!made.success) throw made.error ?? new Error('the pages could not be rendered');
    for (const [name, text] of hostFiles(PUBLIC_SOURCES)) writeFileSync(join(work, name), text);
    writeFileSync(join(work, 'changes.atom'), changesFeed(readChanges(assets), assets));
    writeFileSync(join(work, 'operations.json'), operationsFile(document));
    appendFileSync(join(work, 'licenses.md'), copiedNotices());
    writeFileSync(join(work, STAMP), stamp);
    rmSync(join(work, 'manifest.json'));
    publish(work);
    return true;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
