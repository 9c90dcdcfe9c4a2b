import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { InlineConfig } from 'vite';

const SITE = import.meta.dirname;
const islands = readdirSync(join(SITE, 'islands')).filter((file) => file !== 'mount.tsx');

/** One script per page and one style sheet, with a manifest of their hashed names. */
export const siteConfig: InlineConfig = {
  root: SITE,
  configFile: false,

  logLevel: 'warn',
  publicDir: join(SITE, 'public'),
  resolve: {
    alias: [{ find: /^hono\/jsx$/, replacement: 'hono/jsx/dom' }],
  },
  // Explicit, because with NODE_ENV other than production each element would carry its file and line.
  oxc: { jsx: { runtime: 'automatic', importSource: 'hono/jsx/dom', development: false } },
  build: {
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
};

/** Pages are rendered to text: the same sources, with Hono's server renderer. */
export const prerenderConfig: InlineConfig = {
  root: SITE,
  configFile: false,

  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'hono/jsx', development: false } },
};
