import { createRoute, z } from '@hono/zod-openapi';
import { notConfigured, SHARED_ERRORS } from '../../core/errors.ts';
import { keptBody, type Tagged, tagged } from '../../http/memoized-json.ts';
import { errorResponses, jsonResponse, newRouter, pickErrors } from '../../http/router.ts';
import { API_VERSION, type ApiDocument } from './api-document.ts';
import { DOCS_POLICY, docsPage } from './docs-page.ts';
import { EXAMPLES } from './examples.ts';
import { llmsFullText, llmsText } from './llms-text.ts';
import { asOpenApi31 } from './openapi-31.ts';
import { securityText, sitemap } from './site-texts.ts';

export type OpenApiDeps = {
  /** Origin of absolute links; empty where none is configured. */
  readonly publicBaseUrl: string;
  /** `mailto:` or `https:` URL; undefined where none is configured. */
  readonly securityContact: string | undefined;
  readonly now: () => number;
};

const CACHE_CONTROL = 'public, max-age=300';

const documentRoute = createRoute({
  method: 'get',
  path: '/api/openapi.json',
  operationId: 'getOpenApiDocument',
  tags: ['documents'],
  summary: 'OpenAPI 3.0 document',
  description: 'This document, OpenAPI 3.0.3.',
  responses: {
    200: jsonResponse(
      z
        .looseObject({
          openapi: z.literal('3.0.3'),
          info: z.looseObject({ title: z.string(), version: z.literal(API_VERSION) }),
          paths: z.looseObject({}),
          components: z.looseObject({}),
        })
        .openapi('OpenApiDocument'),
      'Every route, generated from the schemas that check requests',
    ),
  },
});

const document31Route = createRoute({
  method: 'get',
  path: '/api/openapi-3.1.json',
  operationId: 'getOpenApi31Document',
  tags: ['documents'],
  summary: 'OpenAPI 3.1 document',
  description: 'This document, OpenAPI 3.1.1.',
  responses: {
    200: jsonResponse(
      z.looseObject({ openapi: z.literal('3.1.1') }).openapi('OpenApi31Document'),
      'The same routes; schemas are JSON Schema 2020-12',
    ),
  },
});

const docsRoute = createRoute({
  method: 'get',
  path: '/docs',
  operationId: 'getDocsPage',
  tags: ['documents'],
  summary: 'API reference page',
  description: 'The API document as a page.',
  responses: { 200: { description: 'A page', content: { 'text/html': { schema: z.string() } } } },
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

const llmsFullRoute = createRoute({
  method: 'get',
  path: '/llms-full.txt',
  operationId: 'getLlmsFullText',
  tags: ['documents'],
  summary: 'API reference as text',
  description: 'Every route with its responses, error codes and examples on one page.',
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
    ...errorResponses(pickErrors(SHARED_ERRORS, 'NOT_CONFIGURED')),
  },
});

/** @param describe the document of the whole app, for an origin; asked once an origin */
export function openApiRoutes(describe: (origin: string) => ApiDocument) {
  const made = new Map<string, Readonly<Record<'json' | 'json31' | 'docs' | 'llms' | 'llmsFull', Tagged>>>();

  function texts(origin: string) {
    const known = made.get(origin);
    if (known) return known;
    const document = describe(origin);
    const fresh = {
      json31: tagged(JSON.stringify(asOpenApi31(document))),
      json: tagged(JSON.stringify(document)),
      docs: tagged(docsPage(origin, document)),
      llms: tagged(llmsText(document, EXAMPLES)),
      llmsFull: tagged(llmsFullText(document, EXAMPLES)),
    };
    made.set(origin, fresh);
    return fresh;
  }

  const router = newRouter<OpenApiDeps>();
  // Described, but not answered through the descriptions: the texts are not made anew for each answer.
  const described = [
    documentRoute,
    document31Route,
    docsRoute,
    llmsRoute,
    llmsFullRoute,
    sitemapRoute,
    securityRoute,
  ];
  for (const route of described) router.openAPIRegistry.registerPath(route);
  return router
    .get(documentRoute.getRoutingPath(), (c) => {
      c.header('Cache-Control', CACHE_CONTROL);
      return keptBody(c, texts(c.var.deps.publicBaseUrl).json, 'application/json');
    })
    .get(document31Route.getRoutingPath(), (c) => {
      c.header('Cache-Control', CACHE_CONTROL);
      return keptBody(c, texts(c.var.deps.publicBaseUrl).json31, 'application/json');
    })
    .get(docsRoute.getRoutingPath(), (c) => {
      c.header('Cache-Control', CACHE_CONTROL);
      c.header('Content-Security-Policy', DOCS_POLICY);
      return keptBody(c, texts(c.var.deps.publicBaseUrl).docs, 'text/html; charset=UTF-8');
    })
    .get(llmsRoute.getRoutingPath(), (c) => {
      c.header('Cache-Control', CACHE_CONTROL);
      return keptBody(c, texts(c.var.deps.publicBaseUrl).llms, 'text/plain; charset=UTF-8');
    })
    .get(llmsFullRoute.getRoutingPath(), (c) => {
      c.header('Cache-Control', CACHE_CONTROL);
      return keptBody(c, texts(c.var.deps.publicBaseUrl).llmsFull, 'text/plain; charset=UTF-8');
    })
    .get(sitemapRoute.getRoutingPath(), (c) => {
      c.header('Cache-Control', CACHE_CONTROL);
      const text = sitemap(c.var.deps.publicBaseUrl || new URL(c.req.url).origin);
      return c.body(text, 200, { 'Content-Type': 'application/xml' });
    })
    .get(securityRoute.getRoutingPath(), (c) => {
      const { publicBaseUrl, securityContact, now } = c.var.deps;
      if (securityContact === undefined) throw notConfigured(['SECURITY_CONTACT']);
      c.header('Cache-Control', CACHE_CONTROL);
      const text = securityText(publicBaseUrl || new URL(c.req.url).origin, securityContact, now());
      return c.body(text, 200, { 'Content-Type': 'text/plain; charset=UTF-8' });
    });
}
