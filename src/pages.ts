/**
 * Serves pages of the site with their first figures in the HTML. Link previews and readers without scripts need these
 * figures, and every reader needs them while the API is slow. The API's responses supply the figures, and the site's
 * components render them.
 * @module
 */
import type { z } from '@hono/zod-openapi';
import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import { type PageHead, tokenHead } from './chain/solana/token-head.ts';
import type { OfficialMints } from './core/official-tokens.ts';
import type { TokenRecord } from './features/tokens/token-view.ts';
import type { RouterEnv } from './http/router.ts';
import { within } from './http/within.ts';

/** Maximum wait of a page for a figure. The page's script reads the figure again anyway. */
const WAIT_MS = 500;
/** A link preview shows the token's name, so the token's page waits longer. */
const TOKEN_WAIT_MS = 5_000;

/** Paths by operation and input. */
type Reads = Readonly<Record<string, string>>;
const SUMMARY: Reads = { 'getAbsrSummary {}': '/api/arbitrage/summary' };
const BALANCES: Reads = { 'getReserves {}': '/api/reserves' };
const RESERVE: Reads = { ...BALANCES, 'getProof {}': '/api/proof', ...SUMMARY };
const EPOCH: Reads = { 'getAsryEpoch {}': '/api/asry/epoch' };
const TOKENS: Reads = { 'listTokens {}': '/api/tokens' };
const NEWEST: Reads = { 'listTokens {"limit":5}': '/api/tokens?limit=5' };
const tokenKey = (id: string): string => `getToken ${JSON.stringify({ id })}`;
/** The first reads of each page. The banner of every page needs the summary. */
const PAGES: Readonly<Record<string, Reads>> = {
  '/': { ...RESERVE, ...NEWEST },
  '/reserves': RESERVE,
  '/status': { 'getStatus {}': '/api/status', ...BALANCES, ...SUMMARY },
  '/tokens': { ...TOKENS, ...SUMMARY },
  '/trust': {
    ...RESERVE,
    ...EPOCH,
    'getStatus {}': '/api/status',
    'getTreasury {}': '/api/explorer/treasury',
  },
  '/asry': { ...EPOCH, ...SUMMARY },
};
const TOKEN_PATH = '/token/';

type Service = { fetch(request: Request, env: unknown, context: unknown): Response | Promise<Response> };
type Built = { fetch(url: string): Promise<Response> };
type Answers = Readonly<Record<string, unknown>>;

export type PageDeps = {
  readonly assets: Built;
  /** @param answers responses by operation and input. @returns HTML of the islands of a page, by name */
  readonly renderIslands: (page: string, answers: Answers, id?: string) => Readonly<Record<string, string>>;
  /** If empty, the origin of each request is used. */
  readonly publicBaseUrl: string;
};
type PageEnv = RouterEnv<{
  readonly pages: PageDeps;
  readonly tokens: { readonly officialMints: OfficialMints };
}>;
type PageContext = Context<PageEnv>;

/** The API's response, or undefined if it is late. */
async function ask(
  c: PageContext,
  service: Service,
  path: string,
  waitMs: number,
): Promise<Response | undefined> {
  // Keeps the caller's address, but does not request fresh figures, so opening a page does not cause upstream calls.
  const headers = new Headers(c.req.raw.headers);
  for (const name of ['cache-control', 'pragma', 'if-none-match']) headers.delete(name);
  const request = new Request(new URL(path, c.req.url), { headers });
  return within(Promise.resolve(service.fetch(request, c.env, c.executionCtx)), waitMs);
}

/** Responses by operation. A late or failed response is absent. */
async function readFirst(c: PageContext, service: Service, reads: Reads): Promise<Answers> {
  const read = async ([key, path]: readonly [string, string]) => {
    const response = await ask(c, service, path, WAIT_MS).catch(() => undefined);
    return response?.ok ? [[key, await response.json()] as const] : [];
  };
  return Object.fromEntries((await Promise.all(Object.entries(reads).map(read))).flat());
}

const REPLACED = [
  'title',
  'meta[name="description"]',
  ...['title', 'description', 'url'].map((name) => `meta[property="og:${name}"]`),
  'link[rel="canonical"]',
].join(', ');

/** The built page's picture with its size and description, which do not fit another picture. */
const BUILT_PICTURE = 'meta[property^="og:image"]';

