/**
 * Every page as a route of a Hono app, which Hono's static site generation writes to files at build time.
 * @module
 */
import { Hono } from 'hono';
import type { ApiDocument } from '../scripts/documents/shared-parts.ts';
import type { Assets } from './build/assets.ts';
import { readChanges } from './build/changelog.ts';
import { readRunbook } from './build/runbook.ts';
import { Document, type Page } from './layout.tsx';
import { agents } from './pages/agents.tsx';
import { asry } from './pages/asry.tsx';
import { changesPage } from './pages/changes.tsx';
import { docsPage } from './pages/docs.tsx';
import { exchange } from './pages/exchange.tsx';
import { missing } from './pages/missing.tsx';
import { nostr } from './pages/nostr.tsx';
import { overview } from './pages/overview.tsx';
import { pools } from './pages/pools.tsx';
import { reserves } from './pages/reserves.tsx';
import { runbookPage } from './pages/runbook.tsx';
import { status } from './pages/status.tsx';
import { swap } from './pages/swap.tsx';
import { newToken, token, tokens } from './pages/tokens.tsx';
import { trust } from './pages/trust.tsx';
import { visitors } from './pages/visitors.tsx';

export const PAGES: readonly Page[] = [
  overview,
  reserves,
  trust,
  swap,
  exchange,
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

/** @param document the API that `/docs` describes */
export function pagesApp(assets: Assets, document: ApiDocument): Hono {
  const app = new Hono();
  // Without this handler the build would leave out a page that throws.
  app.onError((thrown) => {
    throw thrown;
  });
  for (const page of [
    ...PAGES,
    docsPage(document),
    changesPage(readChanges(assets)),
    runbookPage(readRunbook(assets)),
  ])
    app.get(page.path, (c) =>
      c.html(`<!doctype html>\n${(<Document page={page} assets={assets} />).toString()}\n`),
    );
  return app;
}
