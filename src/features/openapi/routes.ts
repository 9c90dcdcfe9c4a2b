import { createRoute, z } from '@hono/zod-openapi';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { jsonResponse, newRouter } from '../../http/router.ts';
import { API_VERSION, type ApiDocument } from './api-document.ts';
import { DOCS_POLICY, docsPage } from './docs-page.ts';
import { EXAMPLES } from './examples.ts';
import { llmsText } from './llms-text.ts';

export type OpenApiDeps = {
  /** Origin of absolute links; empty where none is configured. */
  readonly publicBaseUrl: string;
};

const CACHE_CONTROL = 'public, max-age=300';

const documentRoute = createRoute({
  method: 'get',
  path: '/api/openapi.json',
  operationId: 'getOpenApiDocument',
  tags: ['documents'],
  summary: 'This document, OpenAPI 3.0.3',
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

const docsRoute = createRoute({
  method: 'get',
  path: '/docs',
  operationId: 'getDocsPage',
  tags: ['documents'],
  summary: 'The API document as a page',
  responses: { 200: { description: 'A page', content: { 'text/html': { schema: z.string() } } } },
});

const llmsRoute = createRoute({
  method: 'get',
  path: '/llms.txt',
  operationId: 'getLlmsText',
  tags: ['documents'],
  summary: 'Every route on one page of text',
  responses: { 200: { description: 'Markdown', content: { 'text/plain': { schema: z.string() } } } },
});

/** A text that never changes, and its entity tag, so that no answer has to hash it. */
type Text = { readonly text: string; readonly etag: string };
const tagged = (text: string): Text => ({
  text,
  etag: `"${bytesToHex(sha256(utf8ToBytes(text))).slice(0, 40)}"`,
});

/** @param describe the document of the whole app, for an origin; asked once an origin */
export function openApiRoutes(describe: (origin: string) => ApiDocument) {
  const made = new Map<string, { readonly json: Text; readonly llms: Text }>();

  function texts(origin: string) {
    const known = made.get(origin);
    if (known) return known;
    const document = describe(origin);
    const fresh = { json: tagged(JSON.stringify(document)), llms: tagged(llmsText(document, EXAMPLES)) };
    made.set(origin, fresh);
    return fresh;
  }

  const router = newRouter<OpenApiDeps>();
  // Described, but not answered through the description: the text is JSON already, and not made anew for each answer.
  router.openAPIRegistry.registerPath(documentRoute);
  router.get(documentRoute.getRoutingPath(), (c) => {
    const { json } = texts(c.var.deps.publicBaseUrl);
    return c.body(json.text, 200, {
      ETag: json.etag,
      'Content-Type': 'application/json',
      'Cache-Control': CACHE_CONTROL,
    });
  });
  return router
    .openapi(docsRoute, (c) =>
      c.html(docsPage(c.var.deps.publicBaseUrl), 200, {
        'Content-Security-Policy': DOCS_POLICY,
        'Cache-Control': CACHE_CONTROL,
      }),
    )
    .openapi(llmsRoute, (c) => {
      const { llms } = texts(c.var.deps.publicBaseUrl);
      c.header('Cache-Control', CACHE_CONTROL);
      c.header('ETag', llms.etag);
      return c.text(llms.text, 200);
    });
}
