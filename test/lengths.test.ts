import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vite';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const MAX_FUNCTION_LINES = 60;

type Found = { readonly at: string; readonly lines: number };

/** Every function with a body, and the number of its lines from the first to the last. */
function functionsOf(file: string): Found[] {
  const text = readFileSync(join(root, file), 'utf8');
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length;
  const found: Found[] = [];
  function walk(node: unknown): void {
    if (Array.isArray(node)) for (const child of node) walk(child);
    else if (typeof node === 'object' && node !== null) {
      const { type, body, start, end } = node as Record<string, unknown>;
      if (/Function/.test(String(type)) && body && typeof start === 'number' && typeof end === 'number')
        found.push({ at: `${file}:${lineAt(start)}`, lines: text.slice(start, end).split('\n').length });
      for (const child of Object.values(node)) walk(child);
    }
  }
  walk(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }));
  return found;
}

it('functions have at most 60 lines, including nested functions', () => {
  const files = globSync('{src,site,scripts,packages}/**/*.{ts,tsx}', {
    cwd: root,
    exclude: ['**/dist/**', '**/node_modules/**'],
  });
  const found = files.flatMap(functionsOf);
  expect(found.length).toBeGreaterThan(3_000);
  expect(found.filter(({ lines }) => lines > MAX_FUNCTION_LINES)).toEqual([]);
});
