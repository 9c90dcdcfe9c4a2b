import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { DAY_MS } from '../../core/durations.ts';
import { notConfigured } from '../../core/errors.ts';
import type { Cache } from '../../http/cached.ts';
import { errorResponses, jsonResponse } from '../../http/responses.ts';
import { newRouter, type RouterEnv } from '../../http/router.ts';

export type OpenApiDeps = {
  /** Origin of absolute links; empty if not configured. */
  readonly publicBaseUrl: string;
  /** Undefined if not configured. */
  readonly operatorName: string | undefined;
  /** `mailto:` or `https:` URL; undefined if not configured. */
  readonly securityContact: string | undefined;
  readonly now: () => number;
  /** Mint addresses of the newest listed tokens. */
  readonly listedMints: () => Promise<readonly string[]>;
  /** A document created by the build. @throws Error if the site does not have it */
  readonly documents: (name: DocumentName) => Promise<string>;
};

export const API_VERSION = '1.1.0';

const CACHE_CONTROL = 'public, max-age=300';

const documentRoute = createRoute({
  method: 'get',
  path: '/api/openapi.json',
  operationId: 'getOpenApiDocument',
  tags: ['documents'],
  summary: 'OpenAPI document',
  description: 'This document, OpenAPI 3.0.3.',
  responses: {
    200: jsonResponse(
      z
        .looseObject({
          openapi: z.literal('3.0.3'),
        })
        .openapi('OpenApiDocument'),
      'Every route, generated from the schemas that validate requests',
    ),
  },
});

const llmsRoute = createRoute({
  method: 'get',
  path: '/llms.txt',
  operationId: 'getLlmsText',
  tags: ['documents'],
  summary: 'API for models',
  description: 'Every route on one page of text.',
  responses: { 200: { description: 'Markdown', content: { 'text/plain': { schema: z.string() } } } },
});

const sitemapRoute = createRoute({
  method: 'get',
  path: '/sitemap.xml',
  operationId: 'getSitemap',
  tags: ['documents'],
  summary: 'Site map',
  description: 'The pages of the site.',
  responses: { 200: { description: 'A sitemap', content: { 'application/xml': { schema: z.string() } } } },
});

const securityRoute = createRoute({
  method: 'get',
  path: '/.well-known/security.txt',
  operationId: 'getSecurityText',
  tags: ['documents'],
  summary: 'Security contact',
  description: 'Where a vulnerability is reported (RFC 9116).',
  responses: {
    200: { description: 'The contact', content: { 'text/plain': { schema: z.string() } } },
    ...errorResponses(['NOT_CONFIGURED']),
  },
});

/**
 * The build, not the Worker, creates these documents. The routes are registered only so that the API document
 * describes them.
 */
const described = [documentRoute, llmsRoute, sitemapRoute, securityRoute];

const router = newRouter<{ readonly openapi: OpenApiDeps }>();
for (const route of described) router.openAPIRegistry.registerPath(route);

const stored =
  (name: DocumentName, headers: Readonly<Record<string, string>>) =>
  async (c: Context<RouterEnv<{ readonly openapi: OpenApiDeps }>>): Promise<Response> => {
    const text = await c.var.deps.openapi.documents(name);
    return c.body(text, 200, { 'Cache-Control': CACHE_CONTROL, ...headers });
  };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const TEXT_TYPE = { 'Content-Type': 'text/plain; charset=UTF-8' };

export const openApiRoutes = router
  .get(documentRoute.getRoutingPath(), stored('openapi.json', JSON_TYPE))
  .get(llmsRoute.getRoutingPath(), stored('llms.txt', TEXT_TYPE))
  .get(sitemapRoute.getRoutingPath(), async (c) => {
    const { publicBaseUrl, listedMints, documents } = c.var.deps.openapi;
    const [pages, mints] = await Promise.all([documents('pages.txt'), listedMints().catch(() => [])]);
    c.header('Cache-Control', CACHE_CONTROL);
    const paths = [...pages.split('\n'), ...mints.map((mint) => `/token/${mint}`)];
    const text = sitemap(publicBaseUrl || new URL(c.req.url).origin, paths);
    return c.body(text, 200, { 'Content-Type': 'application/xml' });
  })
  .get(securityRoute.getRoutingPath(), (c) => {
    const { publicBaseUrl, operatorName: name, securityContact, now } = c.var.deps.openapi;
    if (securityContact === undefined) throw notConfigured(['SECURITY_CONTACT']);
    c.header('Cache-Control', CACHE_CONTROL);
    const origin = publicBaseUrl || new URL(c.req.url).origin;
    const text = securityText(origin, { name, contact: securityContact }, now());
    return c.body(text, 200, { 'Content-Type': 'text/plain; charset=UTF-8' });
  });

/** @see https://www.sitemaps.org/protocol.html */
const sitemap = (origin: string, paths: readonly string[]): string => `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${paths.map((path) => `<url><loc>${origin}${path}</loc></url>`).join('\n')}
</urlset>
`;

/** The file expires after this many months. RFC 9116 recommends less than a year. */
const EXPIRES_AFTER_MONTHS = 6;

type Operator = {
  /** Undefined if not configured. */
  readonly name: string | undefined;
  /** `mailto:` or `https:` URL */
  readonly contact: string;
};

/**
 * RFC 9116 has no field for a name, so the name is in a comment.
 * @see https://www.rfc-editor.org/rfc/rfc9116
 */
export function securityText(origin: string, { name, contact }: Operator, nowMs: number): string {
  const now = new Date(nowMs);
  // The first day of a month, so that the file changes only once a month.
  const expires = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + EXPIRES_AFTER_MONTHS));
  return `${name === undefined ? '' : `# Operator: ${name}\n`}Contact: ${contact}
Expires: ${expires.toISOString()}
Preferred-Languages: en
Canonical: ${origin}/.well-known/security.txt
`;
}

/**
 * The API document, its Markdown form, and the paths of the site's pages, one per line. The build writes them below the
 * site's files: once with a placeholder for the service's origin, and once for a service without a configured origin.
 * They are not part of the Worker's script, which every isolate must read before its first response.
 */
export const DOCUMENTS = ['openapi.json', 'llms.txt', 'pages.txt'] as const;
export type DocumentName = (typeof DOCUMENTS)[number];

/** The folder is below `/api/`, so that a public request for a file reaches the router, which does not serve it. */
export const DOCUMENTS_FOLDER = 'api/documents';
export const ORIGIN_PLACEHOLDER = 'https://origin.invalid';
export const folderOf = (hasOrigin: boolean): string =>
  `${DOCUMENTS_FOLDER}/${hasOrigin ? 'with-origin' : 'without-origin'}`;

/** A document changes only with a deployment, which starts new isolates. */
const POLICY = { freshMs: DAY_MS, revalidateMs: 0, staleMs: 0 };

/**
 * @param origin of absolute links; empty if not configured
 * @throws Error when the asset server does not have the document
 */
export async function readDocument(
  { assets, memory, origin }: { assets: Pick<Fetcher, 'fetch'>; memory: Cache; origin: string },
  name: DocumentName,
): Promise<string> {
  const { value } = await memory.read(`document:${name}`, POLICY, async () => {
    const response = await assets.fetch(`https://assets/${folderOf(origin !== '')}/${name}`);
    if (!response.ok) throw new Error(`the site has no ${name}: ${response.status}`);
    return (await response.text()).replaceAll(ORIGIN_PLACEHOLDER, origin);
  });
  return value;
}
