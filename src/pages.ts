/**
 * Serves pages of the site with their first figures in the HTML, for readers without scripts and while the API is slow.
 * The figures are responses of the API, and the components of the site render them.
 * @module
 */
import { type Context, Hono } from 'hono';
import type { RouterEnv } from './http/router.ts';
import { sitePage } from './http/site-page.ts';
import { within } from './http/within.ts';

/** A page does not wait longer for a figure; its script reads the figure again anyway. */
const WAIT_MS = 500;

type Reads = Readonly<Record<string, string>>;
const RESERVE: Reads = {
  getReserves: '/api/reserves',
  getAbsrSummary: '/api/arbitrage/summary',
  getProof: '/api/proof',
};
/** Operations without input that each page shows first. The banner of every page needs the summary. */
const PAGES: Readonly<Record<string, Reads>> = {
  '/': RESERVE,
  '/reserves': RESERVE,
  '/status': { getStatus: '/api/status', getAbsrSummary: '/api/arbitrage/summary' },
  '/tokens': { listTokens: '/api/tokens', getAbsrSummary: '/api/arbitrage/summary' },
  '/asry': { getAsryEpoch: '/api/asry/epoch', getAbsrSummary: '/api/arbitrage/summary' },
};

type Service = { fetch(request: Request, env: unknown, context: unknown): Response | Promise<Response> };

/** A response that is late or is no success is absent. */
async function readFirst(c: Context, service: Service, path: string): Promise<unknown> {
  // The caller's address, without a wish for fresh figures: opening a page reads no upstream again.
  const headers = new Headers(c.req.raw.headers);
  for (const name of ['cache-control', 'pragma', 'if-none-match']) headers.delete(name);
  const read = async (): Promise<unknown> => {
    const request = new Request(new URL(path, c.req.url), { headers });
    const response = await service.fetch(request, c.env, c.executionCtx);
    return response.ok ? response.json() : undefined;
  };
  return within(
    read().catch(() => undefined),
    WAIT_MS,
  );
}

/** HTML of the islands of a page, by name, from responses by operation and input. */
type RenderIslands = (
  page: string,
  answers: Readonly<Record<string, unknown>>,
) => Readonly<Record<string, string>>;

export type PageDeps = {
  readonly assets: Pick<Fetcher, 'fetch'>;
  readonly renderIslands: RenderIslands;
};
type PageEnv = RouterEnv<{ readonly pages: PageDeps }>;

async function contentOf(c: Context<PageEnv>, service: Service, page: string, reads: Reads) {
  const read = await Promise.all(
    Object.entries(reads).map(async ([name, path]) => ({
      name,
      input: {},
      value: await readFirst(c, service, path),
    })),
  );
  const responses = read.filter(({ value }) => value !== undefined);
  const answers = Object.fromEntries(responses.map(({ name, value }) => [`${name} {}`, value]));
  return { islands: c.var.deps.pages.renderIslands(page, answers), responses };
}

/** @param service the whole API, which answers what the pages show */
export function sitePages(service: Service): Hono<PageEnv> {
  const router = new Hono<PageEnv>();
  for (const [page, reads] of Object.entries(PAGES))
    router.get(page, (c) => sitePage(c.var.deps.pages.assets, page, contentOf(c, service, page, reads)));
  return router;
}
