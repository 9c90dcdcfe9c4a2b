import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { InlineConfig } from 'vite';

const SITE = import.meta.dirname;
const islands = readdirSync(join(SITE, 'islands')).filter((file) => file !== 'mount.tsx');

/** What pages share, without the libraries that only some of them load. */
const SHARED = /\/(site\/(api|parts|islands)|packages\/client|src\/core|node_modules\/hono)\//;
/** Only the pages of tokens need these. */
const PAYMENTS =
  /\/site\/parts\/(listing-request|order-payment|payment-card|qr-code|sent-payment|token-picture)\.tsx$|\/node_modules\/qr\//;

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
      output: {
        // One script for what several pages share: each file of its own would cost a phone a round of requests.
        codeSplitting: {
          groups: [
            {
              name: 'shared',
              test: (id) => SHARED.test(id) && !PAYMENTS.test(id),
              minShareCount: 2,
              priority: 1,
            },
            { name: 'payments', test: PAYMENTS, minShareCount: 2 },
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