const headHtml = ({ title, description, url, image }: PageHead) =>
  html`<title>${title}</title>
<meta name="description" content="${description}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${url}">
<link rel="canonical" href="${url}">
${image === null ? '' : html`<meta property="og:image" content="${image}">`}`;

/** A data block. Browsers never run it, and its content cannot close it. */
const answersHtml = (answers: Answers): string =>
  `<script type="application/json" id="first-answers">${JSON.stringify(answers).replaceAll('<', '\\u003c')}</script>`;

type Content = {
  readonly status?: 200 | 404 | 503;
  readonly head?: PageHead;
  readonly islands?: Readonly<Record<string, string>>;
  /** The values that scripts show before their own first read. */
  readonly answers?: Answers;
};

/**
 * @param path of the built page; its hashed scripts belong to the same deployment
 * @throws Error when the site does not have the page
 */
async function sitePage(assets: Built, path: string, content: Content | Promise<Content>): Promise<Response> {
  const [built, { status = 200, head, islands = {}, answers = {} }] = await Promise.all([
    assets.fetch(`https://assets${path}`),
    content,
  ]);
  if (!built.ok) throw new Error(`the site has no ${path}: ${built.status}`);
  const rewriter = new HTMLRewriter();
  const append = (selector: string, text: string): void => {
    rewriter.on(selector, { element: (element) => void element.append(text, { html: true }) });
  };
  if (head !== undefined) {
    const replaced = head.image === null ? REPLACED : `${REPLACED}, ${BUILT_PICTURE}`;
    rewriter.on(replaced, { element: (element) => void element.remove() });
    append('head', String(await headHtml(head)));
  }
  for (const [name, text] of Object.entries(islands))
    rewriter.on(`[data-island="${name}"]`, {
      element(element) {
        element.setAttribute('data-filled', '');
        element.setInnerContent(text, { html: true });
      },
    });
  if (Object.keys(answers).length > 0) append('body', answersHtml(answers));
  const headers = new Headers(built.headers);
  // These headers describe the built page, not this response.
  for (const name of ['ETag', 'Content-Length', 'Cache-Control']) headers.delete(name);
  return rewriter.transform(new Response(built.body, { status, headers }));
}

async function contentOf(c: PageContext, service: Service, page: string): Promise<Content> {
  const answers = await readFirst(c, service, PAGES[page] ?? {});
  return { answers, islands: c.var.deps.pages.renderIslands(page, answers) };
}

/**
 * `/token/{mint}`. A numeric id and the symbol of an official token are redirected there. Deeper paths are unknown, like
 * every path without a page.
 */
async function tokenPage(c: PageContext, service: Service): Promise<Response> {
  const { assets, renderIslands, publicBaseUrl } = c.var.deps.pages;
  const id = c.req.path.slice(TOKEN_PATH.length);
  const named = [...c.var.deps.tokens.officialMints].find(([, asset]) => asset === id.toUpperCase());
  if (named) return c.redirect(TOKEN_PATH + named[0]);
  const [response, summary] = await Promise.all([
    ask(c, service, `/api/tokens/${encodeURIComponent(id)}`, TOKEN_WAIT_MS),
    readFirst(c, service, SUMMARY),
  ]);
  if (response?.status === 404) return sitePage(assets, '/404', { status: 404 });
  // The page's own script reads again and reports the outage.
  if (!response?.ok) return sitePage(assets, '/token', { status: 503 });
  const token: z.infer<typeof TokenRecord> = await response.json();
  if (id !== token.mint_address) return c.redirect(TOKEN_PATH + token.mint_address);
  const balances = token.official?.asset === 'ABSR' ? await readFirst(c, service, BALANCES) : {};
  const answers = { [tokenKey(id)]: token, ...summary, ...balances };
  return sitePage(assets, '/token', {
    head: tokenHead(token, publicBaseUrl || new URL(c.req.url).origin),
    islands: renderIslands('/token', answers, id),
    answers,
  });
}

/** @param service the whole API, whose responses the pages show */
export function sitePages(service: Service): Hono<PageEnv> {
  const router = new Hono<PageEnv>();
  for (const page of Object.keys(PAGES))
    router.get(page, (c) => sitePage(c.var.deps.pages.assets, page, contentOf(c, service, page)));
  return router.get(`${TOKEN_PATH}*`, (c) => tokenPage(c, service));
}
