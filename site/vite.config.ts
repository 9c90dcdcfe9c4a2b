import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { InlineConfig } from 'vite';

const SITE = import.meta.dirname;
const islands = readdirSync(join(SITE, 'islands')).filter((file) => file !== 'mount.tsx');

/** What pages share, without the libraries that only some of them load. */
const SHARED =
  /\/(site\/(api|parts|islands)|packages\/client|src\/core|src\/chain\/solana\/token-powers|node_modules\/hono)[/.]/;
/** Steps of an order, and the words about powers over a token: the pages of the reserve need neither. */
const NOT_FOR_MOST = /\/(parts\/steps\.tsx|token-powers\.ts)$/;
/** Names that two pages show: `parts` would merge them into the scripts of a page that does not. */
const FOR_FEW = /\/parts\/source-name\.ts$/;
/** One script per page and one style/** One script per page and one style sheet, with a manifest of their hashed names. */
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
      output: {
        // Few scripts, because a phone needs a round of requests for each. `shared` has what at least four pages load,
        // `parts` what fewer pages share. An order loads its payment card, with its QR code, when it is shown.
        codeSplitting: {
          groups: [
            {
              name: 'payment',
              test: /\/site\/parts\/([\w-]+-payment|payment-card|qr-code)\.tsx$|\/node_modules\/qr\//,
              priority: 2,
              includeDependenciesRecursively: false,
            },
            {
              name: 'wallet',
              test: /\/site\/parts\/wallet\.tsx$/,
              priority: 2,
              includeDependenciesRecursively: false,
            },
            {
              name: 'shared',
              test: (id) => SHARED.test(id) && !NOT_FOR_MOST.test(id),
              minShareCount: 4,
              priority: 1,
            },
            {
              name: 'parts',
              test: (id) => SHARED.test(id) && !FOR_FEW.test(id),
              minShareCount: 2,
              entriesAware: true,
              entriesAwareMergeThreshold: 6_000,
            },
          ],
        },
      },
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
