import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { withoutTexts } from '../../scripts/bundle/lean-errors.ts';

const LIBRARY = join(process.cwd(), 'node_modules/@solana/errors/dist/index.node.mjs');
const SOURCE = readFileSync(LIBRARY, 'utf8');

type Errors = Readonly<Record<string, unknown>> & {
  readonly SolanaError: new (code: number, context: object) => Error & { readonly context: object };
  readonly isSolanaError: (error: unknown, code: number) => boolean;
};
const load = (file: string): Promise<Errors> => import(/* @vite-ignore */ pathToFileURL(file).href);

it('has the members of the library, the same codes, and errors with code and context', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-errors-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'errors.mjs');
  writeFileSync(file, withoutTexts(SOURCE));
  const [lean, library] = await Promise.all([load(file), load(LIBRARY)]);
  expect(Object.keys(lean).sort()).toEqual(Object.keys(library).sort());
  const codes = Object.entries(library).filter(([, value]) => typeof value === 'number');
  expect(codes.length).toBeGreaterThan(200);
  for (const [name, code] of codes) expect(lean[name], name).toBe(code);
  const code = Number(library.SOLANA_ERROR__ADDRESSES__INVALID_BYTE_LENGTH);
  const error = new lean.SolanaError(code, { actualLength: 3 });
  expect(error).toMatchObject({
    message: `Solana error #${code}`,
    context: { __code: code, actualLength: 3 },
  });
  expect(lean.isSolanaError(error, code)).toBe(true);
});

it('is smaller by more than 40 KB', () => {
  expect(withoutTexts(SOURCE).length).toBeLessThan(SOURCE.length - 40_000);
});

it('fails for a library without the texts, so that the alias does not outlive its reason', () => {
  expect(() => withoutTexts(withoutTexts(SOURCE))).toThrow('remove its alias');
});

it('is the module that the Worker is built with', () => {
  expect(readFileSync('wrangler.toml', 'utf8')).toContain('"@solana/errors" = "./dist/solana-errors.mjs"');
});
