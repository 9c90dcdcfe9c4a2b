/**
 * Every page as text. Runs at build time, in Node.
 * @module
 */
import type { Assets } from './build/assets.ts';
import { Document, type Page } from './layout.tsx';
import { agents } from './pages/agents.tsx';
import { asry } from './pages/asry.tsx';
import { missing } from './pages/missing.tsx';
import { nostr } from './pages/nostr.tsx';
import { overview } from './pages/overview.tsx';
import { pools } from './pages/pools.tsx';
import { reserves } from './pages/reserves.tsx';
import { status } from './pages/status.tsx';
import { swap } from './pages/swap.tsx';
import { newToken, token, tokens } from './pages/tokens.tsx';
import { visitors } from './pages/visitors.tsx';

export const PAGES: readonly Page[] = [
  overview,
  reserves,
  swap,
  tokens,
  newToken,
  token,
  asry,
  pools,
  nostr,
  agents,
  status,
  visitors,
  missing,
];

/** File name to content. */
export function prerender(assets: Assets): ReadonlyMap<string, string> {
  return new Map(
    PAGES.map((page) => [
      page.path === '/' ? 'index.html' : `${page.path.slice(1)}.html`,
      `<!doctype html>\n${(<Document page={page} assets={assets} />).toString()}\n`,
    ]),
  );
}
