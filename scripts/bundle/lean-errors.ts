/**
 * Makes `@solana/errors` without the English texts of its errors. A production build never reads them, but no bundler
 * removes them, because the keys of their table are computed. An error still has its code and its context.
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** The file that a bundler takes for Workers. */
const LIBRARY = join(ROOT, 'node_modules/@solana/errors/dist/index.node.mjs');
/** wrangler.toml puts it in the library's place. */
const LEAN = join(ROOT, 'dist/solana-errors.mjs');

const TEXTS = /^var SolanaErrorMessages = \{\n[\s\S]*?^\};\n/m;
/** The texts that `wrangler dev`, which builds for development, shows instead. */
const CODES =
  'var SolanaErrorMessages = /* @__PURE__ */ new Proxy({}, { get: (_, code) => "Solana error #" + code });';
const SOURCE_MAP = /^\/\/# sourceMappingURL=.*\n?/gm;

/** @throws Error when the library has no table of texts, so that the alias in wrangler.toml is no longer needed */
export function withoutTexts(library: string): string {
  if (!TEXTS.test(library)) throw new Error('@solana/errors has no table of texts: remove its alias');
  return library.replace(TEXTS, `${CODES}\n`).replace(SOURCE_MAP, '');
}

/** Writes the module for wrangler. */
export function writeLeanErrors(): void {
  mkdirSync(dirname(LEAN), { recursive: true });
  writeFileSync(LEAN, withoutTexts(readFileSync(LIBRARY, 'utf8')));
}
